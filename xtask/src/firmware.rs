//! The firmware images that ship: build, lint, size, and their known-answer tests in the simulators.

mod lint;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

/// Which images.
#[derive(Args)]
pub(crate) struct Options {
    /// Lint this AVR image and stop; may be given more than once.
    #[arg(long, value_name = "ELF")]
    lint: Vec<PathBuf>,
}

pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    for elf in &options.lint {
        lint_avr(shell, elf)?;
        println!("{}: no trap", elf.display());
    }
    Ok(())
}

/// Fails when the image holds code that LLVM is known to get wrong.
pub(crate) fn lint_avr(shell: &Shell, elf: &Path) -> Result<()> {
    let listing = cmd!(shell, "avr-objdump -d {elf}").quiet().read()?;
    ensure!(listing.contains(">:"), "{} has no code", elf.display());
    for product in lint::lost_products(&listing) {
        eprintln!("{}: {product}", elf.display());
    }
    ensure!(
        lint::lost_products(&listing).is_empty(),
        "{}: a product is lost to a saved SREG; change the function or its optimisation level",
        elf.display()
    );
    let symbols = cmd!(shell, "avr-nm {elf}").quiet().read()?;
    ensure!(!symbols.is_empty(), "{} has no symbols to look at", elf.display());
    let helpers = lint::forbidden_symbols(&symbols);
    ensure!(
        helpers.is_empty(),
        "{}: {} smash the stack; use wrapping multiplications and `overflow-checks = false`",
        elf.display(),
        helpers.join(", ")
    );
    Ok(())
}
