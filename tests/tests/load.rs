//! The load measurement in small: all ways work, and every figure is there.

use std::time::Duration;

use anyhow::{Result, ensure};
use kemqtt_tests::{binary, output_within};

#[tokio::test(flavor = "multi_thread")]
async fn a_small_run_prints_every_row() -> Result<()> {
    let arguments = [
        "--handshakes",
        "30",
        "--messages",
        "600",
        "--idle",
        "20",
        "--parallel",
        "3",
        "--json",
    ];
    let program = binary("kemqtt-tests", "kemqtt-load")?;
    let run = output_within(program, arguments, Duration::from_secs(120)).await?;
    ensure!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout)?;
    for what in [
        "handshakes",
        "64 B QoS 0",
        "64 B QoS 1",
        "16 KiB QoS 0",
        "idle connections",
    ] {
        for way in ["direct", "hkm1", "tls"] {
            let row = format!("{{\"way\":\"{way}\",\"what\":\"{what}\"");
            ensure!(printed.contains(&row), "{row} is missing in:\n{printed}");
        }
    }
    ensure!(
        !printed.contains("NaN") && !printed.contains("\"per s\":0.000"),
        "{printed}"
    );
    Ok(())
}
