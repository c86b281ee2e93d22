//! The Cortex-M4 image (STM32L4R5, in our cycle model) against the real broker.

#[path = "firmware/cases.rs"]
mod cases;

use kemqtt_tests::Image;

const IMAGE: Image = Image {
    name: "cortex-m4-suite-1011",
    suite: "x25519-ctrulight-ascon",
    broker_key: "mlkem512/x25519",
    nv_len: 8192,
};

#[tokio::test(flavor = "multi_thread")]
async fn keys_change_between_readings() -> anyhow::Result<()> {
    kemqtt_tests::scenarios::keys_change_between_readings(&kemqtt_tests::Field::new(IMAGE).await?).await
}
