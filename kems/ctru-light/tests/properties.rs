//! Random keys, messages and ciphertexts against the slow reference, and the laws that every KEM obeys.

#[path = "slow/reference.rs"]
mod reference;

use ctru_light::{AsconXof, CtruLight, Ek, Kem, Sha3, SharedSecret};
use kem_core::hash::{HashSuite, XofReader};
use kem_core::testkit::{KatDrbg, laws};
use proptest::prelude::*;

#[test]
fn laws_of_every_kem() {
    let mut rng = KatDrbg::master();
    for _ in 0..8 {
        laws::<CtruLight<Sha3>>(&mut rng);
        laws::<CtruLight<AsconXof>>(&mut rng);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sha3_is_the_reference(coins: [[u8; 32]; 3], change: (u16, u8)) {
        is_the_reference::<Sha3>(coins, change);
    }

    #[test]
    fn ascon_is_the_reference(coins: [[u8; 32]; 3], change: (u16, u8)) {
        is_the_reference::<AsconXof>(coins, change);
    }

    /// Random strings lie far from every code word.
    #[test]
    fn any_string_decapsulates_as_in_the_reference(d: [u8; 32], ct in prop::collection::vec(any::<u8>(), 512)) {
        let (_, dk) = keypair::<AsconXof>([d, [3; 32]]);
        prop_assert_eq!(decaps::<AsconXof>(&dk, &ct), reference::decaps::<AsconXof>(&dk, &ct));
    }
}

fn is_the_reference<H: HashSuite>([d, z, m]: [[u8; 32]; 3], (at, mask): (u16, u8)) {
    let (ek, dk) = keypair::<H>([d, z]);
    is_a_key_pair::<H>([d, z], &ek, &dk);

    let (mut ct, mut ss) = ([0; 512], SharedSecret::zeroed());
    CtruLight::<H>::encaps_from(&m, &Ek::parse(&ek).expect("canonical"), &mut ct, &mut ss);
    let (expected_ct, expected_ss) = reference::encaps::<H>(&ek, &m);
    assert_eq!(ct[..], expected_ct[..]);
    assert_eq!(*ss.expose(), expected_ss);
    assert_eq!(decaps::<H>(&dk, &ct), expected_ss);

    ct[usize::from(at) % 512] ^= mask;
    assert_eq!(decaps::<H>(&dk, &ct), reference::decaps::<H>(&dk, &ct));
}

/// The reference does not divide: h f = g identifies h.
fn is_a_key_pair<H: HashSuite>([d, z]: [[u8; 32]; 2], ek: &[u8], dk: &[u8]) {
    let mut coins = [0; 256];
    H::xof(&[&d]).read(&mut coins);
    let mut f: Vec<i64> = reference::sample_b1(&coins[..128]).iter().map(|c| 2 * c).collect();
    f[0] += 1;
    let g: Vec<i64> = reference::sample_b1(&coins[128..]);
    let h = reference::unpack(ek, 10);
    assert!(h.iter().all(|c| (0..769).contains(c)));
    let canonical: Vec<i64> = g.iter().map(|c| c.rem_euclid(769)).collect();
    assert_eq!(reference::multiply(&h, &f, 769), canonical);
    assert_eq!(reference::unpack_f(&dk[..192]), f);
    assert_eq!((&dk[192..832], &dk[832..]), (ek, &z[..]));
}

fn keypair<H: HashSuite>(coins: [[u8; 32]; 2]) -> ([u8; 640], [u8; 864]) {
    let (mut ek, mut dk) = ([0; 640], [0; 864]);
    let coins = coins.concat().try_into().expect("64 bytes");
    CtruLight::<H>::keygen_from(&coins, &mut ek, &mut dk).expect("invertible");
    CtruLight::<H>::check_dk(&dk).expect("own key");
    (ek, dk)
}

fn decaps<H: HashSuite>(dk: &[u8; 864], ct: &[u8]) -> [u8; 32] {
    let mut ss = SharedSecret::zeroed();
    let Ok(()) = CtruLight::<H>::decaps(dk, ct.try_into().expect("512 bytes"), &mut ss);
    *ss.expose()
}
