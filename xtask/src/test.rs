//! Every check of the repository, cheapest first; the last line sums up the tests.

use anyhow::{Context, Result, ensure};
use clap::Args;
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};
use xshell::{Shell, cmd};

use crate::{
    bench_avr, bench_m4, constant_time, embedded, firmware, fuzz,
    parallel::{root_shell, side_by_side},
    prove, sensor_tls, setup, simulators, vectors,
};

/// What to leave out; nothing by default, and CI leaves out nothing.
#[derive(Args)]
pub(crate) struct Options {
    /// Do not install anything; missing tools fail where they are needed.
    #[arg(long)]
    no_setup: bool,
    /// Only the tests, without the lints and the builds for other targets.
    #[arg(long)]
    tests_only: bool,
}

/// Runs the checks in order and stops at the first that fails.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    if !options.no_setup {
        step("set-up", || setup::run(shell))?;
    }
    if !options.tests_only {
        step("format", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
        step("licenses, bans and sources", || {
            Ok(cmd!(shell, "cargo deny --log-level error check licenses bans sources").run()?)
        })?;
        step("lints", || {
            Ok(cmd!(
                shell,
                "cargo clippy --locked --workspace --all-targets --all-features -- -D warnings"
            )
            .run()?)
        })?;
        step("lints for Cortex-M4", || embedded::lint(shell))?;
        step("documentation", || {
            let _flags = shell.push_env("RUSTDOCFLAGS", "-D warnings");
            Ok(cmd!(shell, "cargo doc --locked --workspace --all-features --no-deps").run()?)
        })?;
        step("embedded builds", || embedded::run(shell))?;
        // Linking and simulating use one core each, so two chains of steps run side by side.
        side_by_side(
            || {
                step("assembly for AVR", || bench_avr::check(&root_shell()?))?;
                step("lints of the TLS image", || sensor_tls::check(&root_shell()?))
            },
            || {
                step("assembly for Cortex-M4", || bench_m4::check(&root_shell()?))?;
                step("simulators", || simulators::check(&root_shell()?))?;
                step("firmware images", || {
                    firmware::run(&root_shell()?, &firmware::Options::default())
                })
            },
        )?;
        side_by_side(
            || step("constant time", || constant_time::run(&root_shell()?)),
            || {
                step("formal model", || {
                    let quick = prove::Options {
                        quick: true,
                        only: None,
                        print: false,
                    };
                    prove::run(&root_shell()?, &quick)
                })
            },
        )?;
    }
    // Without the step above the tests of the images build what they need themselves.
    let images = (!options.tests_only).then(firmware::folder);
    let mut summary = Summary::default();
    // The tests wait for time and for sockets more than they compute: one core has the optimised build meanwhile.
    side_by_side(
        || {
            summary = step("tests", || tests(images.as_deref()))?;
            Ok(())
        },
        || {
            if options.tests_only {
                return Ok(());
            }
            step("build of the demo", || {
                let shell = root_shell()?;
                Ok(cmd!(shell, "cargo build --locked --release --jobs 1 --example demo").run()?)
            })?;
            step("build of the fuzz targets", || fuzz::build(&root_shell()?, Some(1)))
        },
    )?;
    if !options.tests_only {
        step("vector files", || vectors::run(shell))?;
        step("fuzz targets", || {
            let options = fuzz::Options {
                seconds: 20,
                target: None,
            };
            fuzz::run(shell, &options)
        })?;
        step("demo", || {
            Ok(cmd!(shell, "cargo run --locked --release --example demo").run()?)
        })?;
    }
    println!(
        "{} passed, {} failed, {} skipped",
        summary.passed, summary.failed, summary.ignored
    );
    Ok(())
}

fn step<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("== {name}");
    let start = Instant::now();
    let done = run().with_context(|| format!("step failed: {name}"))?;
    println!("== {name}: done in {} s", start.elapsed().as_secs());
    Ok(done)
}

/// Sum of the test runner's own summary lines.
#[derive(Default)]
struct Summary {
    passed: u32,
    failed: u32,
    ignored: u32,
}

fn tests(images: Option<&Path>) -> Result<Summary> {
    let mut runner = Command::new(env!("CARGO"))
        .args(["test", "--locked", "--workspace", "--all-features", "--no-fail-fast"])
        .current_dir(crate::root())
        // `cargo test` builds the programs before it runs the first test.
        .env("KEMQTT_TEST_BINARIES", binaries()?)
        .envs(images.map(|folder| ("KEMQTT_FIRMWARE", folder)))
        .stdout(Stdio::piped())
        .spawn()?;
    let output = runner.stdout.take().context("the test runner has no output")?;
    let mut summary = Summary::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        summary.add(&line);
    }
    ensure!(
        runner.wait()?.success() && summary.failed == 0,
        "{} tests failed",
        summary.failed
    );
    ensure!(summary.passed > 0, "the test runner ran no test");
    Ok(summary)
}

/// Where `cargo test` puts the programs of the workspace.
pub(crate) fn binaries() -> Result<PathBuf> {
    Ok(target_folder()?.join("debug"))
}

/// The workspace's target folder, wherever the environment has put it.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(crate::root())
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let target = metadata["target_directory"].as_str();
    Ok(target.context("cargo metadata names no target directory")?.into())
}

impl Summary {
    /// Adds a line like `test result: ok. 12 passed; 0 failed; 1 ignored; ...`; other lines count nothing.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        for part in result.split(['.', ';']) {
            match part.trim().split_once(' ') {
                Some((count, "passed")) => self.passed += count.parse::<u32>().unwrap_or(0),
                Some((count, "failed")) => self.failed += count.parse::<u32>().unwrap_or(0),
                Some((count, "ignored")) => self.ignored += count.parse::<u32>().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn summary_lines_are_summed() {
        let mut summary = Summary::default();
        summary.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s");
        summary
            .add("test result: FAILED. 2 passed; 5 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.01s");
        summary.add("test m1 ... ok");
        assert_eq!((summary.passed, summary.failed, summary.ignored), (14, 5, 1));
    }
}
