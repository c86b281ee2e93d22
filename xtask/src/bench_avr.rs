//! Cycles, stack and flash of every operation on an ATmega1284P, cycle-exact in simavr: one firmware image for each group of
//! rows.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::{
    bench::{self, Row},
    firmware::lint_avr,
};

/// What to measure and how to print it.
#[derive(Args)]
pub(crate) struct Options {
    /// JSON rows instead of a table.
    #[arg(long)]
    json: bool,
    /// Only rows whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Compare the assembly with its portable twins and the KEMs with their known answers, measure nothing.
    #[arg(long, conflicts_with_all = ["json", "only"])]
    check: bool,
}

/// Builds, runs and prints.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    if options.check {
        return check(shell);
    }
    simulator(shell)?;
    let only = options.only.as_deref().unwrap_or_default();
    let empty = report(shell, &build(shell, &Image::plain("none", &[]), CHIPS[0])?, CHIPS[0])?;
    let mut rows = Vec::new();
    for image in IMAGES {
        if image.rows.iter().any(|(_, name)| name.contains(only)) {
            rows.extend(measure(shell, image, empty.flash)?);
        }
    }
    bench::print(rows, options.only.as_deref(), options.json)
}

/// Runs the programs that compare, on both sizes of return address, and the KEMs with their known answers.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    simulator(shell)?;
    for (name, features, chip) in CHECKS {
        let elf = build(shell, &Image::plain(name, &[]).features(features), chip)?;
        report(shell, &elf, chip)?;
        println!("ok   {name} on {chip}");
    }
    for image in IMAGES.iter().filter(|image| image.fits.is_none()) {
        let elf = build(shell, image, CHIPS[0])?;
        let report = report(shell, &elf, CHIPS[0])?;
        for id in image.steady {
            let mut cycles = report
                .marks
                .iter()
                .filter(|mark| mark.id == *id)
                .map(|mark| mark.cycles);
            let first = cycles.next();
            ensure!(
                first.is_some() && cycles.all(|cycles| Some(cycles) == first),
                "{}: the time of mark {id} depends on secrets",
                image.program
            );
        }
        println!("ok   {}", image.program);
    }
    Ok(())
}

/// What `kemqtt-sim avr --json` prints.
#[derive(Deserialize)]
struct Report {
    exit: u8,
    flash: u64,
    marks: Vec<Mark>,
}

#[derive(Deserialize)]
struct Mark {
    id: u8,
    cycles: u64,
    stack: u64,
}

/// A program of the firmware's folder.
struct Image {
    program: &'static str,
    /// Mark and name of each row.
    rows: &'static [(u8, &'static str)],
    /// Marks whose time must not depend on anything.
    steady: &'static [u8],
    /// Cargo features.
    features: &'static str,
    /// Optimisation level.
    level: &'static str,
    /// Why it cannot be run.
    fits: Option<&'static str>,
}

