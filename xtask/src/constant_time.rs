//! KEMs and handshake under valgrind's memcheck with their secrets marked undefined: a branch or an address that depends on
//! one is a report. Values that become public on the way stand in one place, the callers of `kem_core::ct::declassify`;
//! `tests/constant-time/foreign.supp` has the verdicts that other people's crates make public.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

/// Builds and runs the check, after a control that memcheck has to report.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let _folder = shell.push_dir("tests/constant-time");
    let target = crate::root().join("target/constant-time");
    cmd!(shell, "cargo build --release --locked --target-dir {target}").run()?;
    let program = target.join("release/constant-time");
    let control = cmd!(
        shell,
        "valgrind --quiet --error-exitcode=9 {SUPPRESSIONS} {program} control"
    )
    .ignore_status()
    .output()?;
    ensure!(
        control.status.code() == Some(9),
        "memcheck does not see a branch on a secret: {control:?}"
    );
    cmd!(shell, "valgrind --quiet --error-exitcode=9 {SUPPRESSIONS} {program}").run()?;
    Ok(())
}

const SUPPRESSIONS: &str = "--suppressions=foreign.supp";
