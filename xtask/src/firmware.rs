//! The firmware images that ship: build, lint, size, and their known-answer tests in the simulators.

mod image;
mod lint;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use object::{Object, ObjectSection, SectionFlags, SectionKind, elf};
use xshell::{Shell, cmd};

pub(crate) use image::{Board, Credential, IMAGES, Image, folder, lock, simulator, target_folder};

/// Which images.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Only images whose name contains this text, for example atmega1284p-suite-1011.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Also run the known-answer tests of all images without Diffie-Hellman, which are for measurements only. Without it one of
    /// them does.
    #[arg(long)]
    lab: bool,
    /// Build and lint, but do not run the images' known-answer tests.
    #[arg(long)]
    no_self_test: bool,
    /// Lint this AVR image and stop; may be given more than once.
    #[arg(long, value_name = "ELF")]
    lint: Vec<PathBuf>,
}

impl Options {
    /// Whether the image's known-answer tests are to run.
    fn tests(&self, image: &Image, name: &str) -> bool {
        let usual = !image.is_lab() || name.ends_with(LAB_SAMPLE);
        !self.no_self_test && (usual || self.lab || !self.only.is_empty())
    }
}

/// Lints, builds and self-tests the images, and prints what they take.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    if !options.lint.is_empty() {
        return options.lint.iter().try_for_each(|elf| {
            lint_avr(shell, elf)?;
            println!("{}: no trap", elf.display());
            Ok(())
        });
    }
    let simulator = simulator(shell)?;
    println!("| image | flash, B | static RAM, B |\n|---|---:|---:|");
    let mut found = false;
    let images = IMAGES
        .iter()
        .flat_map(|image| image.credentials().iter().map(move |credential| (image, *credential)));
    for (image, credential) in images {
        let name = image.name(credential);
        if !name.contains(&options.only) {
            continue;
        }
        found = true;
        image.lint(shell, credential)?;
        let elf = image.build(shell, credential)?;
        if image.board == Board::Avr {
            lint_avr(shell, &elf)?;
        }
        let sizes = sizes(&elf)?;
        println!("| {name} | {} | {} |", sizes.flash, sizes.ram);
        if options.tests(image, &name) {
            self_test(shell, &simulator, image, &elf).context(name)?;
        }
    }
    ensure!(found, "no image's name contains {:?}", options.only);
    Ok(())
}

/// The image without Diffie-Hellman that every run tests.
const LAB_SAMPLE: &str = "lab-1001";

/// What an image takes before its first instruction.
pub(crate) struct Sizes {
    /// Code, constants and initial values, in bytes.
    pub(crate) flash: u64,
    /// Variables, in bytes; the stack comes on top.
    pub(crate) ram: u64,
}

/// Flash and static RAM of an image.
pub(crate) fn sizes(elf: &Path) -> Result<Sizes> {
    let bytes = fs::read(elf).with_context(|| elf.display().to_string())?;
    let mut sizes = Sizes { flash: 0, ram: 0 };
    for section in object::File::parse(bytes.as_slice())?.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else {
            continue;
        };
        // The chip's EEPROM, or what stands for it.
        let outside = section.name()?.starts_with(".eeprom") || section.name()?.starts_with(".nv");
        if sh_flags & u64::from(elf::SHF_ALLOC) == 0 || outside {
            continue;
        }
        if section.kind() != SectionKind::UninitializedData {
            sizes.flash += section.size();
        }
        if sh_flags & u64::from(elf::SHF_WRITE) != 0 {
            sizes.ram += section.size();
        }
    }
    Ok(sizes)
}

/// Runs the known-answer tests that the image itself holds.
fn self_test(shell: &Shell, simulator: &Path, image: &Image, elf: &Path) -> Result<()> {
    let memory = tempfile::tempdir()?;
    let (nv, size) = (memory.path().join("self-test.nv"), image.board.nv_len());
    cmd!(
        shell,
        "{simulator} provision --nv {nv} --size {size} --at-boot self-test"
    )
    .quiet()
    .run()?;
    let output = std::process::Command::new(simulator)
        .args(["node", "--max-seconds", "300", "--nv"])
        .args([&nv, &elf.to_owned()])
        .stderr(Stdio::inherit())
        .output()?;
    let events = String::from_utf8(output.stdout)?;
    let passed = events.contains("kat done ok");
    ensure!(
        output.status.success() && passed,
        "its known-answer tests fail:\n{events}"
    );
    Ok(())
}

/// Fails when the image holds code that LLVM is known to get wrong.
pub(crate) fn lint_avr(shell: &Shell, elf: &Path) -> Result<()> {
    let listing = cmd!(shell, "avr-objdump -d {elf}").quiet().read()?;
    ensure!(listing.contains(">:"), "{} has no code", elf.display());
    let lost = lint::lost_products(&listing);
    for product in &lost {
        eprintln!("{}: {product}", elf.display());
    }
    ensure!(
        lost.is_empty(),
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
