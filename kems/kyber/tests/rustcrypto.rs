//! The `kem` traits, through code that knows nothing but them, and across crates.
#![cfg(feature = "rustcrypto")]

use kem_core::rustcrypto::{DecapsulationKey, EncapsulationKey, Implicit};
use kem_core::testkit::KatDrbg;
use ml_kem::kem::{Decapsulate, Decapsulator, Encapsulate, Kem, KeyExport, TryKeyInit};

type Ours = Implicit<kyber::MlKem768>;

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
fn generic_code_runs_with_either_crate() {
    let mut rng = KatDrbg::new(&[1; 48]);
    exercise::<Ours>(&mut rng);
    exercise::<Implicit<kyber::MlKem512>>(&mut rng);
    exercise::<Implicit<kyber::MlKem1024>>(&mut rng);
    exercise::<Implicit<kyber::Kyber768>>(&mut rng);
    exercise::<ml_kem::MlKem768>(&mut rng);
}

/// The same generator gives the same encapsulation key, ciphertext and secret through both crates. (For z the other crate
/// makes a request of its own, so the generators part there.)
#[test]
fn agrees_with_the_ml_kem_crate() {
    let rng = |seed| KatDrbg::new(&[seed; 48]);
    let (_, ek) = Ours::generate_keypair_from_rng(&mut rng(2));
    let (their_dk, their_ek) = ml_kem::MlKem768::generate_keypair_from_rng(&mut rng(2));
    assert_eq!(ek.to_bytes(), their_ek.to_bytes());
    let (ct, ss) = ek.encapsulate_with_rng(&mut rng(3));
    assert_eq!((ct, ss), their_ek.encapsulate_with_rng(&mut rng(3)));
    assert_eq!(their_dk.decapsulate(&ct), ss);

    let coins = [6; 64];
    let dk = DecapsulationKey::<Ours>::from_coins(&coins).expect("never fails");
    let their_dk = ml_kem::DecapsulationKey::<ml_kem::MlKem768>::from_seed(coins.into());
    let (ct, ss) = their_dk.encapsulation_key().encapsulate_with_rng(&mut rng(4));
    assert_eq!(dk.decapsulate(&ct), ss);
    let mut forged = ct;
    forged[1087] ^= 1;
    assert_eq!(dk.decapsulate(&forged), their_dk.decapsulate(&forged));
}

#[test]
fn stored_keys_are_checked() {
    let dk = DecapsulationKey::<Ours>::from_coins(&[4; 64]).expect("never fails");
    let (ek_bytes, mut dk_bytes) = (dk.encapsulation_key().to_bytes(), *dk.expose());
    assert!(DecapsulationKey::<Ours>::from_parts(&ek_bytes, &dk_bytes).is_ok());
    assert!(DecapsulationKey::<Ours>::from_parts(&ek_bytes, &dk_bytes[1..]).is_err());
    assert!(DecapsulationKey::<Ours>::from_parts(&ek_bytes[1..], &dk_bytes).is_err());
    dk_bytes[2336] ^= 1;
    assert!(DecapsulationKey::<Ours>::from_parts(&ek_bytes, &dk_bytes).is_err());

    let mut noncanonical = ek_bytes;
    noncanonical[..2].fill(0xff);
    assert!(EncapsulationKey::<Ours>::new(&noncanonical).is_err());
}
