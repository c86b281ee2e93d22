//! What has to be refused, and what has to be accepted although it looks odd.

use kem_core::hash::Sha3_256;
use kem_core::testkit::{KatDrbg, Pair, Recorder, laws};
use kem_core::{Bytes, Ek, InvalidKey, Kem, SharedSecret};
use ntru::{Hps509, Hps677, Hps821, Hrss701, Ntru, NtruHps4096821, NtruHrss701, Params};

/// Runs a generic function for the four sets.
macro_rules! for_every_set {
    ($check:ident) => {
        $check::<Hps509>();
        $check::<Hps677>();
        $check::<Hps821>();
        $check::<Hrss701>();
    };
}

/// SHA3-256(prf key, ct), the secret after a rejection.
fn rejection<P: Params>(pair: &Pair<Ntru<P>>) -> [u8; 32] {
    let mut ss = [0; 32];
    Sha3_256::digest(&[&pair.dk.as_ref()[P::Dk::LEN - 32..], pair.ct.as_ref()], &mut ss);
    ss
}

#[test]
fn laws_of_a_kem() {
    fn check<P: Params>() {
        laws::<Ntru<P>>(&mut KatDrbg::master());
    }
    for_every_set!(check);
}

#[test]
fn a_flipped_bit_in_any_byte_of_the_ciphertext_is_rejected() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        assert_eq!(&pair.decaps(), pair.ss.expose());
        for at in 0..P::Ct::LEN {
            let mask = 1 << if (P::N, at) == ANOTHER_MESSAGE { 0 } else { at % 8 };
            pair.ct.as_mut()[at] ^= mask;
            assert_eq!(pair.decaps(), rejection(&pair), "byte {at}");
            pair.ct.as_mut()[at] ^= mask;
        }
    }
    for_every_set!(check);
}

/// Modulo q the lowest bit of coefficient n - 2 is worth (x - 1) x^(n - 2), and the last coefficient follows: with HRSS that
/// is the encryption of another m under the same r. It is no forgery, and its secret is unrelated.
#[test]
fn one_bit_of_an_hrss_ciphertext_leads_to_another_message() {
    let mut pair = Pair::<NtruHrss701>::new();
    assert_eq!(8 * ANOTHER_MESSAGE.1 + 7, 13 * 699);
    pair.ct[ANOTHER_MESSAGE.1] ^= 0x80;
    assert_ne!(pair.decaps(), rejection(&pair));
    assert_ne!(&pair.decaps(), pair.ss.expose());
}

/// n, and the byte in which it happens.
const ANOTHER_MESSAGE: (usize, usize) = (701, 1135);

/// r and m decrypt as ever; only the ciphertext is another one.
#[test]
fn every_unused_bit_of_the_ciphertext_is_checked() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        let last = P::Ct::LEN - 1;
        assert_eq!(pair.ct.as_ref()[last] >> 4, 0);
        for bit in 4..8 {
            pair.ct.as_mut()[last] ^= 1 << bit;
            assert_eq!(pair.decaps(), rejection(&pair), "bit {bit}");
            pair.ct.as_mut()[last] ^= 1 << bit;
        }
    }
    check::<Hps509>();
    check::<Hps677>();
    check::<Hrss701>();
    assert_eq!(8 * NtruHps4096821::CT_LEN, 12 * 820, "ntruhps4096821 has none");
}

/// Zero decrypts to r = 0 and m = 0, which HRSS allows and the weight of HPS does not.
#[test]
fn the_zero_ciphertext_is_valid_for_hrss_only() {
    fn check<P: Params>(valid: bool) {
        let mut pair = Pair::<Ntru<P>>::new();
        pair.ct = P::Ct::ZERO;
        let (mut zero, trits) = ([0; 32], vec![0; 2 * (P::N - 1).div_ceil(5)]);
        Sha3_256::digest(&[&trits], &mut zero);
        assert_ne!(zero, rejection(&pair));
        assert_eq!(pair.decaps(), if valid { zero } else { rejection(&pair) });
    }
    check::<Hps509>(false);
    check::<Hps677>(false);
    check::<Hps821>(false);
    check::<Hrss701>(true);
}

/// The specification ignores them: the encapsulation key is not hashed.
#[test]
fn unused_bits_of_the_encapsulation_key_are_ignored() {
    let pair = Pair::<NtruHrss701>::new();
    let mut ek = pair.ek;
    ek[NtruHrss701::EK_LEN - 1] ^= 0xf0;
    let (mut ct, mut other) = ([0; NtruHrss701::CT_LEN], [0; NtruHrss701::CT_LEN]);
    let (mut ss, mut other_ss) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    let coins = [0x5a; 1400];
    NtruHrss701::encaps_from(&coins, &Ek::parse(&pair.ek).expect("right length"), &mut ct, &mut ss);
    NtruHrss701::encaps_from(
        &coins,
        &Ek::parse(&ek).expect("right length"),
        &mut other,
        &mut other_ss,
    );
    assert_eq!((ct, ss.expose()), (other, other_ss.expose()));
}

