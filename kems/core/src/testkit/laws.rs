use core::mem::size_of_val;

use rand_core::CryptoRng;

use crate::{Bytes, Ek, Kem, SharedSecret};

/// What holds for every KEM, checked on one fresh key pair.
///
/// * the same coins give the same bytes, and own keys pass their checks;
/// * a ciphertext decapsulates to the encapsulated secret;
/// * a changed ciphertext gives a stable unrelated secret, or an error and an all-zero secret;
/// * keys and ciphertexts of a wrong length cannot be made from slices.
///
/// # Panics
/// If one of them does not hold.
pub fn laws<K: Kem>(rng: &mut impl CryptoRng) {
    let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen(rng, &mut ek, &mut dk).expect("the generator works");
    K::check_dk(&dk).expect("own decapsulation key passes its check");
    lengths::<K>(&ek, &dk);
    let ek = Ek::<K>::parse(ek.as_ref()).expect("own encapsulation key is canonical");
    round_trip::<K>(rng, &ek, &dk);
    tampering::<K>(rng, &ek, &dk);
}

fn round_trip<K: Kem>(rng: &mut impl CryptoRng, ek: &Ek<'_, K>, dk: &K::DkBytes) {
    let mut coins = K::EncapsCoins::ZERO;
    rng.fill_bytes(coins.as_mut());
    let (mut ct, mut again) = (K::CtBytes::ZERO, K::CtBytes::ZERO);
    let (mut ss, mut ss_again, mut decapsulated) =
        (SharedSecret::zeroed(), SharedSecret::zeroed(), SharedSecret::zeroed());
    K::encaps_from(&coins, ek, &mut ct, &mut ss);
    K::encaps_from(&coins, ek, &mut again, &mut ss_again);
    assert_eq!(
        ct.as_ref(),
        again.as_ref(),
        "encapsulation depends on something besides its coins"
    );
    assert_eq!(
        ss.expose(),
        ss_again.expose(),
        "encapsulation depends on something besides its coins"
    );
    assert_ne!(ss.expose(), &[0; SharedSecret::LEN], "no secret was written");
    assert!(
        K::decaps(dk, &ct, &mut decapsulated).is_ok(),
        "own ciphertext is rejected"
    );
    assert_eq!(ss.expose(), decapsulated.expose(), "secrets differ");
}

fn tampering<K: Kem>(rng: &mut impl CryptoRng, ek: &Ek<'_, K>, dk: &K::DkBytes) {
    let mut ct = K::CtBytes::ZERO;
    let (mut honest, mut forged, mut again) = (SharedSecret::zeroed(), SharedSecret::zeroed(), SharedSecret::zeroed());
    K::encaps(rng, ek, &mut ct, &mut honest);
    for at in [0, K::CT_LEN / 2, K::CT_LEN - 1] {
        for mask in [0x01, 0xff] {
            ct.as_mut()[at] ^= mask;
            // A stale secret must not survive a rejection.
            forged.expose_mut().fill(0xa5);
            let accepted = K::decaps(dk, &ct, &mut forged).is_ok();
            assert_eq!(
                K::decaps(dk, &ct, &mut again).is_ok(),
                accepted,
                "rejection is not deterministic"
            );
            assert_eq!(forged.expose(), again.expose(), "rejection is not deterministic");
            assert_ne!(forged.expose(), honest.expose(), "byte {at} ^ {mask:#x} goes unnoticed");
            let zero = *forged.expose() == [0; SharedSecret::LEN];
            assert_eq!(
                zero, !accepted,
                "the secret is all zero after explicit rejection, and only then"
            );
            ct.as_mut()[at] ^= mask;
        }
    }
}

fn lengths<K: Kem>(ek: &K::EkBytes, dk: &K::DkBytes) {
    let long = |bytes: &[u8]| [bytes, &[0]].concat();
    assert!(Ek::<K>::parse(&[]).is_err(), "empty ek");
    assert!(Ek::<K>::parse(&ek.as_ref()[1..]).is_err(), "short ek");
    assert!(Ek::<K>::parse(&long(ek.as_ref())).is_err(), "long ek");
    assert!(K::DkBytes::from_slice(&dk.as_ref()[1..]).is_none(), "short dk");
    assert!(K::DkBytes::from_slice(&long(dk.as_ref())).is_none(), "long dk");
    let ct = K::CtBytes::ZERO;
    assert!(K::CtBytes::from_slice(&ct.as_ref()[1..]).is_none(), "short ct");
    assert!(K::CtBytes::from_slice(&long(ct.as_ref())).is_none(), "long ct");
    assert_eq!(
        (K::EK_LEN, K::DK_LEN, K::CT_LEN),
        (size_of_val(ek), size_of_val(dk), size_of_val(&ct))
    );
}
