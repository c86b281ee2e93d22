//! Cycles, stack and flash of every operation on a Cortex-M4, in the cycle model: one firmware image for each group of rows.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{
    bench::{self, Row},
    elf::{assembly_routines, program_memory},
    embedded::CORTEX_M4,
};

/// What to measure and how to print it.
#[derive(Args)]
pub(crate) struct Options {
    /// JSON rows of name, cycles, stack and flash instead of a table.
    #[arg(long)]
    json: bool,
    /// Only rows whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The portable code in the place of the assembly.
    #[arg(long)]
    portable: bool,
    /// Compare the assembly with its portable twins in the simulator, measure nothing.
    #[arg(long, conflicts_with_all = ["json", "only", "portable"])]
    check: bool,
}

/// Builds, runs and prints.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    simulator(shell)?;
    if options.check {
        return check(shell);
    }
    let empty = program_memory(&build(shell, "none", options.portable)?)?;
    let mut rows = Vec::new();
    for image in IMAGES.iter().filter(|image| wanted(image, options.only.as_deref())) {
        let firmware = build(shell, image, options.portable)?;
        let flash = program_memory(&firmware)?.saturating_sub(empty);
        rows.extend(measure(shell, &firmware, flash)?);
    }
    bench::print(rows, options.only.as_deref(), options.json)
}

/// The firmware's folder; it is a workspace of its own.
const FIRMWARE: &str = "sensor-node/bench/m4";
const SIMULATOR: &str = "sensor-node/sim/m4sim";

/// Groups of rows, as the firmware knows them.
const IMAGES: [&str; 23] = [
    "permutations",
    "sha256",
    "x25519",
    "ctru-light-ascon",
    "ctru-light-sha3",
    "ml-kem-512",
    "ml-kem-768",
    "ml-kem-1024",
    "kyber512",
    "ntru-plus-768-v2.2",
    "ntru-plus-864-v2.2",
    "ntru-plus-1152-v2.2",
    "ntru-plus-768-final",
    "ntru-plus-864-final",
    "ntru-plus-1152-final",
    "ntru-products",
    "ntruhps2048509",
    "ntruhps2048677",
    "ntruhps4096821",
    "ntruhrss701",
    "lightsaber",
    "saber",
    "firesaber",
];

/// Rows of the image `permutations` have other names than their image; the rest begin with it.
fn wanted(image: &str, only: Option<&str>) -> bool {
    only.is_none_or(|text| image == "permutations" || image.contains(text) || text.starts_with(image))
}

/// Builds one image, which the next one overwrites.
fn build(shell: &Shell, image: &str, portable: bool) -> Result<PathBuf> {
    let _folder = shell.push_dir(FIRMWARE);
    let _rows = shell.push_env("BENCH_M4_ROWS", image);
    let target = if portable { "target/portable" } else { "target" };
    let flags = portable.then(|| shell.push_env("RUSTFLAGS", PORTABLE));
    cmd!(shell, "cargo build --quiet --release --locked --target-dir {target}")
        .quiet()
        .run()?;
    drop(flags);
    let elf = shell.current_dir().join(target).join(CORTEX_M4);
    Ok(elf.join("release/bench-m4"))
}

/// Replaces the flags in the firmware's own `.cargo/config.toml`, so that it repeats them.
const PORTABLE: &str = "-C link-arg=-Tlink.x -C link-arg=--nmagic -C target-cpu=cortex-m4 --cfg kemqtt_portable";

/// Runs an image and sums its lines `bench NAME CYCLES STACK` up.
fn measure(shell: &Shell, firmware: &Path, flash: u64) -> Result<Vec<Row>> {
    let output = simulate(shell, firmware)?;
    let mut order = Vec::new();
    let mut runs: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for line in output.lines() {
        let Some(fields) = line.strip_prefix("bench ") else {
            continue;
        };
        let [name, cycles, stack] = fields.split(' ').collect::<Vec<_>>()[..] else {
            bail!("not a measurement: {line}");
        };
        let all = runs.entry(name).or_insert_with(|| {
            order.push(name);
            Vec::new()
        });
        all.push((cycles.parse()?, stack.parse()?));
    }
    let row = |name| Row::of_runs(name, runs.remove(name).unwrap_or_default(), flash);
    order.into_iter().map(row).collect()
}

fn simulator(shell: &Shell) -> Result<()> {
    let manifest = format!("{SIMULATOR}/Cargo.toml");
    Ok(cmd!(
        shell,
        "cargo build --quiet --release --locked --manifest-path {manifest} --target-dir {SIMULATOR}/target"
    )
    .quiet()
    .run()?)
}

/// Builds and runs the firmware that compares; it exits with an error where two twins differ or time depends on data.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    simulator(shell)?;
    let firmware = build(shell, "check", false)?;
    lint(shell)?;
    let output = simulate(shell, &firmware)?;
    print!("{output}");
    let routines = assembly_routines(&firmware)?;
    ensure!(
        output.contains(&format!(" {routines} routines in assembly")),
        "{routines} routines are in assembly, and not all of them in check/conventions.rs"
    );
    ensure!(output.contains("all twins agree"), "the check firmware stopped early");
    Ok(())
}

/// Lints the image `check`, which has just been built: what it depends on is there, so this takes half a second.
fn lint(shell: &Shell) -> Result<()> {
    let _folder = shell.push_dir(FIRMWARE);
    cmd!(shell, "cargo fmt --check").quiet().run()?;
    let _rows = shell.push_env("BENCH_M4_ROWS", "check");
    let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
    // What `cargo clippy` does as well; but that has the dependencies checked once more beside their build.
    let _clippy = shell.push_env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    cmd!(
        shell,
        "cargo rustc --quiet --release --locked --target-dir target -- -Zno-codegen -Dwarnings"
    )
    .quiet()
    .run()?;
    Ok(())
}

fn simulate(shell: &Shell, firmware: &Path) -> Result<String> {
    let output = cmd!(shell, "{SIMULATOR}/target/release/m4sim run {firmware}")
        .ignore_status()
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "the firmware failed: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn images_that_a_filter_needs() {
        assert!(wanted("saber", None));
        assert!(wanted("ml-kem-512", Some("ml-kem")));
        assert!(wanted("ml-kem-512", Some("ml-kem-512/decaps")));
        assert!(!wanted("ml-kem-512", Some("ml-kem-768")));
        assert!(wanted("permutations", Some("keccak")));
    }
}
