//! Against exact arithmetic and schoolbook multiplication.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::backends::tests::schoolbook;
use crate::backends::{Karatsuba, Tmvp};
use crate::invert::F3;
use crate::params::{Hps509, Hps677, Hps821, Hrss701};

#[test]
fn quotients_and_remainders() {
    for c in 0..=u16::MAX {
        assert_eq!((div_3(c), mod_3(c)), (c / 3, c % 3));
    }
}

#[test]
fn centring_at_the_ends_of_the_range() {
    fn check<P: Params>() {
        let q = 1i32 << P::LOG_Q;
        for c in 0..q {
            let centred = if c >= q / 2 { c - q } else { c };
            // Bits above q have no say.
            let mut p = [c as u16 | (1 << P::LOG_Q), 0];
            centred_mod_3::<P>(&mut p);
            assert_eq!(i32::from(p[0]), centred.rem_euclid(3), "{c}");
        }
    }
    check::<Hps509>();
    check::<Hps821>();
    check::<Hrss701>();
}

#[test]
fn ternary_sees_every_other_value() {
    fn check<P: Params>() {
        let q = 1u16 << P::LOG_Q;
        for c in 0..q {
            let mut p = [0, c];
            let outside = ternary::<P>(&mut p) >> 15 == 1;
            assert_eq!(outside, ![0, 1, q - 1].contains(&c), "{c}");
            if !outside {
                assert_eq!(centre(p[1]) & Set::<P>::Q_MASK, c);
            }
        }
    }
    check::<Hps509>();
    check::<Hps821>();
    check::<Hrss701>();
}

/// 4 * 677 is more than 2^11, so that a product modulo 3 must not take 2 for anything but -1.
#[test]
fn largest_products_modulo_3() {
    fn check<P: Params>() {
        let twos = filled::<P>(&vec![2; P::N]);
        let mut product = twos;
        Ring::<P, Tmvp>::new().mul_mod_3(&mut product, &mut twos.clone());
        // Every sum is 4 n, and Phi divides a polynomial of equal coefficients.
        assert!(product.as_ref().iter().all(|c| *c == 0));

        let mut four_times = twos;
        four_times.as_mut()[P::N - 1] = 0;
        Ring::<P, Tmvp>::new().mul_mod_3(&mut four_times, &mut twos.clone());
        assert_eq!(
            four_times.as_ref(),
            modulo_phi(schoolbook(&[&vec![2; P::N - 1][..], &[0]].concat(), &vec![2; P::N]), 3)
        );
    }
    check::<Hps509>();
    check::<Hps677>();
    check::<Hps821>();
    check::<Hrss701>();
}

#[test]
fn one_and_monomials_invert() {
    fn check<P: Params>() {
        for at in [0, 1, 2, P::N / 2, P::N - 2] {
            for c in [1, 2] {
                let p: Vec<_> = (0..P::N).map(|i| if i == at { c } else { 0 }).collect();
                inverts_modulo_3::<P>(&p);
                inverts_modulo_q::<P>(&p.iter().map(|c| c & 1 | u16::from(*c == 2)).collect::<Vec<_>>());
            }
        }
    }
    check::<Hps509>();
    check::<Hps677>();
    check::<Hps821>();
    check::<Hrss701>();
}

macro_rules! inverts {
    ($name:ident, $params:ident) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(24))]

            #[test]
            fn $name(
                trits in prop::collection::vec(0u16..3, $params::N - 1),
                wide in prop::collection::vec(any::<u16>(), $params::N),
            ) {
                inverts_modulo_3::<$params>(&[&trits[..], &[0]].concat());
                inverts_modulo_q::<$params>(&wide);
            }
        }
    };
}

inverts!(inverses_509, Hps509);
inverts!(inverses_677, Hps677);
inverts!(inverses_821, Hps821);
inverts!(inverses_701, Hrss701);

fn inverts_modulo_3<P: Params>(p: &[u16]) {
    let mut inverse = vec![9; P::N];
    invert::<P, F3>(p, &mut inverse);
    assert!(inverse.iter().all(|c| *c < 3) && inverse[P::N - 1] == 0);
    assert_eq!(modulo_phi(schoolbook(p, &inverse), 3), one::<P>());
}

/// With either multiplication.
fn inverts_modulo_q<P: Params>(p: &[u16]) {
    let (mut a, mut b) = (P::POLY, P::POLY);
    Ring::<P, Tmvp>::new().invert(&filled::<P>(p), &mut a);
    Ring::<P, Karatsuba>::new().invert(&filled::<P>(p), &mut b);
    for inverse in [a, b] {
        assert_eq!(modulo_phi(schoolbook(p, inverse.as_ref()), 1 << P::LOG_Q), one::<P>());
    }
}

fn modulo_phi(p: Vec<u16>, modulus: u32) -> Vec<u16> {
    let last = u32::from(p[p.len() - 1]) % modulus;
    p.iter()
        .map(|c| ((u32::from(*c) % modulus + modulus - last) % modulus) as u16)
        .collect()
}

fn one<P: Params>() -> Vec<u16> {
    (0..P::N).map(|i| u16::from(i == 0)).collect()
}

fn filled<P: Params>(p: &[u16]) -> P::Poly {
    let mut poly = P::POLY;
    poly.as_mut().copy_from_slice(p);
    poly
}
