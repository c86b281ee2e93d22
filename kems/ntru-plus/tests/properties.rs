//! Random keys, messages and damage.

use kem_core::{
    Bytes, Ek, Kem, Rejected, SharedSecret,
    testkit::{KatDrbg, laws},
};
use ntru_plus::{Final, NtruPlus, P768, P864, P1152, V2_2};
use proptest::{collection::vec, prelude::*};

macro_rules! on_every_set {
    ($($name:ident $kem:ty;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn obeys_the_laws_of_a_kem() {
                laws::<$kem>(&mut KatDrbg::master());
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(32))]

                #[test]
                fn damaged_ciphertexts_are_rejected(seed: [[u8; 24]; 2], bits in vec(any::<prop::sample::Index>(), 1..9)) {
                    damage::<$kem>(seed, &bits);
                }
            }
        }
    )*};
}

on_every_set! {
    final_768 NtruPlus<P768, Final>;
    final_864 NtruPlus<P864, Final>;
    final_1152 NtruPlus<P1152, Final>;
    v2_2_768 NtruPlus<P768, V2_2>;
    v2_2_864 NtruPlus<P864, V2_2>;
    v2_2_1152 NtruPlus<P1152, V2_2>;
}

fn damage<K: Kem<Rejection = Rejected>>(seed: [[u8; 24]; 2], bits: &[prop::sample::Index]) {
    let mut rng = KatDrbg::new(seed.as_flattened().try_into().expect("48 bytes"));
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let (mut ours, mut theirs) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    K::keygen(&mut rng, &mut ek, &mut dk).expect("the generator works");
    K::encaps(
        &mut rng,
        &Ek::parse(ek.as_ref()).expect("canonical"),
        &mut ct,
        &mut ours,
    );
    K::decaps(&dk, &ct, &mut theirs).expect("own ciphertext");
    assert_eq!(ours.expose(), theirs.expose());

    let original = ct.as_ref().to_vec();
    for bit in bits {
        let bit = bit.index(8 * K::CT_LEN);
        ct.as_mut()[bit / 8] ^= 1 << (bit % 8);
    }
    let same = ct.as_ref() == original;
    assert_eq!(K::decaps(&dk, &ct, &mut theirs).is_ok(), same);
    assert_eq!(*theirs.expose() == [0; 32], !same);
}
