//! The Cortex-M4 image (STM32L4R5, in our cycle model) against the real broker.

#[path = "firmware/cases.rs"]
mod cases;

use anyhow::{Context, Result, ensure};
use kemqtt_tests::{Field, Image, scenarios};

const IMAGE: Image = Image {
    name: "cortex-m4-suite-1011",
    suite: "x25519-ctrulight-ascon",
    broker_key: "mlkem512/x25519",
    nv_len: 8192,
};

#[tokio::test(flavor = "multi_thread")]
async fn keys_change_between_readings() -> Result<()> {
    scenarios::keys_change_between_readings(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_image_keeps_to_its_ram() -> Result<()> {
    for image in IMAGES {
        let field = Field::new(image).await?;
        if image.name.ends_with("-kem-auth") {
            field.enrol_with_key_pair("pair").await?;
            field.provision("pair", None).await?;
        }
        let _broker = field.start_broker().await?;
        let events = field
            .node(&["--reauthenticate-at", "pub 1", "--until", "reauth "])
            .await?;
        ensure!(events.logged("up full"), "{}: {events:?}", image.name);
        let ram = events.ram().context("the run has an end")?;
        println!("{}: {ram} B of RAM", image.name);
        ensure!(ram <= RAM, "{} takes {ram} B of RAM", image.name);
    }
    Ok(())
}

/// What an image may take, in bytes: its variables, and the deepest stack from boot to the end of a re-authentication.
const RAM: u64 = 12 * 1024;

/// Every image, for devices with a pre-shared key and for those with a key pair.
const IMAGES: [Image; 8] = [
    IMAGE,
    Image {
        name: "cortex-m4-suite-1011-kem-auth",
        ..IMAGE
    },
    with_ml_kem_768("cortex-m4-suite-0211", "x25519-mlkem768-ascon"),
    with_ml_kem_768("cortex-m4-suite-0211-kem-auth", "x25519-mlkem768-ascon"),
    with_ml_kem_768("cortex-m4-suite-0222", "x25519-mlkem768-chacha20poly1305"),
    with_ml_kem_768("cortex-m4-suite-0222-kem-auth", "x25519-mlkem768-chacha20poly1305"),
    with_ml_kem_768("cortex-m4-suite-1222", "x25519-ntruplus768-chacha20poly1305"),
    with_ml_kem_768("cortex-m4-suite-1222-kem-auth", "x25519-ntruplus768-chacha20poly1305"),
];

const fn with_ml_kem_768(name: &'static str, suite: &'static str) -> Image {
    Image {
        name,
        suite,
        broker_key: "mlkem768/x25519",
        ..IMAGE
    }
}
