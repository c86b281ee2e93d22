//! `run`: the front, until a signal ends it.

use std::{fs, io::IsTerminal as _};

use anyhow::Context as _;
use kemqtt_broker::{
    Backend, Config, Front,
    backend::RumqttdConfig,
    config::{BackendConfig, LogConfig, LogFormat},
};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Runs the front.
pub(crate) async fn run(config: Config) -> anyhow::Result<()> {
    log(&config.log)?;
    let registry = super::open(&config).await?;
    let mut builder = Front::builder()
        .listen(config.listen.to_string())
        .registry(registry.clone())
        .backend(backend(&config.backend))
        .allow_anonymous(config.allow_anonymous)
        .client_id(config.client_id)
        .user_prefix(config.user_prefix)
        .limits(config.limits);
    if let Some(path) = &config.password_file {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        builder = builder.backend_password(text.lines().next().unwrap_or_default());
    }
    if let Some(path) = config.ticket_file {
        builder = builder.ticket_file(path);
    }
    if let Some(address) = config.metrics {
        builder = builder.metrics(address);
    }
    let front = builder.build().await?;
    for line in front.broker_lines().await? {
        tracing::info!("clients pin: {line}");
    }
    wait_for_signal().await?;
    tracing::info!("stopping");
    front.shutdown().await;
    registry.close().await;
    Ok(())
}

fn backend(config: &BackendConfig) -> Backend {
    let (backend, guard) = match config {
        BackendConfig::Rumqttd {
            max_packet,
            max_connections,
        } => {
            let config = RumqttdConfig {
                max_packet: *max_packet,
                max_connections: *max_connections,
                ..RumqttdConfig::default()
            };
            return Backend::rumqttd(config);
        }
        BackendConfig::Tcp { address, guard } => (Backend::tcp(address), *guard),
        BackendConfig::Unix { path, guard } => (Backend::unix(path), *guard),
    };
    if guard { backend } else { backend.without_guard() }
}

fn log(config: &LogConfig) -> anyhow::Result<()> {
    // rumqttd logs every connection at `error`, at times twice.
    let filter = format!("{},rumqttd=off", config.filter);
    let filter = EnvFilter::try_new(filter).with_context(|| format!("log filter `{}`", config.filter))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}

async fn wait_for_signal() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
