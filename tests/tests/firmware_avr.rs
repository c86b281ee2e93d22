//! The ATmega1284P image, in simavr, against the real broker.

#[path = "firmware/cases.rs"]
mod cases;

use kemqtt_tests::Image;

const IMAGE: Image = Image {
    name: "atmega1284p-suite-1011",
    suite: "x25519-ctrulight-ascon",
    broker_key: "mlkem512/x25519",
    nv_len: 4096,
};

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
    let field = kemqtt_tests::Field::of_broker(image, front.local_addr(), &pin, &credential).await?;
    let events = field.node(&["--until", "pub "]).await?;
    anyhow::ensure!(events.logged("up full"), "{events:?}");
    front.shutdown().await;
    Ok(())
}
