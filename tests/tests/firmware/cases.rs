//! The cases of every image; the file of an image names it.

use anyhow::{Result, ensure};
use kemqtt_tests::{Field, scenarios};

use super::IMAGE;

#[tokio::test(flavor = "multi_thread")]
async fn readings_arrive_and_survive_a_restart() -> Result<()> {
    scenarios::readings_arrive_and_survive_a_restart(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_broker_key_is_followed() -> Result<()> {
    scenarios::a_rotated_broker_key_is_followed(&Field::new(IMAGE).await?).await
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

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_lost_a_byte_ends_the_connection_only() -> Result<()> {
    scenarios::an_overrun_ends_in_a_retry(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_without_a_connection_is_outlived() -> Result<()> {
    scenarios::a_flood_without_a_connection_is_outlived(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worn_memory_is_told_and_costs_no_more_than_the_ticket() -> Result<()> {
    scenarios::a_worn_memory_costs_no_more_than_the_ticket(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worn_seed_is_told_and_stops_every_handshake() -> Result<()> {
    scenarios::a_worn_seed_stops_every_handshake(&Field::new(IMAGE).await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_without_room_is_told_again_and_again() -> Result<()> {
    scenarios::a_credential_without_room_is_told(&Field::new(IMAGE).await?).await
}
