//! Every compiled backend against arithmetic by definition, over the whole range that [`Arith`] allows.

use std::{vec, vec::Vec};

use proptest::{collection::vec as vec_of, prelude::*};

use super::{Arith, portable::Portable};
use crate::{
    P768, P864, P1152,
    field::{F, Q},
    params::{Params, sealed::Zeroed},
};

/// Runs every check on one backend and parameter set.
macro_rules! check {
    ($($module:ident: $backend:expr, $set:ty;)*) => {$(
        mod $module {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(24))]

                #[test]
                fn transform_is_the_list_of_residues(a in poly::<$set>(Q)) {
                    transforms::<$set>($backend, &a);
                }

                #[test]
                fn product_is_that_of_the_residues(
                    a in poly::<$set>(2 * Q), b in vec_of(0i16..4096, <$set>::N), scale in -Q / 2..=Q / 2
                ) {
                    multiplies::<$set>($backend, &a, &b, scale);
                }

                #[test]
                fn product_is_that_of_the_ring(a in poly::<$set>(Q), b in poly::<$set>(Q)) {
                    multiplies_in_the_ring::<$set>($backend, &a, &b);
                }

                #[test]
                fn inverse_times_itself_is_the_scale(a in poly::<$set>(Q), scale in -Q / 2..=Q / 2) {
                    inverts::<$set>($backend, &a, scale);
                }
            }

            #[test]
            fn extreme_coefficients_stay_in_bounds() {
                for pattern in extremes::<$set>(Q - 1) {
                    transforms::<$set>($backend, &pattern);
                }
                for (a, b) in extremes::<$set>(2 * Q - 1).zip([0, 4095].repeat(8)) {
                    for scale in [-Q / 2, Q / 2] {
                        multiplies::<$set>($backend, &a, &vec![b; <$set>::N], scale);
                    }
                }
            }

            #[test]
            fn one_zero_residue_has_no_inverse() {
                let mut a = <$set as Params>::Poly::ZERO;
                let leaves = <$set>::N / <$set>::LEAF;
                for leaf in [0, 1, 47, 48, leaves / 2, leaves - 1] {
                    a.as_mut().fill(1);
                    assert!(bool::from($backend.invert::<$set>(&mut a, 1)));
                    a.as_mut().fill(1);
                    a.as_mut()[leaf * <$set>::LEAF..][..<$set>::LEAF].fill(0);
                    assert!(!bool::from($backend.invert::<$set>(&mut a, 1)), "leaf {leaf}");
                }
            }
        }
    )*};
}

check! {
    portable_768: Portable, P768;
    portable_864: Portable, P864;
    portable_1152: Portable, P1152;
}

/// 3457 = 1 modulo 4, so that x^4 - c with c a square splits, and one factor is a non-zero residue without an inverse.
#[test]
fn a_zero_divisor_has_no_inverse() {
    let c = leaf_constants::<P768>()[0];
    let root = (0..i64::from(Q))
        .find(|root| root * root % i64::from(Q) == c)
        .expect("quadratic factors");
    let mut a = <P768 as Params>::Poly::ZERO;
    a.as_mut().fill(1);
    a.as_mut()[..4].copy_from_slice(&[-root as i16, 0, 1, 0]);
    assert!(!bool::from(Portable.invert::<P768>(&mut a, 1)));
}

fn transforms<P: Params>(backend: impl Arith, a: &[i16]) {
    let residues = residues::<P>(a);
    let mut poly = copy::<P>(a);
    backend.ntt::<P>(&mut poly);
    assert_eq!(canonical(poly.as_ref()), residues);
    assert!(poly.as_ref().iter().all(|c| c.abs() <= Q / 2));

    // Back from either representative of each residue.
    for (c, residue) in poly.as_mut().iter_mut().zip(&residues) {
        *c = *residue as i16 - if *c % 2 == 0 && *residue > 0 { Q } else { 0 };
    }
    backend.inverse_ntt::<P>(&mut poly);
    assert_eq!(canonical(poly.as_ref()), canonical(a));
    assert!(poly.as_ref().iter().all(|c| c.abs() <= Q / 2));
}

fn multiplies<P: Params>(backend: impl Arith, a: &[i16], b: &[i16], scale: i16) {
    let constants = leaf_constants::<P>();
    // An even number of leaves at the start, and the rest.
    for (start, end) in [(0, 96), (96, P::N)] {
        let mut product = a[start..end].to_vec();
        backend.multiply::<P>(&mut product, &b[start..end], start, scale);
        assert!(product.iter().all(|c| c.abs() < Q));
        let factor = i64::from(scale) * inverse_of_two_to_the_32();
        let leaves = a[start..end].chunks(P::LEAF).zip(b[start..end].chunks(P::LEAF));
        let expected = leaves.zip(&constants[start / P::LEAF..]).flat_map(|((a, b), c)| {
            let mut product = vec![0; P::LEAF];
            for (i, a) in a.iter().enumerate() {
                for (j, b) in b.iter().enumerate() {
                    let wrap = if i + j < P::LEAF { 1 } else { *c };
                    product[(i + j) % P::LEAF] += i64::from(*a) * i64::from(*b) % i64::from(Q) * wrap;
                }
            }
            product
        });
        assert_eq!(
            canonical(&product),
            expected
                .map(|c| (c % i64::from(Q) * factor).rem_euclid(Q.into()))
                .collect::<Vec<_>>()
        );
    }
}

