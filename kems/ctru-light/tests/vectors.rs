//! Known-answer vectors of both suites, rejection and forged ciphertexts of constant bytes included.

use ctru_light::{AsconXof, CtruLight, Sha3};
use kem_core::testkit::check_file;

#[test]
fn sha3() {
    check_file::<CtruLight<Sha3>>(include_str!("vectors/sha3.json"));
}

#[test]
fn ascon() {
    check_file::<CtruLight<AsconXof>>(include_str!("vectors/ascon.json"));
}
