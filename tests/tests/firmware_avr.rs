//! The ATmega1284P image, in simavr, against the real broker.

use anyhow::{Result, ensure};
use kemqtt_tests::{Field, Image, scenarios};

const IMAGE: Image = Image {
    name: "atmega1284p-suite-1011",
    broker_key: "mlkem512/x25519",
    nv_len: 4096,
};

#[tokio::test(flavor = "multi_thread")]
async fn readings_arrive_and_survive_a_restart() -> Result<()> {
    scenarios::readings_arrive_and_survive_a_restart(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_at_any_flight_is_survived() -> Result<()> {
    scenarios::a_power_cut_at_any_flight_is_survived(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_m2_costs_symmetric_work_only() -> Result<()> {
    let (refusal, m3) = scenarios::a_forged_m2_costs_symmetric_work_only(&Field::new(IMAGE).await?).await?;
    println!("forged M2 refused in {refusal} cycles; M3 takes {m3}");
    ensure!(refusal * 3 < m3, "{refusal} cycles for a forged M2");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_bytes_and_a_flood_end_in_a_retry() -> Result<()> {
    scenarios::lost_bytes_and_a_flood_end_in_a_retry(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn cycles_do_not_depend_on_secrets() -> Result<()> {
    let cycles = scenarios::cycles_of_devices(&Field::new(IMAGE).await?, 3).await?;
    println!("prepare, M2, M3, M4: {cycles:?}");
    ensure!(
        cycles.iter().all(|device| *device == cycles[0]),
        "they differ: {cycles:?}"
    );
    Ok(())
}
