extern crate std;

use std::{vec, vec::Vec};

use super::*;

fn compiled() -> impl Iterator<Item = AnyKem> {
    KemId::ALL.iter().copied().filter_map(AnyKem::new)
}

fn key_pair(kem: AnyKem) -> (Vec<u8>, Vec<u8>) {
    let (mut ek, mut dk) = (vec![0; kem.id().ek_len()], vec![0; kem.dk_len()]);
    kem.keygen(&mut Drbg::broker(&[1; 32]), &mut ek, &mut dk).unwrap();
    (ek, dk)
}

#[test]
fn an_offer_is_accepted_with_the_key_it_was_made_of() {
    for kem in compiled() {
        let (mut rng, mut ek) = (Drbg::broker(&[1; 32]), vec![0; kem.id().ek_len()]);
        let offer = kem.offer(&mut rng, &mut ek).unwrap();
        let (same, dk) = key_pair(kem);
        assert_eq!(ek, same, "{kem:?}: the draws of a key generation");
        let (mut ct, mut sent) = (vec![0; kem.id().ct_len()], SharedSecret::zeroed());
        kem.encaps(&mut rng, &ek, &mut ct, &mut sent).unwrap();
        let (mut accepted, mut opened) = (SharedSecret::zeroed(), SharedSecret::zeroed());
        kem.accept(offer, &ct, &mut accepted).unwrap();
        kem.decaps(&dk, &[0; 32], &ct, &mut opened).unwrap();
        assert!(
            sent.expose() == accepted.expose() && sent.expose() == opened.expose(),
            "{kem:?}"
        );
    }
}

#[test]
fn a_forged_ciphertext_gives_a_secret_that_depends_on_key_and_ciphertext() {
    for kem in compiled() {
        let (_, dk) = key_pair(kem);
        let secret = |z: u8, byte: u8| {
            let mut ss = SharedSecret::zeroed();
            kem.decaps(&dk, &[z; 32], &vec![byte; kem.id().ct_len()], &mut ss)
                .unwrap();
            *ss.expose()
        };
        assert_ne!(secret(1, 0), [0; 32], "{kem:?}");
        assert_ne!(secret(1, 0), secret(1, 1), "{kem:?}");
        assert_eq!(secret(1, 1), secret(1, 1), "{kem:?}");
    }
}

/// Where the scheme itself says no, HKM1 goes on with H("HKM1 reject" | z | ct). Expected value: Python's hashlib.
#[cfg(feature = "ntru-plus")]
#[test]
fn explicit_rejection_becomes_the_secret_of_the_protocol() {
    let kem = AnyKem::new(KemId::NtruPlus768).unwrap();
    let (_, dk) = key_pair(kem);
    let mut ss = SharedSecret::zeroed();
    kem.decaps(&dk, &[0x5a; 32], &[0; 1152], &mut ss).unwrap();
    let expected = "699377480ca8d2ba27b9c9cdf49c88011febc0454a65eac9851d13a6f2e6d422";
    assert_eq!(hex::encode(ss.expose()), expected);
}

#[test]
fn lengths_are_checked() {
    for kem in compiled() {
        let (ek, dk) = key_pair(kem);
        let (mut rng, mut ss) = (Drbg::broker(&[1; 32]), SharedSecret::zeroed());
        let mut ct = vec![0; kem.id().ct_len()];
        assert_eq!(kem.check_ek(&ek), Ok(()));
        assert_eq!(kem.check_ek(&ek[1..]), Err(Error::Rejected));
        assert_eq!(kem.check_dk(&dk), Ok(()));
        assert_eq!(kem.check_dk(&dk[1..]), Err(Error::Rejected));
        assert_eq!(kem.encaps(&mut rng, &ek[1..], &mut ct, &mut ss), Err(Error::Rejected));
        assert_eq!(kem.encaps(&mut rng, &ek, &mut ct[1..], &mut ss), Err(Error::Misuse));
        assert_eq!(kem.decaps(&dk[1..], &[0; 32], &ct, &mut ss), Err(Error::Misuse));
        assert_eq!(kem.decaps(&dk, &[0; 32], &ct[1..], &mut ss), Err(Error::Rejected));
        assert_eq!(kem.offer(&mut rng, &mut ct[..5]).err(), Some(Error::Misuse));
    }
}
