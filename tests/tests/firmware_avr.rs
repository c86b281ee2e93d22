//! The ATmega1284P image, in simavr, against the real broker.

#[path = "firmware/cases.rs"]
mod cases;

use anyhow::Context as _;
use kemqtt_tests::{Field, Image, scenarios};

const IMAGE: Image = Image {
    name: "atmega1284p-suite-1011",
    suite: "x25519-ctrulight-ascon",
    broker_key: "mlkem512/x25519",
    nv_len: 4096,
};

const WITH_REAUTHENTICATION: Image = Image {
    name: "atmega1284p-suite-1011-reauth",
    ..IMAGE
};

#[tokio::test(flavor = "multi_thread")]
async fn keys_change_between_readings() -> anyhow::Result<()> {
    scenarios::keys_change_between_readings(&Field::new(WITH_REAUTHENTICATION).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_re_authentication_keeps_to_8_kb_of_ram() -> anyhow::Result<()> {
    let field = Field::new(WITH_REAUTHENTICATION).await?;
    let _broker = field.start_broker().await?;
    let events = field
        .node(&["--reauthenticate-at", "pub 1", "--until", "reauth "])
        .await?;
    let ram = events.ram().context("the run has an end")?;
    anyhow::ensure!(
        events.logged("reauth 1") && ram <= 8 * 1024,
        "{ram} B of RAM: {events:?}"
    );
    Ok(())
}

/// The image without Diffie-Hellman, whose suite needs the feature `lab` on the other end as well.
#[cfg(feature = "lab")]
#[tokio::test(flavor = "multi_thread")]
async fn the_lab_image_publishes() -> anyhow::Result<()> {
    use hybrid_handshake::suite::{Group, KemId};
    use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig};

    let registry = Registry::in_memory().await?;
    let pin = registry.generate_broker_key(KemId::MlKem512, Group::None).await?;
    let credential = registry.enroll_psk("node").await?;
    let backend = Backend::rumqttd(RumqttdConfig::default());
    let front = Front::builder().backend(backend).registry(registry).build().await?;
    let image = Image {
        name: "atmega1284p-lab-1001",
        suite: "none-ctrulight-ascon",
        ..IMAGE
    };
    let field = Field::of_broker(image, front.local_addr(), &pin, &credential).await?;
    let events = field.node(&["--until", "pub "]).await?;
    anyhow::ensure!(events.logged("up full"), "{events:?}");
    front.shutdown().await;
    Ok(())
}
