//! The fuzz targets, each for a while, from the corpus in the repository.

use std::process::{Child, Command, Stdio};

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

/// Builds every target and runs them, two at a time; a finding ends it, and its input stays in `fuzz/artifacts`.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    build(shell, None)?;
    let _bootstrap = shell.push_env(BOOTSTRAP, "1");
    let all = cmd!(shell, "cargo fuzz list").quiet().read()?;
    let targets: Vec<&str> = match &options.target {
        Some(one) => vec![all.lines().find(|name| name == one).context("no such fuzz target")?],
        None => all.lines().collect(),
    };
    for pair in targets.chunks(2) {
        let runs: Vec<_> = pair
            .iter()
            .map(|target| start(shell, target, options.seconds))
            .collect::<Result<_>>()?;
        // Both end before either is judged: nothing may go on behind a failed step.
        let ended: Vec<_> = runs.into_iter().map(Child::wait_with_output).collect();
        for (target, output) in pair.iter().zip(ended) {
            let output = output?;
            let log = String::from_utf8_lossy(&output.stderr);
            ensure!(
                output.status.success(),
                "{target} has found something; its input is in fuzz/artifacts/{target}:\n{log}"
            );
            let executed = log
                .lines()
                .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
            println!(
                "-- {target}: {} inputs",
                executed.context("libFuzzer says nothing")?.trim()
            );
        }
    }
    Ok(())
}

/// Builds every target, on `jobs` cores or on all.
pub(crate) fn build(shell: &Shell, jobs: Option<u8>) -> Result<()> {
    ensure!(
        setup::on_path("cargo-fuzz"),
        "cargo-fuzz is not installed; `cargo xtask setup` does it"
    );
    let _bootstrap = shell.push_env(BOOTSTRAP, "1");
    let _jobs = jobs.map(|jobs| shell.push_env("CARGO_BUILD_JOBS", jobs.to_string()));
    Ok(cmd!(shell, "cargo fuzz build").run()?)
}

fn start(shell: &Shell, target: &str, seconds: u32) -> Result<Child> {
    // New inputs go there, so that a run leaves the repository as it was.
    let found = crate::root().join("fuzz/target/found").join(target);
    let seeds = crate::root().join("fuzz/corpus").join(target);
    shell.create_dir(&found)?;
    ensure!(!shell.read_dir(&seeds)?.is_empty(), "{target} has no corpus");
    let child = Command::new(env!("CARGO"))
        .current_dir(crate::root())
        .env(BOOTSTRAP, "1")
        .args(["fuzz", "run", target])
        .args([&found, &seeds])
        .arg("--")
        .arg(format!("-max_total_time={seconds}"))
        .args(["-max_len=6000", "-timeout=20", "-verbosity=0"])
        .args(["-print_funcs=0", "-print_final_stats=1"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    Ok(child)
}

/// The sanitizer flags are unstable; this lets the pinned stable toolchain take them.
const BOOTSTRAP: &str = "RUSTC_BOOTSTRAP";