/// q is a power of two: there is no byte string of the right length that is not a key or a ciphertext.
#[test]
fn every_byte_pattern_is_canonical() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        for fill in [0x55, 0xaa, 0xff] {
            pair.ct.as_mut().fill(fill);
            assert_eq!(pair.decaps(), rejection(&pair));
            pair.ek.as_mut().fill(fill);
            let ek = Ek::<Ntru<P>>::parse(pair.ek.as_ref()).expect("any bytes are a key");
            let mut coins = P::EncapsCoins::ZERO;
            coins.as_mut().fill(fill);
            Ntru::<P>::encaps_from(&coins, &ek, &mut pair.ct, &mut pair.ss);
        }
    }
    for_every_set!(check);
}

#[test]
fn a_damaged_f_or_inverse_is_refused() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        let trits = (P::N - 1).div_ceil(5);
        assert!(Ntru::<P>::check_dk(&pair.dk).is_ok());
        for at in [0, trits - 2, trits, 2 * trits - 2] {
            let original = pair.dk.as_ref()[at];
            // Another coefficient, and a byte that is not five of them.
            for byte in [original ^ 1, 243, 255] {
                pair.dk.as_mut()[at] = byte;
                assert_eq!(Ntru::<P>::check_dk(&pair.dk), Err(InvalidKey), "byte {at} = {byte}");
            }
            pair.dk.as_mut()[at] = original;
        }
        assert!(Ntru::<P>::check_dk(&pair.dk).is_ok());
    }
    for_every_set!(check);
}

/// 508, 676 and 700 coefficients fill the last byte differently: three, one, five.
#[test]
fn a_last_byte_beyond_its_coefficients_is_refused() {
    fn check<P: Params>(places: u32) {
        let mut pair = Pair::<Ntru<P>>::new();
        let last = (P::N - 1).div_ceil(5) - 1;
        assert!(u32::from(pair.dk.as_ref()[last]) < 3u32.pow(places));
        // The same coefficients, so that only the encoding is wrong.
        pair.dk.as_mut()[last] += 3u8.pow(places);
        assert_eq!(Ntru::<P>::check_dk(&pair.dk), Err(InvalidKey));
    }
    check::<Hps509>(3);
    check::<Hps677>(1);
}

#[test]
fn a_zero_f_is_refused() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        pair.dk.as_mut()[..2 * (P::N - 1).div_ceil(5)].fill(0);
        assert_eq!(Ntru::<P>::check_dk(&pair.dk), Err(InvalidKey));
    }
    for_every_set!(check);
}

/// The third part is the inverse of h modulo Phi: its damage shows in r.
#[test]
fn a_damaged_inverse_of_h_rejects_honest_ciphertexts() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        pair.dk.as_mut()[2 * (P::N - 1).div_ceil(5) + 7] ^= 1;
        assert_eq!(pair.decaps(), rejection(&pair));
    }
    for_every_set!(check);
}

/// Not a key at all: what comes out is unspecified, that something comes out is not.
#[test]
fn decapsulation_with_a_damaged_key_ends() {
    fn check<P: Params>() {
        let mut pair = Pair::<Ntru<P>>::new();
        for fill in [0x00, 0x55, 0xf2, 0xff] {
            pair.dk.as_mut().fill(fill);
            assert_eq!(Ntru::<P>::check_dk(&pair.dk), Err(InvalidKey));
            let ss = pair.decaps();
            // With zero in place of every part, HRSS decrypts everything to r = 0 and m = 0.
            assert!(ss == rejection(&pair) || P::N == 701 && fill == 0);
        }
    }
    for_every_set!(check);
}

/// A generator as the KAT's gives other bytes for one request than for two.
#[test]
fn randomness_is_requested_as_the_specification_requests_it() {
    fn check<P: Params>() {
        let mut rng = Recorder::default();
        let mut pair = Pair::<Ntru<P>>::new();
        Ntru::<P>::keygen(&mut rng, &mut pair.ek, &mut pair.dk).expect("never fails");
        let ek = Ek::<Ntru<P>>::parse(pair.ek.as_ref()).expect("right length");
        Ntru::<P>::encaps(&mut rng, &ek, &mut pair.ct, &mut pair.ss);
        assert_eq!(rng.requests, [P::EncapsCoins::LEN, 32, P::EncapsCoins::LEN]);
        // Every request got a value of its own: the rejection key is the second.
        assert_eq!(pair.dk.as_ref()[P::Dk::LEN - 32..], [2; 32]);
    }
    for_every_set!(check);
}
