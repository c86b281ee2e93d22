//! Both suites behind the `kem` traits.
#![cfg(feature = "rustcrypto")]

use ctru_light::{AsconXof, CtruLight, Sha3};
use kem_core::rustcrypto::{DecapsulationKey, EncapsulationKey, Implicit};
use kem_core::testkit::{File, KatDrbg};
use ml_kem::kem::{Decapsulate, Decapsulator, Encapsulate, Kem, KeyExport, TryKeyInit};

type Light = Implicit<CtruLight<Sha3>>;

fn exercise<K: Kem<DecapsulationKey: Decapsulate>>(rng: &mut KatDrbg) {
    let (dk, ek) = K::generate_keypair_from_rng(rng);
    let (mut ct, sent) = ek.encapsulate_with_rng(rng);
    assert!(dk.decapsulate(&ct) == sent);
    ct[0] ^= 1;
    assert!(dk.decapsulate(&ct) != sent);
    let copy = K::EncapsulationKey::new(&ek.to_bytes()).expect("own key");
    assert!(copy == ek && dk.encapsulation_key() == &ek);
}

#[test]
fn generic_code_runs_with_both_suites() {
    let mut rng = KatDrbg::new(&[1; 48]);
    exercise::<Light>(&mut rng);
    exercise::<Implicit<CtruLight<AsconXof>>>(&mut rng);
}

#[test]
fn vectors_hold_behind_the_traits() {
    let file: File = serde_json::from_str(include_str!("vectors/sha3.json")).expect("vector file parses");
    for vector in file.vectors {
        let stored = vector.dk.expect("these vectors have keys");
        let dk = DecapsulationKey::<Light>::from_parts(&vector.ek, &stored).expect("own key");
        let ct = vector.ct[..].try_into().expect("512 bytes");
        assert_eq!(dk.decapsulate(&ct)[..], vector.ss[..]);
    }
}

#[test]
fn keys_are_checked() {
    let dk = DecapsulationKey::<Light>::from_coins(&[4; 64]).expect("invertible");
    let (ek_bytes, mut dk_bytes) = (dk.encapsulation_key().to_bytes(), *dk.expose());
    assert!(DecapsulationKey::<Light>::from_parts(&ek_bytes, &dk_bytes).is_ok());
    dk_bytes[100] ^= 1;
    assert!(DecapsulationKey::<Light>::from_parts(&ek_bytes, &dk_bytes).is_err());

    let mut noncanonical = ek_bytes;
    noncanonical[..2].fill(0xff);
    assert!(EncapsulationKey::<Light>::new(&noncanonical).is_err());
}
