//! What has to be refused. The six refused ciphertexts of the vector files are in `vectors.rs`, the attacks on the submitted
//! decapsulation with the unit tests.
#![cfg(feature = "lab")]

use kem_core::Bytes;
use kem_core::testkit::{KatDrbg, laws};
use oaep_ntru::{EncapsulationKey, N648, N1296, N2592, OaepNtru, OaepNtru648, OaepNtru1296, Params, Secret, Shake256};
use proptest::prelude::*;

struct Pair<P: Params> {
    ek: P::Ek,
    dk: P::Dk,
    ct: P::Ct,
    ss: Secret<P>,
}

impl<P: Params> Pair<P> {
    fn new(rng: &mut KatDrbg) -> Self {
        let mut pair = Self {
            ek: P::Ek::ZERO,
            dk: P::Dk::ZERO,
            ct: P::Ct::ZERO,
            ss: Secret::zeroed(),
        };
        OaepNtru::<P>::generate(rng, &mut pair.ek, &mut pair.dk).expect("the generator works");
        let ek = EncapsulationKey::<P>::parse(pair.ek.as_ref()).expect("own key is canonical");
        OaepNtru::<P>::encapsulate(rng, &ek, &mut pair.ct, &mut pair.ss);
        pair
    }

    fn decapsulated(&self) -> Vec<u8> {
        let mut ss = Secret::<P>::zeroed();
        OaepNtru::<P>::decapsulate(&self.dk, &self.ct, &mut ss);
        ss.expose().as_ref().to_vec()
    }
}

#[test]
fn laws_of_a_kem() {
    laws::<OaepNtru648>(&mut KatDrbg::master());
    laws::<OaepNtru1296>(&mut KatDrbg::master());
    laws::<OaepNtru<N648, Shake256>>(&mut KatDrbg::master());
}

#[test]
fn sizes_in_bytes() {
    fn sizes<P: Params>() -> [usize; 4] {
        [P::Ek::LEN, P::Dk::LEN - 32, P::Ct::LEN, P::Ss::LEN]
    }
    assert_eq!(sizes::<N648>(), [1053, 2138, 1085, 32]);
    assert_eq!(sizes::<N1296>(), [2430, 4924, 2494, 32]);
    assert_eq!(sizes::<N2592>(), [4860, 9848, 4988, 64]);
}

/// All but the secret of a rejected ciphertext depends on nothing that an attacker knows: it is another one for every
/// ciphertext, the same one every time, and never the honest one.
#[test]
fn a_flipped_bit_in_any_byte_of_the_ciphertext_is_rejected() {
    fn check<P: Params>(step: usize) {
        let mut pair = Pair::<P>::new(&mut KatDrbg::master());
        assert_eq!(pair.decapsulated(), pair.ss.expose().as_ref());
        let mut seen = vec![pair.ss.expose().as_ref().to_vec()];
        for at in (0..P::Ct::LEN).step_by(step) {
            let mask = 1 << (at % 8);
            pair.ct.as_mut()[at] ^= mask;
            let rejected = pair.decapsulated();
            assert_eq!(rejected, pair.decapsulated());
            assert!(!seen.contains(&rejected), "byte {at}");
            seen.push(rejected);
            pair.ct.as_mut()[at] ^= mask;
        }
    }
    check::<N648>(1);
    check::<N1296>(7);
    check::<N2592>(31);
}

/// z, and with it the secret after a rejection, is no function of what is public.
#[test]
fn rejection_depends_on_z() {
    fn check<P: Params>() {
        let mut pair = Pair::<P>::new(&mut KatDrbg::master());
        pair.ct.as_mut()[0] ^= 1;
        let rejected = pair.decapsulated();
        pair.dk.as_mut()[P::Dk::LEN - 1] ^= 1;
        assert_ne!(pair.decapsulated(), rejected);
        pair.ct.as_mut()[0] ^= 1;
        assert_eq!(
            pair.decapsulated(),
            pair.ss.expose().as_ref(),
            "an honest ciphertext does not use z"
        );
    }
    check::<N648>();
    check::<N1296>();
    check::<N2592>();
}

