//! Two gateways before one broker cluster. They share the registry, and with it devices, keys and ticket keys: a device
//! that was served by one resumes at the other, and a revocation ends its sessions on both.
//!
//! `cargo run --example fleet -- NODE_1 NODE_2 [postgres://user@host/database]`, where the nodes are MQTT listeners of
//! one cluster (or twice the same broker). Gateways on different machines need the database and a common key file; in
//! one process a registry in memory will do.

use std::{env, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Backend, Front, Registry, RegistryError, keys::KeyError, registry::SealKey};
use kemqtt_client::{
    Config, Credential, Pins,
    rumqttc::{Attached, v4::options},
};
use rumqttc::{AsyncClient, Event, EventLoop, Incoming, QoS};
use tokio::time::timeout;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let usage = "usage: fleet NODE_1 NODE_2 [postgres://user@host/database]";
    let nodes = [arguments.next().context(usage)?, arguments.next().context(usage)?];
    let registry = registry(arguments.next()).await?;
    let gateways = [
        gateway(&registry, &nodes[0]).await?,
        gateway(&registry, &nodes[1]).await?,
    ];
    let pins = Pins::from_text(&gateways[0].broker_lines().await?.concat())?;
    let id = format!("pump-{}", std::process::id());
    let psk = registry.enroll_psk(&id).await?;
    let device = Config::new(pins, Credential::from_text(&psk)?);

    for (gateway, node) in gateways.iter().zip(&nodes) {
        let mut session = publish(&id, gateway, device.clone()).await?;
        println!("{id} published through {} to {node}", gateway.local_addr());
        // The ticket for the next session comes behind the CONNACK.
        let _ = timeout(Duration::from_millis(300), session.until(|_| false)).await;
    }
    let resumed = gateways[1].metrics().encode();
    ensure!(
        resumed.contains("mode=\"4\"} 1"),
        "the second gateway resumed the first one's session"
    );
    println!("the second session was resumed with the ticket of the first");

    let mut session = publish(&id, &gateways[0], device).await?;
    registry.revoke(&id).await?;
    let ended = timeout(Duration::from_secs(10), session.until(|_| false)).await;
    ensure!(ended.is_ok_and(|ended| ended.is_err()), "a revocation ends the session");
    println!("{id} was revoked, and its session is closed");
    for gateway in gateways {
        gateway.shutdown().await;
    }
    registry.close().await;
    Ok(())
}

async fn registry(url: Option<String>) -> Result<Registry> {
    let registry = match url {
        None => Registry::in_memory().await?,
        Some(url) => {
            let key = Path::new("fleet.key");
            let seal = if key.exists() {
                SealKey::load(key)?
            } else {
                SealKey::create(key)?
            };
            Registry::postgres(&url, seal).await?
        }
    };
    match registry.generate_broker_key(KemId::MlKem768, Group::X25519).await {
        // The realm is there already.
        Ok(_) | Err(KeyError::Registry(RegistryError::DuplicateKey)) => Ok(registry),
        Err(error) => Err(error.into()),
    }
}

async fn gateway(registry: &Registry, node: &str) -> Result<Front> {
    let builder = Front::builder().registry(registry.clone()).backend(Backend::tcp(node));
    // RabbitMQ would take what stands before a colon for a virtual host.
    Ok(builder.user_prefix("kem.").build().await?)
}

/// A connected client.
struct Session {
    events: EventLoop,
    _client: AsyncClient,
    _bridge: Attached,
}

impl Session {
    /// Runs until an incoming packet satisfies `done`.
    async fn until(&mut self, done: impl Fn(&Incoming) -> bool) -> Result<()> {
        loop {
            if let Event::Incoming(event) = self.events.poll().await?
                && done(&event)
            {
                return Ok(());
            }
        }
    }
}

/// Connects and publishes one acknowledged message.
async fn publish(id: &str, gateway: &Front, device: Config) -> Result<Session> {
    let (mut options, bridge) = options(id, &gateway.local_addr().to_string(), device).await?;
    options.set_keep_alive(Duration::from_secs(30));
    let (client, events) = AsyncClient::new(options, 8);
    client.publish("plant/pump", QoS::AtLeastOnce, false, "on").await?;
    let mut session = Session {
        events,
        _client: client,
        _bridge: bridge,
    };
    session.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    Ok(session)
}
