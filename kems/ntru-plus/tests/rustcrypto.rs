//! The `kem` traits, through code that knows nothing but them.
#![cfg(feature = "rustcrypto")]

use kem_core::{
    Rejected,
    rustcrypto::{DecapsulationKey, Explicit},
    testkit::KatDrbg,
};
use ml_kem::kem::{Decapsulator, Encapsulate, Kem, KeyExport, TryDecapsulate, TryKeyInit};
use ntru_plus::{NtruPlus, NtruPlus768, NtruPlus864, NtruPlus1152, P768, V2_2};

#[test]
fn generic_code_runs_with_every_set() {
    exercise::<Explicit<NtruPlus768>>();
    exercise::<Explicit<NtruPlus864>>();
    exercise::<Explicit<NtruPlus1152>>();
    exercise::<Explicit<NtruPlus<P768, V2_2>>>();
}

fn exercise<K: Kem<DecapsulationKey: TryDecapsulate<Error = Rejected>>>() {
    let rng = &mut KatDrbg::new(&[1; 48]);
    let (dk, ek) = K::generate_keypair_from_rng(rng);
    let (mut ct, sent) = ek.encapsulate_with_rng(rng);
    assert!(dk.try_decapsulate(&ct) == Ok(sent));
    ct[0] ^= 1;
    assert!(dk.try_decapsulate(&ct) == Err(Rejected));
    let copy = K::EncapsulationKey::new(&ek.to_bytes()).expect("own key");
    assert!(copy == ek && dk.encapsulation_key() == &ek);
}

#[test]
fn keys_are_checked_when_they_are_loaded() {
    type Key = DecapsulationKey<Explicit<NtruPlus768>>;
    let dk = (1..)
        .find_map(|seed| Key::from_coins(&[seed; 64]).ok())
        .expect("most seeds are good");
    let (mut ek_bytes, mut dk_bytes) = (dk.encapsulation_key().to_bytes(), *dk.expose());
    assert!(Key::from_parts(&ek_bytes, &dk_bytes).is_ok());
    dk_bytes[2335] ^= 1;
    assert!(Key::from_parts(&ek_bytes, &dk_bytes).is_err());
    dk_bytes[2335] ^= 1;
    ek_bytes[..2].fill(0xff);
    assert!(Key::from_parts(&ek_bytes, &dk_bytes).is_err());
}
