//! What the tests need beyond a Rust toolchain and a C compiler: installed where that is allowed, named where it is not.

use std::{env, process::Command};

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

/// Installs the missing tools, or fails with the commands to type.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    debian_packages(shell)?;
    rustup(shell)?;
    cargo_tools(shell)
}

/// Debian package, and a program of it whose presence proves that it is installed.
const PACKAGES: [(&str, &str); 5] = [
    ("mosquitto", "mosquitto"),
    ("mosquitto-clients", "mosquitto_pub"),
    ("tshark", "tshark"),
    ("gcc-avr", "avr-gcc"),
    ("binutils-avr", "avr-nm"),
];
/// Without these the listed programs are of no use.
const COMPANIONS: [&str; 1] = ["avr-libc"];

fn debian_packages(shell: &Shell) -> Result<()> {
    let mut missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, program)| !on_path(program))
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    missing.extend(COMPANIONS);
    let root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0");
    if !root || !on_path("apt-get") {
        bail!(
            "the tests need programs that are not installed. On Debian or Ubuntu type:\n    \
             sudo apt-get update && sudo apt-get install --no-install-recommends {}\n\
             elsewhere install the same programs with the system's package manager, then run this again",
            missing.join(" ")
        );
    }
    shell.set_var("DEBIAN_FRONTEND", "noninteractive");
    cmd!(shell, "apt-get update -qq").run()?;
    cmd!(shell, "apt-get install -y -qq --no-install-recommends {missing...}").run()?;
    match PACKAGES.iter().find(|(_, program)| !on_path(program)) {
        Some((name, program)) => bail!("package {name} is installed, but there is no {program} on the PATH"),
        None => Ok(()),
    }
}

fn rustup(shell: &Shell) -> Result<()> {
    if !on_path("rustup") {
        bail!(
            "the embedded builds need rustup's targets. Type:\n    \
             install rustup (https://rustup.rs), then: rustup component add rust-src clippy rustfmt && rustup target add {}",
            crate::embedded::CORTEX_M4
        );
    }
    let target = crate::embedded::CORTEX_M4;
    cmd!(shell, "rustup --quiet component add rust-src clippy rustfmt").run()?;
    cmd!(shell, "rustup --quiet target add {target}").run()?;
    Ok(())
}

fn cargo_tools(shell: &Shell) -> Result<()> {
    if !on_path("cargo-deny") {
        eprintln!("installing cargo-deny (a few minutes, once)");
        cmd!(shell, "cargo install --quiet --locked cargo-deny").run()?;
    }
    Ok(())
}

fn on_path(program: &str) -> bool {
    // Debian keeps servers in /usr/sbin, which is not on everybody's PATH.
    let path = env::var("PATH").unwrap_or_default() + ":/usr/sbin";
    Command::new("which")
        .arg(program)
        .env("PATH", path)
        .output()
        .is_ok_and(|output| output.status.success())
}