impl Image {
    const fn plain(program: &'static str, rows: &'static [(u8, &'static str)]) -> Self {
        Self {
            program,
            rows,
            steady: &[],
            features: "",
            level: "s",
            fits: None,
        }
    }

    const fn steady(self, steady: &'static [u8]) -> Self {
        Self { steady, ..self }
    }

    const fn features(self, features: &'static str) -> Self {
        Self { features, ..self }
    }

    const fn level(self, level: &'static str) -> Self {
        Self { level, ..self }
    }

    const fn does_not_fit(self, reason: &'static str) -> Self {
        Self {
            fits: Some(reason),
            ..self
        }
    }
}

/// The first one is measured; the second one has return addresses of three bytes.
const CHIPS: [&str; 2] = ["atmega1284p", "atmega2560"];
const FIRMWARE: &str = "sensor-node/bench/avr";
const SIMULATOR: &str = "sensor-node/sim";
/// Programs that compare, with which features, and where: the 8 KB of an ATmega2560 do not hold the polynomials of the KEMs.
const CHECKS: [(&str, &str, &str); 9] = [
    ("check_symmetric", "", CHIPS[0]),
    ("check_symmetric", "", CHIPS[1]),
    ("check_x25519", "", CHIPS[0]),
    ("check_x25519", "", CHIPS[1]),
    ("check_x25519_comb", "x25519-comb", CHIPS[0]),
    ("check_x25519_comb", "x25519-comb", CHIPS[1]),
    ("check_ctru_light", "", CHIPS[0]),
    ("check_saber", "", CHIPS[0]),
    ("check_kyber", "", CHIPS[0]),
];

/// Groups of rows. At level `s` LLVM loses products of NTRU+'s inversion, which the lint finds; `2` gives right code.
const IMAGES: &[Image] = &[
    Image::plain(
        "permutations",
        &[
            (1, "ascon-p12/permutation"),
            (2, "ascon-p8/permutation"),
            (3, "keccak-f1600/permutation"),
        ],
    )
    .steady(&[1, 2, 3]),
    Image::plain("sha256", &[(1, "sha256/block")]).steady(&[1]),
    Image::plain("hkdf", &[(1, "hkdf-sha256/expand-32")]).steady(&[1]),
    Image::plain("x25519", &[(1, "x25519/scalarmult"), (2, "x25519/keygen")]).steady(&[1, 2]),
    Image::plain("x25519_comb", &[(1, "x25519/keygen-comb")])
        .features("x25519-comb")
        .steady(&[1]),
    Image::plain(
        "ascon_aead",
        &[(1, "ascon-aead128/seal-64"), (2, "ascon-aead128/open-64")],
    )
    .steady(&[1, 2]),
    Image::plain(
        "chacha20_poly1305",
        &[(1, "chacha20-poly1305/seal-64"), (2, "chacha20-poly1305/open-64")],
    )
    .steady(&[1, 2]),
    Image::plain(
        "ctru_light_arithmetic",
        &[
            (1, "ctru-light-769/ntt"),
            (2, "ctru-light-769/baseinv"),
            (3, "ctru-light-769/basemul"),
            (4, "ctru-light-769/inverse-ntt"),
        ],
    )
    .steady(&[1, 2, 3, 4]),
    Image::plain(
        "ctru_light_ascon",
        &[
            (1, "ctru-light-ascon/keygen"),
            (2, "ctru-light-ascon/encaps"),
            (3, "ctru-light-ascon/decaps"),
        ],
    )
    .steady(&[1, 2, 3, 4]),
    Image::plain(
        "ctru_light_sha3",
        &[
            (1, "ctru-light-sha3/keygen"),
            (2, "ctru-light-sha3/encaps"),
            (3, "ctru-light-sha3/decaps"),
        ],
    )
    .steady(&[1, 2, 3, 4]),
    Image::plain(
        "kyber_arithmetic",
        &[
            (1, "kyber-3329/ntt"),
            (2, "kyber-3329/basemul"),
            (3, "kyber-3329/inverse-ntt"),
        ],
    )
    .steady(&[1, 2, 3]),
    Image::plain(
        "ml_kem_512",
        &[
            (1, "ml-kem-512/keygen"),
            (2, "ml-kem-512/encaps"),
            (3, "ml-kem-512/decaps"),
        ],
    ),
    Image::plain(
        "kyber512",
        &[(1, "kyber512/keygen"), (2, "kyber512/encaps"), (3, "kyber512/decaps")],
    ),
    Image::plain(
        "lightsaber",
        &[
            (1, "lightsaber/keygen"),
            (2, "lightsaber/encaps"),
            (3, "lightsaber/decaps"),
        ],
    )
    .steady(&[1, 2, 3, 4]),
    Image::plain(
        "ntru_plus_768_final",
        &[
            (1, "ntru-plus-768-final/keygen"),
            (2, "ntru-plus-768-final/encaps"),
            (3, "ntru-plus-768-final/decaps"),
        ],
    )
    .level("2"),
    Image::plain(
        "ntru_plus_768_v2_2",
        &[
            (1, "ntru-plus-768-v2.2/keygen"),
            (2, "ntru-plus-768-v2.2/encaps"),
            (3, "ntru-plus-768-v2.2/decaps"),
        ],
    )
    .level("2"),
    Image::plain(
        "ntruhps2048509",
        &[
            (1, "ntruhps2048509/keygen"),
            (2, "ntruhps2048509/encaps"),
            (3, "ntruhps2048509/decaps"),
        ],
    )
    .does_not_fit("does not fit: the coins alone take 4.9 KB beside polynomials of 1 KB each"),
];

fn simulator(shell: &Shell) -> Result<()> {
    Ok(cmd!(
        shell,
        "cargo build --quiet --locked --manifest-path {SIMULATOR}/Cargo.toml --target-dir {SIMULATOR}/target"
    )
    .quiet()
    .run()?)
}

/// Builds one image and looks for LLVM's known mistakes in it.
fn build(shell: &Shell, image: &Image, chip: &str) -> Result<PathBuf> {
    let folder = shell.push_dir(FIRMWARE);
    let _bootstrap = shell.push_env("RUSTC_BOOTSTRAP", "1");
    let _level = shell.push_env("CARGO_PROFILE_RELEASE_OPT_LEVEL", image.level);
    // Replaces the flags in the firmware's own `.cargo/config.toml`, so that it repeats them.
    let flags = format!("-C target-cpu={chip} --cfg sha2_backend_soft=\"compact\"");
    let _flags = shell.push_env("RUSTFLAGS", flags);
    let (program, features) = (image.program, image.features);
    let target = format!("target/{chip}-{}", image.level);
    // avr-gcc refuses an option that rustc then leaves out, with a warning for every image.
    let output = cmd!(
        shell,
        "cargo build --quiet --release --locked --target-dir {target} --bin {program} --features={features}"
    )
    .quiet()
    .ignore_status()
    .output()?;
    ensure!(
        output.status.success(),
        "{program} does not build: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    drop(folder);
    let elf = Path::new(FIRMWARE)
        .join(target)
        .join(format!("avr-none/release/{program}.elf"));
    lint_avr(shell, &elf)?;
    Ok(elf)
}

/// Runs an image to its end.
fn report(shell: &Shell, elf: &Path, chip: &str) -> Result<Report> {
    let output = cmd!(
        shell,
        "{SIMULATOR}/target/debug/kemqtt-sim avr --json --mcu {chip} {elf}"
    )
    .quiet()
    .ignore_status()
    .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with('{')).context("no report")?;
    let report: Report = serde_json::from_str(line)?;
    ensure!(
        report.exit == 0,
        "{} failed on {chip} with code {}",
        elf.display(),
        report.exit
    );
    Ok(report)
}

fn measure(shell: &Shell, image: &Image, empty: u64) -> Result<Vec<Row>> {
    if let Some(reason) = image.fits {
        return Ok(image.rows.iter().map(|(_, name)| Row::missing(name, reason)).collect());
    }
    let report = report(shell, &build(shell, image, CHIPS[0])?, CHIPS[0])?;
    let flash = report.flash.saturating_sub(empty);
    image
        .rows
        .iter()
        .map(|&(id, name)| {
            let marks = report.marks.iter().filter(|mark| mark.id == id);
            Row::of_runs(name, marks.map(|mark| (mark.cycles, mark.stack)), flash)
        })
        .collect()
}
