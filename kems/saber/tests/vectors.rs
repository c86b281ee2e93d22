//! Official bytes: vectors of the reference implementation, and the digests of the submitted KAT files.

use kem_core::testkit::{check_file, check_kat};
use saber::{FireSaber, LightSaber, Saber};

const LIGHTSABER: &str = include_str!("vectors/lightsaber.json");
const SABER: &str = include_str!("vectors/saber.json");
const FIRESABER: &str = include_str!("vectors/firesaber.json");

#[test]
fn lightsaber() {
    check_file::<LightSaber>(LIGHTSABER);
}

#[test]
fn saber() {
    check_file::<Saber>(SABER);
}

#[test]
fn firesaber() {
    check_file::<FireSaber>(FIRESABER);
}

#[test]
fn kat_file_of_lightsaber() {
    check_kat::<LightSaber>(LIGHTSABER);
}

#[test]
fn kat_file_of_saber() {
    check_kat::<Saber>(SABER);
}

#[test]
fn kat_file_of_firesaber() {
    check_kat::<FireSaber>(FIRESABER);
}
