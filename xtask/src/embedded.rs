//! The `no_std` crates on the two firmware targets.

use anyhow::Result;
use xshell::{Shell, cmd};

/// Rust's name for a Cortex-M4 with an FPU.
pub(crate) const CORTEX_M4: &str = "thumbv7em-none-eabihf";

/// Builds every `no_std` crate for Cortex-M4 and for AVR.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    for (package, features) in CRATES {
        cmd!(
            shell,
            "cargo build --profile avr -p {package} --no-default-features --features {features} --target {CORTEX_M4}"
        )
        .run()?;
    }
    // AVR has no prebuilt `core`; building it is an unstable feature of cargo that the pinned stable toolchain has too.
    let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
    let _flags = shell.push_env("RUSTFLAGS", "-C target-cpu=atmega1284p");
    for (package, features) in CRATES {
        cmd!(
            shell,
            "cargo build --profile avr -Zbuild-std=core -p {package} --no-default-features --features {features} --target avr-none"
        )
        .run()?;
    }
    Ok(())
}

/// Lints the code that only a Cortex-M4 compiles.
pub(crate) fn lint(shell: &Shell) -> Result<()> {
    let packages = WITH_ASSEMBLY.iter().flat_map(|package| ["-p", package]);
    let features = WITH_ASSEMBLY.map(|package| format!("{package}/self-check")).join(",");
    let kems = "hybrid-handshake/ctru-light,hybrid-handshake/kyber,hybrid-handshake/ntru,hybrid-handshake/ntru-plus,hybrid-handshake/saber";
    cmd!(
        shell,
        "cargo clippy --locked --no-default-features --target {CORTEX_M4} {packages...} --features {features},{kems} -- -D warnings"
    )
    .run()?;
    Ok(())
}

/// Crates with a backend for a Cortex-M4.
const WITH_ASSEMBLY: [&str; 7] = [
    "kem-core",
    "ctru-light",
    "kyber",
    "ntru",
    "ntru-plus",
    "saber",
    "hybrid-handshake",
];

/// Crates with the features that a sensor node uses.
const CRATES: [(&str, &str); 7] = [
    ("ctru-light", ""),
    ("kyber", ""),
    ("ntru", ""),
    ("ntru-plus", ""),
    ("oaep-ntru", "lab"),
    ("saber", ""),
    ("hybrid-handshake", "ctru-light,kyber,ntru,ntru-plus,saber"),
];
