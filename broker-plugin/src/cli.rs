//! The command line: one variant per command.

mod devices;
mod enroll;
mod init;
mod rotate;
mod run;
mod settings;
mod topics;

use std::io;

use clap::{Parser, Subcommand};
use kemqtt_broker::{
    Config, Registry,
    config::{DEFAULT_FILE, RegistryConfig},
    registry::{SealError, SealKey},
};

use settings::Settings;

/// MQTT broker and gateway with hybrid post-quantum security.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Subcommand)]
enum Command {
    /// Run the broker until SIGINT or SIGTERM; SIGHUP reloads policy, keys and revocations.
    #[command(
        after_help = "Examples:\n  kemqtt-broker run\n  kemqtt-broker run --listen 0.0.0.0:1884 --backend tcp://127.0.0.1:1883 \\\n      --metrics 127.0.0.1:9464 --log-format json"
    )]
    Run,
    /// Make the key file, the registry and the broker key.
    #[command(
        after_help = "Examples:\n  kemqtt-broker init\n  kemqtt-broker init --key mlkem768/x25519 --key mlkem512/x25519"
    )]
    Init(init::Init),
    /// Enrol a device: prints its secret line and the broker key to pin.
    #[command(
        after_help = "Examples:\n  kemqtt-broker enroll pump-17 --out pump-17.psk\n  kemqtt-broker enroll pump-17 --device-key pump-17.pub\n  kemqtt-broker enroll pump-17 --allow-publish 'sensors/{id}/#' --allow-subscribe 'commands/{id}/+'"
    )]
    Enroll(enroll::Enroll),
    /// List enrolled devices.
    #[command(after_help = "Example:\n  kemqtt-broker list --config /etc/kemqtt/broker.toml")]
    List,
    /// Revoke a device: its next handshake is refused, its open session is closed.
    #[command(after_help = "Example:\n  kemqtt-broker revoke pump-17")]
    Revoke(devices::Revoke),
    /// Show or change the topics that a device may use; its open session ends when they change.
    #[command(
        after_help = "Examples:\n  kemqtt-broker topics pump-17\n  kemqtt-broker topics pump-17 --allow-publish 'alarms/{id}' --allow-publish 'sensors/{id}/#'\n  kemqtt-broker topics pump-17 --default"
    )]
    Topics(topics::Topics),
    /// Make the announced successor of a broker key current, or forget the keys before it.
    #[command(
        after_help = "Examples:\n  kemqtt-broker rotate-key --list\n  kemqtt-broker rotate-key --successors /media/safe\n  kemqtt-broker rotate-key --retire"
    )]
    RotateKey(rotate::Rotate),
    /// Check the configuration and say what it means.
    #[command(after_help = "Example:\n  kemqtt-broker check-config --config /etc/kemqtt/broker.toml")]
    CheckConfig,
    /// Print a commented configuration file with every default.
    #[command(after_help = "Example:\n  kemqtt-broker print-default-config > kemqtt-broker.toml")]
    PrintDefaultConfig,
}

impl Cli {
    /// Runs the command to its end.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::PrintDefaultConfig => {
                print!("{DEFAULT_FILE}");
                Ok(())
            }
            Command::CheckConfig => {
                println!("{:#?}", self.settings.config()?);
                Ok(())
            }
            Command::Run => block_on(run::run(&self.settings)),
            Command::Init(init) => block_on(init.run(self.settings.config()?)),
            Command::Enroll(enroll) => block_on(enroll.run(self.settings.config()?)),
            Command::List => block_on(devices::list(self.settings.config()?)),
            Command::RotateKey(rotate) => block_on(rotate.run(self.settings.config()?)),
            Command::Topics(topics) => block_on(topics.run(self.settings.config()?)),
            Command::Revoke(revoke) => block_on(revoke.run(self.settings.config()?)),
        }
    }
}

async fn open(config: &Config) -> anyhow::Result<Registry> {
    let seal = SealKey::load(&config.seal_key).map_err(|error| match error {
        SealError::File(path, error) if error.kind() == io::ErrorKind::NotFound => {
            anyhow::anyhow!(
                "key file {} does not exist; make it with `kemqtt-broker init`",
                path.display()
            )
        }
        error => error.into(),
    })?;
    Ok(match &config.registry {
        RegistryConfig::File(path) => Registry::open(path, seal).await?,
        RegistryConfig::Postgres(url) => Registry::postgres(url, seal).await?,
    })
}

/// Opens the registry for one piece of work and closes it whatever comes out, so that no journal is left beside it.
async fn with_registry<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Registry) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    closing(open(config).await?, work).await
}

async fn closing<T>(registry: Registry, work: impl AsyncFnOnce(&Registry) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let done = work(&registry).await;
    registry.close().await;
    done
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

const EXAMPLES: &str = "\
Every setting can also stand in the file or in a KEMQTT_... variable; flags win.";
