//! The simulators' own tests; they are workspaces of their own, which a run of all tests leaves out.

use anyhow::Result;
use xshell::{Shell, cmd};

/// The harness with simavr, then the Cortex-M4 model against its timing rules and against Unicorn.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    for manifest in ["sensor-node/sim/Cargo.toml", "sensor-node/sim/m4sim/Cargo.toml"] {
        // Not `--all`, which would follow the paths into the other workspaces.
        cmd!(shell, "cargo fmt --manifest-path {manifest} --check")
            .quiet()
            .run()?;
    }
    let harness = "sensor-node/sim/Cargo.toml";
    cmd!(
        shell,
        "cargo clippy --quiet --locked --manifest-path {harness} --all-targets -- -D warnings"
    )
    .run()?;
    cmd!(shell, "cargo test --quiet --locked --manifest-path {harness}").run()?;
    let python = crate::setup::python();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = match python.parent() {
        Some(folder) if python.exists() => format!("{}:{path}", folder.display()),
        _ => path,
    };
    let _path = shell.push_env("PATH", path);
    cmd!(shell, "sensor-node/sim/m4sim/selftest.sh").run()?;
    Ok(())
}
