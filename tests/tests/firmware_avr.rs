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

/// The image without Diffie-Hellman; only a broker with the feature `lab` speaks its suite.
#[cfg(feature = "lab")]
#[tokio::test(flavor = "multi_thread")]
async fn the_lab_image_publishes() -> anyhow::Result<()> {
    let image = Image {
        name: "atmega1284p-lab-1001",
        suite: "none-ctrulight-ascon",
        broker_key: "mlkem512/none",
        ..IMAGE
    };
    let field = kemqtt_tests::Field::new(image).await?;
    let _broker = field.start_broker().await?;
    let events = field.node(&["--until", "pub "]).await?;
    anyhow::ensure!(events.logged("up full"), "{events:?}");
    Ok(())
}
