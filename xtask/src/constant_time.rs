//! KEMs and handshake under valgrind's memcheck with their secrets marked undefined: a branch or an address that depends on
//! one is a report. Values that become public on the way stand in one place, the callers of `kem_core::ct::declassify`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Builds and runs the check, after a control that memcheck has to report.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let _folder = shell.push_dir("tests/constant-time");
    let target = crate::root().join("target/constant-time");
    cmd!(shell, "cargo build --release --locked --target-dir {target}").run()?;
    let program = target.join("release/constant-time");
    let control = cmd!(shell, "valgrind --quiet --error-exitcode=9 {program} control")
        .ignore_status()
        .output()?;
    ensure!(
        control.status.code() == Some(9),
        "memcheck does not see a branch on a secret: {control:?}"
    );
    cmd!(shell, "valgrind --quiet --error-exitcode=9 {program}").run()?;
    probes(shell, &program)
}

/// Instructions that a broker spends on an id that does not fit: nearly the same, whyever it does not.
fn probes(shell: &Shell, program: &Path) -> Result<()> {
    // In mode 1 the device's key and the decoy's are two public keys, whose matrices take more or fewer samples.
    for (mode, per_mille) in [("psk", 1), ("kem", 10)] {
        let mut counts = Vec::new();
        for id in ["unknown", "wrong-type", "wrong-secret"] {
            let count = instructions(shell, program, mode, id)?;
            println!("probe in mode {mode}, {id}: {count} instructions");
            counts.push(count);
        }
        let (least, most) = (counts.iter().min(), counts.iter().max());
        let (least, most) = least.zip(most).context("no counts")?;
        ensure!(
            *least > 100_000 && (most - least) * 1000 <= most * per_mille,
            "mode {mode}: the broker's work tells who is enrolled: {counts:?}"
        );
    }
    Ok(())
}

fn instructions(shell: &Shell, program: &Path, mode: &str, id: &str) -> Result<u64> {
    let run = cmd!(
        shell,
        "valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file=/dev/null {program} probe {mode} {id}"
    )
    .quiet()
    .output()?;
    let log = String::from_utf8_lossy(&run.stderr);
    let collected = log.lines().find_map(|line| line.split_once("Collected :"));
    let (_, count) = collected.with_context(|| format!("callgrind counts nothing: {log}"))?;
    Ok(count.trim().parse()?)
}
