//! What each KEM costs in program memory on the two firmware targets.

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use xshell::{Shell, cmd};

use crate::{elf::program_memory, embedded::CORTEX_M4};

/// What to measure; every KEM by default.
#[derive(Args)]
pub(crate) struct Options {
    /// Only parameter sets whose name contains this text, for example `mlkem`.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print JSON rows instead of a table.
    #[arg(long)]
    json: bool,
}

/// Code and constants of one KEM in bytes: key generation, key check, encapsulation and decapsulation together.
#[derive(Serialize)]
struct Row {
    name: String,
    cortex_m4: u64,
    avr: u64,
}

/// Links an image per KEM and compares it with the image without one.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    let _folder = shell.push_dir("sensor-node/size");
    let sets = parameter_sets(shell)?;
    let empty = measure(shell, "")?;
    if !options.json {
        println!("| parameter set | {CORTEX_M4} | AVR (ATmega1284P) |\n|---|---|---|");
    }
    let mut rows = Vec::new();
    for name in sets {
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let (cortex_m4, avr) = measure(shell, &name)?;
        let row = Row {
            name,
            cortex_m4: cortex_m4.saturating_sub(empty.0),
            avr: avr.saturating_sub(empty.1),
        };
        if !options.json {
            println!("| {} | {} | {} |", row.name, row.cortex_m4, row.avr);
        }
        rows.push(row);
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    Ok(())
}

/// The features of the image are the parameter sets.
fn parameter_sets(shell: &Shell) -> Result<Vec<String>> {
    let manifest: toml::Table = toml::from_str(&shell.read_file("Cargo.toml")?)?;
    let features = manifest["features"].as_table().context("[features] is not a table")?;
    Ok(features.keys().cloned().collect())
}

/// Program memory of the image with one feature, for both targets.
fn measure(shell: &Shell, feature: &str) -> Result<(u64, u64)> {
    // Building `core` for AVR is an unstable feature of cargo that the pinned stable toolchain has too.
    let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
    {
        let _flags = shell.push_env("RUSTFLAGS", "-C link-arg=-emain");
        cmd!(
            shell,
            "cargo build --quiet --locked --release --target-dir target --features {feature} --target {CORTEX_M4}"
        )
        .run()?;
    }
    {
        let _flags = shell.push_env("RUSTFLAGS", "-C target-cpu=atmega1284p");
        let build = cmd!(
            shell,
            "cargo build --quiet --locked --release -Zbuild-std=core --target-dir target --features {feature} --target avr-none"
        );
        // avr-gcc refuses an option that rustc then leaves out, with a warning for every image.
        build.ignore_stderr().run()?;
    }
    let target = shell.current_dir().join("target");
    Ok((
        program_memory(&target.join(CORTEX_M4).join("release/kem-size"))?,
        program_memory(&target.join("avr-none/release/kem-size.elf"))?,
    ))
}