/// A tag made under another key does not fit, as both hash the encapsulation key.
#[test]
fn the_key_digest_is_part_of_the_tag() {
    fn check<P: Params>() {
        let mut pair = Pair::<P>::new(&mut KatDrbg::master());
        let at = P::Dk::LEN - 32 - P::Tag::LEN;
        pair.dk.as_mut()[at] ^= 1;
        assert_ne!(pair.decapsulated(), pair.ss.expose().as_ref());
    }
    check::<N648>();
    check::<N1296>();
    check::<N2592>();
}

#[test]
fn keys_of_wrong_length_or_with_a_field_of_q_or_more_are_refused() {
    fn check<P: Params>() {
        let pair = Pair::<P>::new(&mut KatDrbg::master());
        let ek = pair.ek.as_ref();
        assert!(EncapsulationKey::<P>::parse(&ek[1..]).is_err());
        assert!(EncapsulationKey::<P>::parse(&[ek, &[0]].concat()).is_err());
        assert!(EncapsulationKey::<P>::parse(&[]).is_err());
        assert!(OaepNtru::<P>::check_decapsulation_key(&pair.dk).is_ok());
        // The top bits of the last field of a polynomial: with all of them set it is 2^CB - 1 - less than a byte.
        let last = P::Ek::LEN - 1;
        let mut long = ek.to_vec();
        (long[last], long[last - 1]) = (0xff, 0xff);
        assert!(EncapsulationKey::<P>::parse(&long).is_err());
        for last in [last, 2 * last + 1] {
            let mut dk = P::Dk::ZERO;
            dk.as_mut().copy_from_slice(pair.dk.as_ref());
            dk.as_mut()[last - 1..=last].fill(0xff);
            assert!(OaepNtru::<P>::check_decapsulation_key(&dk).is_err());
        }
    }
    check::<N648>();
    check::<N1296>();
    check::<N2592>();
}

/// q itself, the smallest alias, is refused in every position, and q - 1 is not.
#[test]
fn fields_are_compared_with_q_exactly() {
    fn check<P: Params>(q: u64, cb: usize) {
        for at in 0..P::N {
            for (value, canonical) in [(q - 1, true), (q, false)] {
                let mut ek = P::Ek::ZERO;
                let bit = at * cb;
                let bytes = (value << (bit % 8)).to_le_bytes();
                for (place, byte) in ek.as_mut()[bit / 8..].iter_mut().zip(bytes) {
                    *place |= byte;
                }
                assert_eq!(
                    EncapsulationKey::<P>::parse(ek.as_ref()).is_ok(),
                    canonical,
                    "field {at} = {value}"
                );
            }
        }
    }
    check::<N648>(7129, 13);
    check::<N1296>(17497, 15);
    check::<N2592>(28513, 15);
}

/// Not keys and not ciphertexts: no panic, and no honest secret.
#[test]
fn any_bytes_can_be_decapsulated() {
    fn check<P: Params>() {
        let mut pair = Pair::<P>::new(&mut KatDrbg::master());
        for fill in [0x00, 0x55, 0xff] {
            pair.ct.as_mut().fill(fill);
            assert_ne!(pair.decapsulated(), pair.ss.expose().as_ref());
        }
        for fill in [0x00, 0x55, 0xff] {
            pair.dk.as_mut().fill(fill);
            assert_ne!(pair.decapsulated(), pair.ss.expose().as_ref());
        }
    }
    check::<N648>();
    check::<N1296>();
    check::<N2592>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn secrets_agree_and_changed_ciphertexts_do_not(
        seed in prop::collection::vec(any::<u8>(), 48),
        at in any::<prop::sample::Index>(),
        mask in 1u8..,
    ) {
        fn check<P: Params>(seed: &[u8], at: prop::sample::Index, mask: u8) {
            let mut pair = Pair::<P>::new(&mut KatDrbg::new(seed.try_into().expect("48 bytes")));
            assert_eq!(pair.decapsulated(), pair.ss.expose().as_ref());
            pair.ct.as_mut()[at.index(P::Ct::LEN)] ^= mask;
            assert_ne!(pair.decapsulated(), pair.ss.expose().as_ref());
        }
        check::<N648>(&seed, at, mask);
        check::<N1296>(&seed, at, mask);
        check::<N2592>(&seed, at, mask);
    }
}
