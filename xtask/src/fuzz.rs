//! The fuzz targets, each for a while, from the corpus in the repository.

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::setup;

/// What to run, and for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds per target.
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u32,
    /// Only this target.
    pub(crate) target: Option<String>,
}

/// Builds every target and runs each; a finding ends it, and its input stays in `fuzz/artifacts`.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    ensure!(
        setup::on_path("cargo-fuzz"),
        "cargo-fuzz is not installed; `cargo xtask setup` does it"
    );
    // The sanitizer flags are unstable; this lets the pinned stable toolchain take them.
    let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
    let all = cmd!(shell, "cargo fuzz list").quiet().read()?;
    let targets: Vec<&str> = match &options.target {
        Some(one) => vec![all.lines().find(|name| name == one).context("no such fuzz target")?],
        None => all.lines().collect(),
    };
    cmd!(shell, "cargo fuzz build").run()?;
    let seconds = options.seconds.to_string();
    for target in targets {
        println!("-- {target}, {seconds} s");
        // New inputs go there, so that a run leaves the repository as it was.
        let found = crate::root().join("fuzz/target/found").join(target);
        let seeds = crate::root().join("fuzz/corpus").join(target);
        shell.create_dir(&found)?;
        let files = shell.read_dir(&seeds)?.len();
        ensure!(files > 0, "{target} has no corpus");
        cmd!(
            shell,
            "cargo fuzz run {target} {found} {seeds} -- -max_total_time={seconds} -max_len={MAX_LEN} -timeout=10 -verbosity=0 -print_final_stats=1"
        )
        .run()?;
    }
    Ok(())
}

/// Twice the longest flight of a fuzzed handshake, in bytes.
const MAX_LEN: &str = "6000";
