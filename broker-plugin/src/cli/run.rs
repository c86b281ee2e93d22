//! `run`: the front, until a signal ends it.

use std::{fs, io::IsTerminal as _};

use anyhow::Context as _;
use kemqtt_broker::{
    Backend, Config, Front, FrontBuilder,
    backend::RumqttdConfig,
    config::{BackendConfig, LogConfig, LogFormat},
};
use tokio::signal::unix::{self, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::settings::Settings;

/// Runs the front.
pub(crate) async fn run(settings: &Settings) -> anyhow::Result<()> {
    let config = settings.config()?;
    log(&config.log)?;
    let registry = super::open(&config).await?;
    let mut builder = policy(&config)?
        .listen(config.listen.to_string())
        .registry(registry.clone())
        .backend(backend(&config.backend))
        .limits(config.limits);
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
    let mut signals = Signals::new()?;
    while let Signal::Reload = signals.next().await? {
        match settings.config().and_then(|config| policy(&config)) {
            Ok(policy) => {
                front.reload(policy).await;
                tracing::info!("reloaded policy, ticket keys, broker keys and revocations");
            }
            // It goes on with what it has.
            Err(error) => tracing::error!("not reloaded: {error:#}"),
        }
    }
    tracing::info!("stopping");
    front.shutdown().await;
    registry.close().await;
    Ok(())
}

/// The part of the settings that a running front can change.
fn policy(config: &Config) -> anyhow::Result<FrontBuilder> {
    let mut builder = Front::builder()
        .allow_anonymous(config.allow_anonymous)
        .client_id(config.client_id)
        .user_prefix(&config.user_prefix)
        .user_form(config.user_form)
        .topics(config.topics.clone())
        .anonymous_topics(config.anonymous_topics.clone())
        .server_reference(config.server_reference.clone());
    if let Some(suite) = config.lowest_suite {
        builder = builder.lowest_suite(suite);
    }
    if let Some(path) = &config.password_file {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        builder = builder.backend_password(text.lines().next().unwrap_or_default());
    }
    Ok(builder)
}

fn backend(config: &BackendConfig) -> Backend {
    let (backend, guard, proxy) = match config {
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
        BackendConfig::Tcp {
            address,
            guard,
            proxy_protocol,
        } => (Backend::tcp(address), *guard, *proxy_protocol),
        BackendConfig::Unix {
            path,
            guard,
            proxy_protocol,
        } => (Backend::unix(path), *guard, *proxy_protocol),
    };
    let backend = if guard { backend } else { backend.without_guard() };
    if proxy { backend.with_proxy_protocol() } else { backend }
}

fn log(config: &LogConfig) -> anyhow::Result<()> {
    // rumqttd logs every connection at `error`, at times twice.
    let filter = format!("{},rumqttd=off", config.filter);
    let filter = EnvFilter::try_new(filter).with_context(|| format!("log filter `{}`", config.filter))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // It would complain about standard error on standard error, and panic.
        .log_internal_errors(false);
    match config.format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}

struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
}

enum Signal {
    Stop,
    Reload,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> anyhow::Result<Signal> {
        let (signal, received) = tokio::select! {
            received = self.terminate.recv() => (Signal::Stop, received),
            received = self.interrupt.recv() => (Signal::Stop, received),
            received = self.hang_up.recv() => (Signal::Reload, received),
        };
        received.context("no more signals")?;
        Ok(signal)
    }
}
