//! What has to be refused, and what has to be accepted although it looks odd.

use kem_core::ct::Emit;
use kem_core::hash::Sha3_256;
use kem_core::pack::{pack, unpack};
use kem_core::testkit::{KatDrbg, Pair, laws};
use kem_core::{Bytes, Ek, InvalidKey, Kem};
use saber::{FireSaber, LightSaber, Params, Rank2, Rank3, Rank4, Saber, SaberKem};

/// Runs a generic function for the three sets.
macro_rules! for_every_set {
    ($check:ident) => {
        $check::<Rank2>();
        $check::<Rank3>();
        $check::<Rank4>();
    };
}

/// SHA3-256(z, SHA3-256(ct)), the secret after a rejection.
fn rejection<P: Params>(pair: &Pair<SaberKem<P>>) -> [u8; 32] {
    let (mut ct_hash, mut ss) = ([0; 32], [0; 32]);
    Sha3_256::digest(&[pair.ct.as_ref()], &mut ct_hash);
    Sha3_256::digest(&[&pair.dk.as_ref()[P::Dk::LEN - 32..], &ct_hash], &mut ss);
    ss
}

#[test]
fn laws_of_a_kem() {
    laws::<LightSaber>(&mut KatDrbg::master());
    laws::<Saber>(&mut KatDrbg::master());
    laws::<FireSaber>(&mut KatDrbg::master());
}

#[test]
fn a_flipped_bit_in_any_byte_of_the_ciphertext_is_rejected() {
    fn check<P: Params>() {
        let mut pair = Pair::<SaberKem<P>>::new();
        assert_eq!(&pair.decaps(), pair.ss.expose());
        for at in 0..P::Ct::LEN {
            let mask = 1 << (at % 8);
            pair.ct.as_mut()[at] ^= mask;
            assert_eq!(pair.decaps(), rejection(&pair), "byte {at}");
            pair.ct.as_mut()[at] ^= mask;
        }
    }
    for_every_set!(check);
}

/// Decapsulation reads the hash from the key and does not compute it again.
#[test]
fn a_wrong_stored_hash_rejects_honest_ciphertexts() {
    fn check<P: Params>() {
        let mut pair = Pair::<SaberKem<P>>::new();
        pair.dk.as_mut()[P::Dk::LEN - 64] ^= 1;
        assert_eq!(pair.decaps(), rejection(&pair));
        assert_eq!(SaberKem::<P>::check_dk(&pair.dk), Err(InvalidKey));
    }
    for_every_set!(check);
}

/// Re-encryption uses the encapsulation key inside the decapsulation key.
#[test]
fn a_wrong_stored_encapsulation_key_rejects_honest_ciphertexts() {
    fn check<P: Params>() {
        for at in [0, P::Ek::LEN - 1] {
            let mut pair = Pair::<SaberKem<P>>::new();
            pair.dk.as_mut()[416 * P::RANK + at] ^= 1;
            assert_eq!(pair.decaps(), rejection(&pair));
            assert_eq!(SaberKem::<P>::check_dk(&pair.dk), Err(InvalidKey));
        }
    }
    for_every_set!(check);
}

#[test]
fn a_secret_coefficient_out_of_range_is_refused() {
    fn check<P: Params>() {
        let pair = Pair::<SaberKem<P>>::new();
        for (at, c, valid) in [
            (0, P::ETA, true),
            (0, -P::ETA, true),
            (0, P::ETA + 1, false),
            (0, -P::ETA - 1, false),
            (255, 4095, false),
            (256 * P::RANK - 1, -4096, false),
            (256 * P::RANK - 1, P::ETA + 1, false),
        ] {
            let mut dk = P::Dk::ZERO;
            dk.as_mut().copy_from_slice(pair.dk.as_ref());
            let secret = &mut dk.as_mut()[..416 * P::RANK];
            let mut s: Vec<_> = unpack::<13>(secret).collect();
            s[at] = c as u16;
            pack::<13>(s, &mut Emit::new(secret));
            assert_eq!(SaberKem::<P>::check_dk(&dk).is_ok(), valid, "coefficient {at} = {c}");
        }
    }
    for_every_set!(check);
}

/// q and p are powers of two: there is no byte string of the right length that is not a key or a ciphertext.
#[test]
fn every_byte_pattern_is_canonical() {
    fn check<P: Params>() {
        let mut pair = Pair::<SaberKem<P>>::new();
        for fill in [0x00, 0x55, 0xff] {
            pair.ct.as_mut().fill(fill);
            assert_eq!(pair.decaps(), rejection(&pair));
            pair.ek.as_mut().fill(fill);
            let ek = Ek::<SaberKem<P>>::parse(pair.ek.as_ref()).expect("any bytes are a key");
            SaberKem::<P>::encaps_from(&[fill; 32], &ek, &mut pair.ct, &mut pair.ss);
        }
    }
    for_every_set!(check);
}

/// Not a key at all: what comes out is unspecified, that something comes out is not.
#[test]
fn decapsulation_with_a_damaged_key_ends() {
    fn check<P: Params>() {
        let mut pair = Pair::<SaberKem<P>>::new();
        for fill in [0x00, 0x55, 0x77, 0x88, 0xff] {
            pair.dk.as_mut().fill(fill);
            assert_eq!(SaberKem::<P>::check_dk(&pair.dk), Err(InvalidKey));
            assert_eq!(pair.decaps(), rejection(&pair));
        }
    }
    for_every_set!(check);
}

/// A 4-bit encoding of the secret, as some implementations keep it, has another length and is no key here.
#[test]
fn a_key_with_packed_secrets_has_the_wrong_length() {
    assert_eq!(
        (LightSaber::DK_LEN, Saber::DK_LEN, FireSaber::DK_LEN),
        (1568, 2304, 3040)
    );
    assert!(<[u8; Saber::DK_LEN]>::from_slice(&[0; Saber::DK_LEN - 3 * (416 - 128)]).is_none());
}
