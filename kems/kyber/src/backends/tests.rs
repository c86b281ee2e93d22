//! Every compiled backend against arithmetic modulo Q on `i64`, at the bounds of its contract.

extern crate std;

use std::vec::Vec;

use proptest::prelude::*;

use super::{Arith, portable::Portable};
use crate::poly::{N, Poly, Q};

/// R = 2^16 modulo Q.
const R: i64 = (1 << 16) % Q as i64;

fn canonical(p: &Poly) -> Vec<i64> {
    p.0.iter().map(|&c| i64::from(c).rem_euclid(Q.into())).collect()
}

fn zeta(exponent: u32) -> i64 {
    (0..exponent).fold(1, |power, _| power * 17 % i64::from(Q))
}

/// FIPS 203 section 4.3: leaf i is the polynomial modulo x^2 - 17^(2 BitRev_7(i) + 1).
fn leaf_roots() -> impl Iterator<Item = i64> {
    (0..128u8).map(|i| zeta(2 * u32::from(i.reverse_bits() >> 1) + 1))
}

fn ntt_by_definition(p: &Poly) -> Vec<i64> {
    let half = |first: usize, z: i64| {
        (0..128).rev().fold(0, |sum, j| {
            (sum * z + i64::from(p.0[2 * j + first])).rem_euclid(Q.into())
        })
    };
    leaf_roots().flat_map(|z| [half(0, z), half(1, z)]).collect()
}

fn product_by_definition(a: &Poly, b: &Poly) -> Vec<i64> {
    let value = |p: &Poly, i: usize| i64::from(p.0[i]);
    let blocks = leaf_roots().enumerate().flat_map(|(leaf, z)| {
        let (even, odd) = (2 * leaf, 2 * leaf + 1);
        [
            value(a, even) * value(b, even) + value(a, odd) * value(b, odd) % i64::from(Q) * z,
            value(a, even) * value(b, odd) + value(a, odd) * value(b, even),
        ]
    });
    blocks.map(|c| c.rem_euclid(Q.into())).collect()
}

fn check_ntt(arith: impl Arith, p: &Poly) {
    let mut hat = p.clone();
    arith.ntt(&mut hat);
    assert!(hat.0.iter().all(|c| c.abs() <= (Q + 1) / 2));
    assert_eq!(canonical(&hat), ntt_by_definition(p));
    arith.inverse_ntt(&mut hat);
    assert!(hat.0.iter().all(|c| c.abs() < Q));
    let expected: Vec<i64> = canonical(p).iter().map(|c| c * R % i64::from(Q)).collect();
    assert_eq!(canonical(&hat), expected);
}

/// The inverse on its own: its inputs reach further than the outputs of the forward transform.
fn check_inverse(arith: impl Arith, p: &Poly) {
    let mut back = p.clone();
    arith.inverse_ntt(&mut back);
    assert!(back.0.iter().all(|c| c.abs() < Q));
    let expected: Vec<i64> = canonical(p).iter().map(|c| c * R % i64::from(Q)).collect();
    assert_eq!(ntt_by_definition(&back), expected);
}

fn check_basemul(arith: impl Arith, acc: &Poly, a: &Poly, b: &Poly) {
    let mut sum = acc.clone();
    let (low, high) = a.0.split_at(32);
    arith.basemul_acc(&mut sum, low, b, 0);
    arith.basemul_acc(&mut sum, high, b, 32);
    let added: Vec<i64> = sum
        .0
        .iter()
        .zip(&acc.0)
        .map(|(sum, acc)| i64::from(sum - acc))
        .collect();
    assert!(added.iter().all(|c| c.abs() < Q.into()));
    let unscaled: Vec<i64> = added.iter().map(|c| (c * R).rem_euclid(Q.into())).collect();
    assert_eq!(unscaled, product_by_definition(a, b));
}

fn check_forms<A: Arith>(arith: A, p: &Poly) {
    let times_r = |p: &Poly| -> Vec<i64> { canonical(p).iter().map(|c| c * R % i64::from(Q)).collect() };
    let values = |p: &Poly| -> Vec<i64> { p.0.iter().map(|&c| c.into()).collect() };
    let mut lifted = p.clone();
    arith.lift(&mut lifted);
    assert!(lifted.0.iter().all(|c| c.abs() < Q));
    assert_eq!(times_r(&lifted), canonical(p));
    let mut sum = p.clone();
    arith.standard_sum(&mut sum);
    assert_eq!(values(&sum), times_r(p));
    for make in [A::standard, A::freeze] {
        let mut standard = p.clone();
        make(arith, &mut standard);
        assert_eq!(values(&standard), canonical(p));
    }
}

fn at_the_bounds(arith: impl Arith) {
    let patterns = |bound: i16| {
        let alternating = |step: usize| {
            Poly(core::array::from_fn(|i| {
                if (i / step).is_multiple_of(2) { bound } else { -bound }
            }))
        };
        [
            Poly([0; N]),
            Poly([bound; N]),
            Poly([-bound; N]),
            alternating(1),
            alternating(2),
            alternating(64),
        ]
    };
    patterns(Q - 1).iter().for_each(|p| check_ntt(arith, p));
    patterns(4 * Q - 1).iter().for_each(|p| check_inverse(arith, p));
    for bound in [Q - 1, Q, i16::MAX] {
        patterns(bound).iter().for_each(|p| check_forms(arith, p));
    }
    for b in &patterns(Q - 1) {
        for a in [0, 1, Q - 1, 4095] {
            check_basemul(arith, &Poly([3 * Q; N]), &Poly([a; N]), b);
            check_basemul(arith, &Poly([-3 * Q; N]), &Poly([a; N]), b);
        }
    }
}

fn coefficients(range: core::ops::RangeInclusive<i16>) -> impl Strategy<Value = Vec<i16>> {
    prop::collection::vec(range, N)
}

fn poly(coefficients: Vec<i16>) -> Poly {
    Poly(coefficients.try_into().expect("N coefficients"))
}

macro_rules! backends {
    ($($name:ident $arith:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn keeps_its_contract_at_the_bounds() {
                if let Some(arith) = $arith {
                    at_the_bounds(arith);
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(32))]

                #[test]
                fn agrees_with_the_definition(
                    p in coefficients(1 - Q..=Q - 1),
                    hat in coefficients(1 - 4 * Q..=4 * Q - 1),
                    acc in coefficients(-3 * Q..=3 * Q),
                    a in coefficients(0..=4095),
                    b in coefficients(1 - Q..=Q - 1),
                ) {
                    if let Some(arith) = $arith {
                        check_ntt(arith, &poly(p));
                        check_forms(arith, &poly(hat.clone()));
                        check_inverse(arith, &poly(hat));
                        check_basemul(arith, &poly(acc), &poly(a), &poly(b));
                    }
                }
            }
        }
    )*};
}

backends! {
    portable Some(Portable);
}

// On a processor without AVX2 these have nothing to check.
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
backends! {
    avx2 kem_core::Avx2::detect();
}
