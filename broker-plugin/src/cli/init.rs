//! `init`: key file, registry and broker keys.

use std::fs;

use anyhow::Context as _;
use clap::Args;
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Config, Registry, config::RegistryConfig, registry::SealKey};

/// Arguments of `init`.
#[derive(Args)]
pub(crate) struct Init {
    /// Broker key to make, KEM/group; may be given several times.
    #[arg(long = "key", value_name = "KEM/GROUP", default_value = "mlkem768/x25519", value_parser = parse_kind)]
    keys: Vec<(KemId, Group)>,
    #[command(flatten)]
    successors: super::rotate::Place,
}

impl Init {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<()> {
        let registry = match &config.registry {
            // Adding a key kind to a realm that is there already.
            RegistryConfig::File(path) if path.exists() => super::open(&config).await?,
            RegistryConfig::File(path) => {
                let made = Registry::create(path, new_key(&config)?).await;
                made.inspect_err(|_| forget_key(&config))?
            }
            // The realm may be there already, made from another machine with the same key file.
            RegistryConfig::Postgres(_) if config.seal_key.exists() => super::open(&config).await?,
            RegistryConfig::Postgres(url) => {
                let opened = Registry::postgres(url, new_key(&config)?).await;
                opened.inspect_err(|_| forget_key(&config))?
            }
        };
        super::closing(registry, async |registry| self.add_keys(registry, &config).await).await
    }

    async fn add_keys(&self, registry: &Registry, config: &Config) -> anyhow::Result<()> {
        let folder = self.successors.folder(config)?;
        for (number, &(kem, group)) in self.keys.iter().enumerate() {
            let pin = registry.generate_broker_key(kem, group).await?;
            if number == 0 {
                println!("# pin on clients:");
            }
            println!("{}", super::rotate::announce_for(registry, &pin, &folder).await?);
        }
        eprintln!(
            "registry {}, sealed under {}",
            config.registry,
            config.seal_key.display()
        );
        Ok(())
    }
}

fn new_key(config: &Config) -> anyhow::Result<SealKey> {
    SealKey::create(&config.seal_key)
        .context("a new registry gets a new key file; move the old one away if it is not in use")
}

/// A fresh key that seals nothing.
fn forget_key(config: &Config) {
    let _ = fs::remove_file(&config.seal_key);
}

pub(super) fn parse_kind(text: &str) -> Result<(KemId, Group), String> {
    let kem = [KemId::MlKem512, KemId::MlKem768, KemId::MlKem1024];
    let group = [Group::X25519, Group::P256];
    let found = text.split_once('/').and_then(|(kem_name, group_name)| {
        let kem = kem.into_iter().find(|kem| kem.name() == kem_name)?;
        Some((kem, group.into_iter().find(|group| group.name() == group_name)?))
    });
    found.ok_or_else(|| "write mlkem512, mlkem768 or mlkem1024, a slash, and x25519 or p256".to_owned())
}
