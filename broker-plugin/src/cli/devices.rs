//! `list` and `revoke`.

use clap::Args;
use kemqtt_broker::Config;

/// Arguments of `revoke`.
#[derive(Args)]
pub(crate) struct Revoke {
    /// Device id.
    id: String,
}

impl Revoke {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<()> {
        super::with_registry(&config, async |registry| Ok(registry.revoke(&self.id).await?)).await?;
        println!("revoked {}", self.id);
        Ok(())
    }
}

/// Prints one line per device.
pub(crate) async fn list(config: Config) -> anyhow::Result<()> {
    let devices = super::with_registry(&config, async |registry| Ok(registry.devices().await?)).await?;
    println!(
        "{:<32}  {:<7}  {:>10}  {:>10}  {:<10}  client ids",
        "id", "status", "enrolled", "last seen", "topics"
    );
    for device in devices {
        let status = if device.revoked { "revoked" } else { "active" };
        let last_seen = device.last_seen.map_or_else(|| "-".to_owned(), |t| t.to_string());
        let client_ids = device.client_ids.join(",");
        let topics = super::topics::in_line(&device.topics);
        println!(
            "{:<32}  {status:<7}  {:>10}  {last_seen:>10}  {topics:<10}  {client_ids}",
            device.id, device.enrolled
        );
    }
    Ok(())
}
