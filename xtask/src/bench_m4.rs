//! Cycles, stack and flash of every operation on a Cortex-M4, in the cycle model: one firmware image for each group of rows.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Serialize;
use xshell::{Shell, cmd};

use crate::embedded::CORTEX_M4;

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
    cmd!(
        shell,
        "cargo build --quiet --release --locked --manifest-path {SIMULATOR}/Cargo.toml"
    )
    .run()?;
    if options.check {
        return check(shell);
    }
    let empty = flash(&build(shell, "none", options.portable)?)?;
    let mut rows = Vec::new();
    for image in IMAGES.iter().filter(|image| wanted(image, options.only.as_deref())) {
        let firmware = build(shell, image, options.portable)?;
        let size = flash(&firmware)?.saturating_sub(empty);
        fs::write(shell.current_dir().join(FIRMWARE).join("last.elf"), &firmware)?;
        rows.extend(measure(shell, size)?);
    }
    let text = options.only.as_deref().unwrap_or_default();
    rows.retain(|row| row.name.contains(text));
    ensure!(!rows.is_empty(), "no row contains {text:?}");
    if options.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("| operation | cycles | stack, B | flash of the image, B |\n|---|---:|---:|---:|");
        for row in &rows {
            println!("| {} | {} | {} | {} |", row.name, row.cycles, row.stack, row.flash);
        }
    }
    Ok(())
}

/// A measured operation.
#[derive(Serialize)]
struct Row {
    name: String,
    /// Median over the runs.
    cycles: u64,
    /// Fewest and most cycles: equal, unless the work depends on public values (matrices by rejection sampling).
    spread: [u64; 2],
    /// Largest over the runs, in bytes.
    stack: u64,
    /// What the whole image has in flash beyond an empty one, in bytes.
    flash: u64,
}

/// The firmware's folder; it is a workspace of its own.
const FIRMWARE: &str = "sensor-node/bench/m4";
const SIMULATOR: &str = "sensor-node/sim/m4sim";

/// Groups of rows, as the firmware knows them.
const IMAGES: [&str; 20] = [
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
    "ntruhps2048509",
    "ntruhps2048677",
    "ntruhps4096821",
    "ntruhrss701",
    "saber",
];

/// Rows of the image `permutations` have other names than their image; the rest begin with it.
fn wanted(image: &str, only: Option<&str>) -> bool {
    only.is_none_or(|text| image == "permutations" || image.contains(text) || text.starts_with(image))
}

/// Builds one image and returns it.
fn build(shell: &Shell, image: &str, portable: bool) -> Result<Vec<u8>> {
    let _folder = shell.push_dir(FIRMWARE);
    let _rows = shell.push_env("BENCH_M4_ROWS", image);
    let target = if portable { "target/portable" } else { "target" };
    let flags = portable.then(|| shell.push_env("RUSTFLAGS", PORTABLE));
    cmd!(shell, "cargo build --quiet --release --locked --target-dir {target}")
        .quiet()
        .run()?;
    drop(flags);
    let elf = shell
        .current_dir()
        .join(target)
        .join(CORTEX_M4)
        .join("release/bench-m4");
    fs::read(&elf).with_context(|| format!("no firmware at {}", elf.display()))
}

/// Replaces the flags in the firmware's own `.cargo/config.toml`, so that it repeats them.
const PORTABLE: &str = "-C link-arg=-Tlink.x -C link-arg=--nmagic -C target-cpu=cortex-m4 --cfg kemqtt_portable";

/// Runs the last image and sums its lines `bench NAME CYCLES STACK` up.
fn measure(shell: &Shell, flash: u64) -> Result<Vec<Row>> {
    let output = simulate(shell, &Path::new(FIRMWARE).join("last.elf"))?;
    let mut order = Vec::new();
    let mut runs: BTreeMap<String, (Vec<u64>, u64)> = BTreeMap::new();
    for line in output.lines() {
        let Some(fields) = line.strip_prefix("bench ") else {
            continue;
        };
        let [name, cycles, stack] = fields.split(' ').collect::<Vec<_>>()[..] else {
            bail!("not a measurement: {line}");
        };
        let (all, deepest) = runs.entry(name.to_owned()).or_insert_with(|| {
            order.push(name.to_owned());
            (Vec::new(), 0)
        });
        all.push(cycles.parse()?);
        *deepest = (*deepest).max(stack.parse()?);
    }
    order
        .into_iter()
        .map(|name| {
            let (mut all, stack) = runs.remove(&name).context("each name once")?;
            all.sort_unstable();
            let (Some(&least), Some(&most)) = (all.first(), all.last()) else {
                bail!("{name} was never run");
            };
            Ok(Row {
                cycles: all[all.len() / 2],
                spread: [least, most],
                name,
                stack,
                flash,
            })
        })
        .collect()
}

fn simulator(shell: &Shell) -> Result<()> {
    let manifest = format!("{SIMULATOR}/Cargo.toml");
    Ok(cmd!(
        shell,
        "cargo build --quiet --release --locked --manifest-path {manifest}"
    )
    .quiet()
    .run()?)
}

/// Builds and runs the firmware that compares; it exits with an error where two twins differ or time depends on data.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    simulator(shell)?;
    let firmware = shell.current_dir().join(FIRMWARE).join("last.elf");
    fs::write(&firmware, build(shell, "check", false)?)?;
    let output = simulate(shell, &firmware)?;
    print!("{output}");
    ensure!(output.contains("all twins agree"), "the check firmware stopped early");
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

/// Bytes that an ELF file puts into flash: the file sizes of its loadable segments.
fn flash(elf: &[u8]) -> Result<u64> {
    let half = |at: usize| -> Result<usize> {
        let bytes = elf.get(at..at + 2).context("truncated ELF file")?;
        Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    };
    let word = |at: usize| -> Result<u64> {
        let bytes = elf.get(at..at + 4).context("truncated ELF file")?;
        Ok(u64::from(u32::from_le_bytes(bytes.try_into()?)))
    };
    ensure!(elf.starts_with(b"\x7fELF\x01\x01"), "not a little-endian ELF32 file");
    let (table, size, count) = (word(28)? as usize, half(42)?, half(44)?);
    let mut sum = 0;
    for header in (0..count).map(|i| table + i * size) {
        const LOAD: u64 = 1;
        if word(header)? == LOAD {
            sum += word(header + 16)?;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::{flash, wanted};

    #[test]
    fn images_that_a_filter_needs() {
        assert!(wanted("saber", None));
        assert!(wanted("ml-kem-512", Some("ml-kem")));
        assert!(wanted("ml-kem-512", Some("ml-kem-512/decaps")));
        assert!(!wanted("ml-kem-512", Some("ml-kem-768")));
        assert!(wanted("permutations", Some("keccak")));
    }

    #[test]
    fn flash_is_the_sum_of_loadable_segments() {
        let mut elf = vec![0; 52 + 3 * 32];
        elf[..6].copy_from_slice(b"\x7fELF\x01\x01");
        (elf[28], elf[42], elf[44]) = (52, 32, 3);
        for (i, (kind, size)) in [(1, 100), (1, 23), (7, 50)].into_iter().enumerate() {
            elf[52 + 32 * i] = kind;
            elf[52 + 32 * i + 16] = size;
        }
        assert_eq!(flash(&elf).expect("well formed"), 123);
        assert!(flash(&elf[..80]).is_err());
        assert!(flash(b"#!/bin/sh").is_err());
    }
}
