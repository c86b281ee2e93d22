//! The front embedded in one's own program, before any MQTT broker:
//! `cargo run --example embed_gateway -- 127.0.0.1:1883 [LISTEN]`

use std::{env, path::Path};

use anyhow::{Context, Result};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Backend, Front, Registry, registry::SealKey};

#[tokio::main]
async fn main() -> Result<()> {
    let broker = env::args().nth(1).context("usage: embed_gateway HOST:PORT [LISTEN]")?;
    let listen = env::args().nth(2).unwrap_or_else(|| "127.0.0.1:1884".to_owned());
    let registry = registry(Path::new("gateway.db"), Path::new("gateway.key")).await?;
    let front = Front::builder()
        .listen(listen)
        .backend(Backend::tcp(broker))
        .registry(registry.clone())
        .observer(|event| println!("{event}"))
        .build()
        .await?;
    println!("listening on {}; clients pin:", front.local_addr());
    for line in front.broker_lines().await? {
        println!("{line}");
    }

    // The rest of the program goes here; this one waits.
    tokio::signal::ctrl_c().await?;
    front.shutdown().await;
    registry.close().await;
    Ok(())
}

/// The registry in `file`; a new one gets a broker key and one device.
async fn registry(file: &Path, key: &Path) -> Result<Registry> {
    if file.exists() {
        return Ok(Registry::open(file, SealKey::load(key)?).await?);
    }
    let registry = Registry::create(file, SealKey::create(key)?).await?;
    registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    println!("the device keeps: {}", *registry.enroll_psk("pump-1").await?);
    Ok(registry)
}