fn multiplies_in_the_ring<P: Params>(backend: impl Arith, a: &[i16], b: &[i16]) {
    let (mut x, mut y) = (copy::<P>(a), copy::<P>(b));
    backend.ntt::<P>(&mut x);
    backend.ntt::<P>(&mut y);
    y.as_mut().iter_mut().for_each(|c| *c = F::freeze(*c));
    backend.multiply::<P>(x.as_mut(), y.as_ref(), 0, F::R2);
    backend.inverse_ntt::<P>(&mut x);
    assert_eq!(canonical(x.as_ref()), schoolbook::<P>(a, b));
}

fn inverts<P: Params>(backend: impl Arith, a: &[i16], scale: i16) {
    let mut inverse = copy::<P>(a);
    if !bool::from(backend.invert::<P>(&mut inverse, scale)) {
        // Random elements of the largest set are often not invertible: make one that is, f = 3 f' + 1 with f' = 0.
        let one = residues::<P>(&[1]).iter().map(|c| *c as i16).collect::<Vec<_>>();
        return inverts::<P>(backend, &one, scale);
    }
    assert!(inverse.as_ref().iter().all(|c| c.abs() < Q));
    let mut product = a.to_vec();
    inverse.as_mut().iter_mut().for_each(|c| *c = F::freeze(*c));
    backend.multiply::<P>(&mut product, inverse.as_ref(), 0, F::R2);
    let expected = residues::<P>(&[scale]);
    assert_eq!(canonical(&product), expected);
}

/// Coefficients of absolute value below `bound`.
fn poly<P: Params>(bound: i16) -> impl Strategy<Value = Vec<i16>> {
    vec_of(1 - bound..bound, P::N)
}

/// Coefficients +-`c` whose signs change with every bit of their place.
fn extremes<P: Params>(c: i16) -> impl Iterator<Item = Vec<i16>> {
    (0..11).map(move |bit| {
        (0..P::N)
            .map(|place| if place >> bit & 1 == 0 { c } else { -c })
            .collect()
    })
}

/// The transform by definition: what is left modulo x^d - c, for every leaf constant c.
fn residues<P: Params>(a: &[i16]) -> Vec<i64> {
    let residue = |c: i64| {
        let mut residue = vec![0; P::LEAF];
        for (place, coefficient) in a.iter().enumerate().rev() {
            let sum = &mut residue[place % P::LEAF];
            *sum = (*sum * c + i64::from(*coefficient)).rem_euclid(Q.into());
        }
        residue
    };
    leaf_constants::<P>().into_iter().flat_map(residue).collect()
}

/// zeta^index for every leaf, where the exponents come from the specification's tree, built here top down.
fn leaf_constants<P: Params>() -> Vec<i64> {
    let leaves = P::N / P::LEAF;
    let (zeta, order) = (if leaves == 192 { 22 } else { 9 }, 3 * leaves);
    let mut nodes = vec![order / 6, 5 * order / 6];
    for layer in 0.. {
        let radix = match nodes.len() {
            width if width == leaves => break,
            _ if layer < P::RADIX3_LAYERS => 3,
            _ => 2,
        };
        nodes = nodes
            .iter()
            .flat_map(|node| (0..radix).map(move |child| (node + child * order) / radix))
            .collect();
    }
    nodes
        .iter()
        .map(|exponent| (0..*exponent).fold(1, |power, _| power * zeta % i64::from(Q)))
        .collect()
}

/// The product modulo x^n - x^{n/2} + 1.
fn schoolbook<P: Params>(a: &[i16], b: &[i16]) -> Vec<i64> {
    let mut product = vec![0; 2 * P::N];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += i64::from(*a) * i64::from(*b);
        }
    }
    for place in (P::N..2 * P::N).rev() {
        let c = product[place];
        product[place - P::N / 2] += c;
        product[place - P::N] -= c;
    }
    product[..P::N].iter().map(|c| c.rem_euclid(Q.into())).collect()
}

fn inverse_of_two_to_the_32() -> i64 {
    (1..i64::from(Q))
        .find(|x| (x << 32) % i64::from(Q) == 1)
        .expect("q is odd")
}

fn canonical(a: &[i16]) -> Vec<i64> {
    a.iter().map(|c| i64::from(*c).rem_euclid(Q.into())).collect()
}

fn copy<P: Params>(a: &[i16]) -> P::Poly {
    let mut poly = P::Poly::ZERO;
    poly.as_mut().copy_from_slice(a);
    poly
}
