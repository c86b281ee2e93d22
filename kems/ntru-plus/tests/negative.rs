//! One test for every check that refuses something.

use kem_core::{Bytes, Ek, InvalidKey, Kem, Rejected, SharedSecret, rand_core::Rng, testkit::KatDrbg};
use ntru_plus::{Final, NtruPlus, P768, P864, P1152, V2_2};

/// Residues below this have a second encoding in twelve bits.
const SPARE: u16 = 4096 - 3457;

macro_rules! on_every_set {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            checks::$test::<NtruPlus<P768, Final>>();
            checks::$test::<NtruPlus<P864, Final>>();
            checks::$test::<NtruPlus<P1152, Final>>();
            checks::$test::<NtruPlus<P768, V2_2>>();
            checks::$test::<NtruPlus<P864, V2_2>>();
            checks::$test::<NtruPlus<P1152, V2_2>>();
        }
    )*};
}

on_every_set! {
    ek_with_a_second_encoding_is_refused
    dk_with_a_second_encoding_is_refused
    dk_with_a_damaged_polynomial_or_hash_is_refused
    second_encoding_of_a_ciphertext_is_rejected
    second_encoding_in_dk_rejects_every_ciphertext
    rejection_wipes_the_secret
}

mod checks {
    use super::*;

    pub(super) fn ek_with_a_second_encoding_is_refused<K: Kem>() {
        let Keys { mut ek, .. } = Keys::<K>::new();
        for place in second_encodings::<K>(ek.as_ref()) {
            recode(ek.as_mut(), place, Q_ADDED);
            assert_eq!(K::check_ek(&ek), Err(InvalidKey));
            assert!(Ek::<K>::parse(ek.as_ref()).is_err());
            recode(ek.as_mut(), place, Q_REMOVED);
            assert_eq!(K::check_ek(&ek), Ok(()));
        }
    }

    pub(super) fn dk_with_a_second_encoding_is_refused<K: Kem>() {
        let Keys { mut dk, .. } = Keys::<K>::new();
        for place in second_encodings::<K>(&dk.as_ref()[..2 * K::EK_LEN]) {
            recode(dk.as_mut(), place, Q_ADDED);
            assert_eq!(K::check_dk(&dk), Err(InvalidKey));
            recode(dk.as_mut(), place, Q_REMOVED);
            assert_eq!(K::check_dk(&dk), Ok(()));
        }
    }

    pub(super) fn dk_with_a_damaged_polynomial_or_hash_is_refused<K: Kem>() {
        let Keys { mut dk, .. } = Keys::<K>::new();
        for at in [K::EK_LEN, 2 * K::EK_LEN - 1, 2 * K::EK_LEN, K::DK_LEN - 1] {
            dk.as_mut()[at] ^= 1;
            assert_eq!(K::check_dk(&dk), Err(InvalidKey), "byte {at}");
            dk.as_mut()[at] ^= 1;
        }
        assert_eq!(K::check_dk(&dk), Ok(()));
        assert_eq!(K::check_dk(&K::DkBytes::ZERO), Err(InvalidKey));
    }

    pub(super) fn second_encoding_of_a_ciphertext_is_rejected<K: Kem<Rejection = Rejected>>() {
        let Keys { dk, mut ct, .. } = Keys::<K>::new();
        let mut ss = SharedSecret::zeroed();
        for place in second_encodings::<K>(ct.as_ref()).into_iter().step_by(9) {
            recode(ct.as_mut(), place, Q_ADDED);
            assert_eq!(K::decaps(&dk, &ct, &mut ss), Err(Rejected));
            recode(ct.as_mut(), place, Q_REMOVED);
            assert_eq!(K::decaps(&dk, &ct, &mut ss), Ok(()));
        }
    }

    pub(super) fn second_encoding_in_dk_rejects_every_ciphertext<K: Kem<Rejection = Rejected>>() {
        let Keys { mut dk, ct, .. } = Keys::<K>::new();
        let mut ss = SharedSecret::zeroed();
        for place in second_encodings::<K>(&dk.as_ref()[..2 * K::EK_LEN])
            .into_iter()
            .step_by(19)
        {
            recode(dk.as_mut(), place, Q_ADDED);
            assert_eq!(K::decaps(&dk, &ct, &mut ss), Err(Rejected));
            recode(dk.as_mut(), place, Q_REMOVED);
            assert_eq!(K::decaps(&dk, &ct, &mut ss), Ok(()));
        }
    }

    pub(super) fn rejection_wipes_the_secret<K: Kem<Rejection = Rejected>>() {
        let Keys { dk, mut ct, .. } = Keys::<K>::new();
        ct.as_mut()[7] ^= 1;
        let mut ss = SharedSecret::zeroed();
        ss.expose_mut().fill(0xa5);
        assert_eq!(K::decaps(&dk, &ct, &mut ss), Err(Rejected));
        assert_eq!(ss.expose(), &[0; 32]);
    }
}

#[test]
fn the_other_profile_is_refused() {
    let Keys { ek, dk, ct } = Keys::<NtruPlus<P768, Final>>::new();
    let mut ss = SharedSecret::zeroed();
    // In the other layout, twelve bits of two neighbours make a coefficient, and some are not below q.
    assert_eq!(NtruPlus::<P768, V2_2>::check_ek(&ek), Err(InvalidKey));
    assert_eq!(NtruPlus::<P768, V2_2>::check_dk(&dk), Err(InvalidKey));
    assert_eq!(NtruPlus::<P768, V2_2>::decaps(&dk, &ct, &mut ss), Err(Rejected));
}

/// A key pair and a ciphertext for it.
struct Keys<K: Kem> {
    ek: K::EkBytes,
    dk: K::DkBytes,
    ct: K::CtBytes,
}

impl<K: Kem> Keys<K> {
    fn new() -> Self {
        let mut rng = KatDrbg::master();
        // Not the first key of the known answers.
        rng.next_u64();
        let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
        K::keygen(&mut rng, &mut ek, &mut dk).expect("the generator works");
        K::encaps(
            &mut rng,
            &Ek::parse(ek.as_ref()).expect("canonical"),
            &mut ct,
            &mut SharedSecret::zeroed(),
        );
        Self { ek, dk, ct }
    }
}

/// Adds q to a coefficient, or takes it away.
const Q_ADDED: u16 = 3457;
const Q_REMOVED: u16 = Q_ADDED.wrapping_neg();

/// Bytes at which a coefficient with a second encoding starts, in either layout: the lower twelve bits of a 16-bit word
/// whose place is a multiple of six bytes (plain) and in the first third of a group of 96 (wide).
fn second_encodings<K: Kem>(polynomials: &[u8]) -> Vec<usize> {
    (0..polynomials.len())
        .step_by(6)
        .filter(|at| at % K::EK_LEN % 96 < 32 && at % K::EK_LEN < 1152)
        .filter(|at| coefficient(polynomials, *at) < SPARE)
        .collect()
}

fn coefficient(packed: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([packed[at], packed[at + 1]]) & 0xfff
}

fn recode(packed: &mut [u8], at: usize, change: u16) {
    let word = u16::from_le_bytes([packed[at], packed[at + 1]]).wrapping_add(change);
    packed[at..at + 2].copy_from_slice(&word.to_le_bytes());
}
