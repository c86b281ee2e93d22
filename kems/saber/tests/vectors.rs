//! Official bytes: vectors of the reference implementation, and the digests of the submitted KAT files.

use kem_core::testkit::{Hex, check_file, check_kat};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use saber::{FireSaber, LightSaber, Saber};
use serde::Deserialize;
use sha2::{Digest, Sha256};

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

/// Randomness of one bits only. The reference run kept no more than a digest of the decapsulation key.
#[derive(Deserialize)]
struct AllOnes {
    keygen_coins: Hex,
    encaps_coins: Hex,
    ek: Hex,
    dk_sha256: String,
    ct: Hex,
    ss: Hex,
}

#[test]
fn all_ones() {
    let [light, main, fire]: [AllOnes; 3] =
        serde_json::from_str(include_str!("vectors/all-ones.json")).expect("vector file parses");
    check_all_ones::<LightSaber>(&light);
    check_all_ones::<Saber>(&main);
    check_all_ones::<FireSaber>(&fire);
}

fn check_all_ones<K: Kem>(v: &AllOnes) {
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let mut ss = SharedSecret::zeroed();
    K::keygen_from(sized(&v.keygen_coins), &mut ek, &mut dk).expect("never fails");
    assert_eq!(ek.as_ref(), &v.ek[..]);
    assert_eq!(hex::encode(Sha256::digest(&dk)), v.dk_sha256);
    K::encaps_from(
        sized(&v.encaps_coins),
        &Ek::parse(&v.ek).expect("right length"),
        &mut ct,
        &mut ss,
    );
    assert_eq!((ct.as_ref(), &ss.expose()[..]), (&v.ct[..], &v.ss[..]));
}

fn sized<B: Bytes>(bytes: &[u8]) -> &B {
    B::from_slice(bytes).expect("right length")
}
