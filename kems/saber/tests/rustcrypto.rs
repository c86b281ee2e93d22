//! The three sets behind the traits of the `kem` crate.
#![cfg(feature = "rustcrypto")]

use kem::{Decapsulate, Decapsulator, Encapsulate, Kem, KeyExport, TryKeyInit};
use kem_core::rustcrypto::{DecapsulationKey, Implicit};
use kem_core::testkit::{File, KatDrbg};
use saber::{FireSaber, LightSaber, Saber};

#[test]
fn generic_code_runs_with_every_set() {
    fn check<K: Kem<DecapsulationKey: Decapsulate>>() {
        let mut rng = KatDrbg::master();
        let (dk, ek) = K::generate_keypair_from_rng(&mut rng);
        let (mut ct, sent) = ek.encapsulate_with_rng(&mut rng);
        assert!(dk.decapsulate(&ct) == sent);
        ct[0] ^= 1;
        assert!(dk.decapsulate(&ct) != sent);
        let copy = K::EncapsulationKey::new(&ek.to_bytes()).expect("own key");
        assert!(copy == ek && dk.encapsulation_key() == &ek);
    }
    check::<Implicit<LightSaber>>();
    check::<Implicit<Saber>>();
    check::<Implicit<FireSaber>>();
}

#[test]
fn vectors_hold_and_damaged_keys_are_refused_behind_the_traits() {
    let file: File = serde_json::from_str(include_str!("vectors/saber.json")).expect("vector file parses");
    let vector = &file.vectors[0];
    let mut stored = vector.dk.as_ref().expect("no digest in its place").to_vec();
    let dk = DecapsulationKey::<Implicit<Saber>>::from_parts(&vector.ek, &stored).expect("own key");
    let ct = vector.ct[..].try_into().expect("1088 bytes");
    assert_eq!(dk.decapsulate(&ct)[..], vector.ss[..]);
    stored[1] ^= 0x08;
    assert!(DecapsulationKey::<Implicit<Saber>>::from_parts(&vector.ek, &stored).is_err());
}
