//! Intermediate values of the reference implementation.

use std::borrow::ToOwned;
use std::vec;
use std::vec::Vec;

use kem_core::Bytes;
use kem_core::hash::Sha3_256;
use kem_core::testkit::{File, Vector};

use super::*;
use crate::backends::Tmvp;
use crate::params::{Hps509, Hps677, Hps821, Hrss701, Set};
use crate::sample;

const FILES: [&str; 4] = [
    include_str!("../../tests/vectors/ntruhps2048509.json"),
    include_str!("../../tests/vectors/ntruhps2048677.json"),
    include_str!("../../tests/vectors/ntruhps4096821.json"),
    include_str!("../../tests/vectors/ntruhrss701.json"),
];

fn vectors(json: &str) -> Vec<Vector> {
    serde_json::from_str::<File>(json).expect("vector file parses").vectors
}

fn numbers(v: &Vector, name: &str) -> Vec<u16> {
    serde_json::from_value(v.extra[name].clone()).expect("numbers")
}

#[test]
fn sampled_and_lifted_polynomials() {
    fn check<P: Params>(json: &str) {
        let v = &vectors(json)[0];
        let mut p = vec![9; P::N];
        let mut expect = |name: &str, sample: &dyn Fn(&mut [u16])| {
            sample(&mut p);
            assert_eq!(p[..16], numbers(v, name), "{name}");
        };
        let ((f, g), (r, m)) = (v.keygen_coins.split_at(P::N - 1), v.encaps_coins.split_at(P::N - 1));
        expect("f_first16", &|p| P::Variant::sample_f(f, p));
        expect("g_first16", &|p| P::Variant::sample_g::<P>(&g[..g.len() - 32], p));
        expect("r_first16", &|p| sample::ternary(r, p));
        expect("m_first16", &|p| P::Variant::sample_m::<P>(m, p));
        expect("lift_m_first16", &|p| {
            P::Variant::lift_m(p);
            p.iter_mut().for_each(|c| *c &= Set::<P>::Q_MASK);
        });
    }
    check::<Hps509>(FILES[0]);
    check::<Hps677>(FILES[1]);
    check::<Hps821>(FILES[2]);
    check::<Hrss701>(FILES[3]);
}

/// Lift(m) is m modulo 3 and Phi, and for HRSS a multiple of x - 1.
#[test]
fn lift_does_not_change_m_modulo_3() {
    fn check<P: Params>(json: &str) {
        for v in vectors(json) {
            let mut m = vec![9; P::N];
            P::Variant::sample_m::<P>(&v.encaps_coins[P::N - 1..], &mut m);
            let mut lifted = m.clone();
            P::Variant::lift_m(&mut lifted);
            assert_eq!(lifted.iter().fold(0u16, |sum, c| sum.wrapping_add(*c)), 0);
            centred_mod_3::<P>(&mut lifted);
            assert_eq!(lifted, m);
        }
    }
    check::<Hps509>(FILES[0]);
    check::<Hps677>(FILES[1]);
    check::<Hps821>(FILES[2]);
    check::<Hrss701>(FILES[3]);
}

/// The last coefficient of h is not stored. Zero in its place would agree with itself.
#[test]
fn last_coefficient_of_h() {
    fn check<P: Params>(json: &str) {
        let v = &vectors(json)[0];
        let mut h = vec![9; P::N];
        unpack_sum_zero::<P>(&v.ek, &mut h);
        let expected: u16 = serde_json::from_value(v.extra["h_coeff_n_minus_1"].clone()).expect("a number");
        assert!(expected != 0);
        assert_eq!(h[P::N - 1] & Set::<P>::Q_MASK, expected);
    }
    check::<Hps509>(FILES[0]);
    check::<Hps677>(FILES[1]);
    check::<Hps821>(FILES[2]);
    check::<Hrss701>(FILES[3]);
}

/// The shared secret is SHA3-256 of r and then m, and of nothing else.
#[test]
fn r_and_m_are_hashed_as_the_reference_packs_them() {
    fn check<P: Params>(json: &str) {
        let v = &vectors(json)[0];
        let (mut ek, mut ct, mut packed, mut ss) = (P::Ek::ZERO, P::Ct::ZERO, P::PACKED, [0; 32]);
        ek.as_mut().copy_from_slice(&v.ek);
        encrypt::<P, Tmvp>(&v.encaps_coins, &ek, &mut ct, packed.as_mut());
        let r = hex::decode(v.extra["packS3_r"].as_str().expect("a string")).expect("hexadecimal");
        assert_eq!(packed.as_ref()[..trits_len::<P>()], r);
        Sha3_256::digest(&[packed.as_ref()], &mut ss);
        assert_eq!(ss, v.ss[..]);

        let parts = secret_of::<P>(v.dk.as_ref().expect("the first vector has a dk"));
        let mut decrypted = P::PACKED;
        assert!(bool::from(decrypt::<P, Tmvp>(&parts, &ct, decrypted.as_mut())));
        assert_eq!(decrypted.as_ref(), packed.as_ref());
    }
    check::<Hps509>(FILES[0]);
    check::<Hps677>(FILES[1]);
    check::<Hps821>(FILES[2]);
    check::<Hrss701>(FILES[3]);
}

/// Each forgery that only one check sees has to be in the files: r and m decrypt to the values that it was made from.
#[test]
fn forgeries_that_a_single_check_sees() {
    let ids = |json| -> Vec<_> {
        let kat_0: serde_json::Value = serde_json::from_str(json).expect("vector file parses");
        let cases = kat_0["vectors"][0]["reject"].as_array().expect("an array").clone();
        cases
            .iter()
            .map(|case| case["id"].as_str().expect("a string").to_owned())
            .collect()
    };
    for (json, hps, padded) in [
        (FILES[0], true, true),
        (FILES[1], true, true),
        (FILES[2], true, false),
        (FILES[3], false, true),
    ] {
        let ids: Vec<std::string::String> = ids(json);
        let has = |id: &str| ids.iter().any(|other| other == id);
        assert!(has("r_not_ternary_only"));
        assert_eq!(has("m_weight_only") && has("m_balance"), hps);
        assert_eq!(has("padding_only"), padded);
        assert!(has(if hps {
            "all_zero_ct"
        } else {
            "all_zero_ct, accepted: r = m = 0"
        }));
    }
}

/// Both signs of the correlation that decides about the sign of f and g.
#[test]
fn vectors_of_hrss_have_both_signs() {
    let negated = |v: &Vector| {
        let mut pair = [[9; 701]; 2];
        let [plus, plain] = &mut pair;
        sample::ternary_plus(&v.keygen_coins[..700], plus);
        sample::ternary(&v.keygen_coins[..700], plain);
        plus != plain
    };
    let signs: Vec<_> = vectors(FILES[3]).iter().map(negated).collect();
    assert!(signs.contains(&true) && signs.contains(&false), "{signs:?}");
}

fn secret_of<P: Params>(dk: &[u8]) -> Secret<'_> {
    let (f, rest) = dk.split_at(trits_len::<P>());
    let (f_inverse, rest) = rest.split_at(trits_len::<P>());
    Secret {
        f,
        f_inverse,
        h_inverse: &rest[..rest.len() - 32],
    }
}
