//! Arithmetic in the leaves F_q\[X\]/(X^DEG - L), each of which is a field.

use subtle::{Choice, ConstantTimeEq};

use crate::lab::params::Params;

/// `p` *= `factor` / R, leaf by leaf. In: coefficients of both centred. Out: centred.
pub(crate) fn multiply<P: Params>(p: &mut [i16], mut factor: impl Iterator<Item = i16>) {
    for (a, l) in p.chunks_exact_mut(P::DEG).zip(roots::<P>()) {
        let mut b = [0; 3];
        b.iter_mut().zip(factor.by_ref().take(P::DEG)).for_each(|(b, f)| *b = f);
        let product = product::<P>(a, &b, l);
        a.copy_from_slice(&product[..P::DEG]);
    }
}

/// `a` / `b` leaf by leaf. In: both in the Montgomery domain, `b` invertible. Out: in the Montgomery domain, 0..q.
pub(crate) fn quotients<P: Params>(a: &[i16], b: &[i16]) -> impl Iterator<Item = u16> {
    a.chunks_exact(P::DEG)
        .zip(b.chunks_exact(P::DEG))
        .zip(roots::<P>())
        .flat_map(|((a, b), l)| {
            let quotient = product::<P>(a, &inverse::<P>(b, l), l);
            quotient.into_iter().take(P::DEG).map(|c| P::freeze(c) as u16)
        })
}

/// 1 if no leaf of `p` is zero. In: centred.
pub(crate) fn is_invertible<P: Params>(p: &[i16]) -> Choice {
    p.chunks_exact(P::DEG).fold(Choice::from(1), |all, leaf| {
        let any = leaf.iter().fold(0, |any, &c| any | c as u16);
        all & !any.ct_eq(&0)
    })
}

/// L of every leaf, in the Montgomery domain: the square roots of the last layer with both signs.
pub(crate) fn roots<P: Params>() -> impl Iterator<Item = i16> {
    let pairs = P::N / P::DEG / 2;
    P::ROOTS[P::ROOTS.len() - pairs..]
        .iter()
        .flat_map(|&root| [root, -root])
}

/// a b / R modulo X^DEG - l; for DEG = 2 the third coefficients are ignored and 0.
#[inline(always)]
fn product<P: Params>(a: &[i16], b: &[i16; 3], l: i16) -> [i16; 3] {
    // Three products of centred numbers stay below 2^15 q.
    let sum = |terms: &[(i16, i16)]| P::reduce(terms.iter().map(|&(x, y)| i32::from(x) * i32::from(y)).sum());
    let wrapped = |low: &[(i16, i16)], high: &[(i16, i16)]| {
        let high = P::centre(sum(high));
        P::reduce(low.iter().map(|&(x, y)| i32::from(x) * i32::from(y)).sum::<i32>() + i32::from(high) * i32::from(l))
    };
    let out = if P::DEG == 2 {
        [
            wrapped(&[(a[0], b[0])], &[(a[1], b[1])]),
            sum(&[(a[0], b[1]), (a[1], b[0])]),
            0,
        ]
    } else {
        [
            wrapped(&[(a[0], b[0])], &[(a[1], b[2]), (a[2], b[1])]),
            wrapped(&[(a[0], b[1]), (a[1], b[0])], &[(a[2], b[2])]),
            sum(&[(a[0], b[2]), (a[1], b[1]), (a[2], b[0])]),
        ]
    };
    out.map(P::centre)
}

/// The adjugate by the norm. Montgomery domain; 0 gives 0.
fn inverse<P: Params>(a: &[i16], l: i16) -> [i16; 3] {
    let (mul, minus) = (P::mul, |x, y| P::centre(x - y));
    let adjugate = if P::DEG == 2 {
        [a[0], -a[1], 0]
    } else {
        [
            minus(mul(a[0], a[0]), mul(l, mul(a[1], a[2]))),
            minus(mul(l, mul(a[2], a[2])), mul(a[0], a[1])),
            minus(mul(a[1], a[1]), mul(a[0], a[2])),
        ]
    };
    let [norm, ..] = product::<P>(a, &adjugate, l);
    let scale = P::invert(norm);
    adjugate.map(|c| mul(c, scale))
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::lab::ntt;
    use crate::lab::{N648, N1296, N2592};

    #[test]
    fn one_zero_leaf_is_enough_to_be_not_invertible() {
        fn check<P: Params>() {
            let mut p = vec![0; P::N];
            p.chunks_exact_mut(P::DEG)
                .enumerate()
                .for_each(|(i, leaf)| leaf[i % P::DEG] = 1);
            assert!(bool::from(is_invertible::<P>(&p)));
            for leaf in [0, 7, P::N / P::DEG - 1] {
                let mut p = p.clone();
                p[P::DEG * leaf..][..P::DEG].fill(0);
                assert!(!bool::from(is_invertible::<P>(&p)));
            }
        }
        check::<N648>();
        check::<N1296>();
        check::<N2592>();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        /// Against schoolbook multiplication in Z\[X\], then X^n = X^(n/2) - 1.
        #[test]
        fn products_are_those_of_the_ring(seed in any::<[u64; 2]>()) {
            fn check<P: Params>(seed: [u64; 2]) {
                let [a, b] = seed.map(polynomial::<P>);
                let mut product = vec![0i64; 2 * P::N];
                for (i, &a) in a.iter().enumerate() {
                    for (j, &b) in b.iter().enumerate() {
                        product[i + j] += i64::from(a) * i64::from(b);
                    }
                }
                for i in (P::N..2 * P::N).rev() {
                    product[i - P::N / 2] += product[i];
                    product[i - P::N] -= product[i];
                }
                let expected: Vec<_> = product[..P::N].iter().map(|c| c.rem_euclid(P::Q.into()) as i16).collect();

                let [mut a, mut b] = [a, b];
                ntt::forward::<P>(&mut a);
                ntt::forward::<P>(&mut b);
                multiply::<P>(&mut a, b.iter().copied());
                let mut ours = a.clone();
                ntt::inverse::<P>(&mut ours, P::to_montgomery(P::ONE));
                assert_eq!(ours.iter().map(|&c| P::freeze(c)).collect::<Vec<_>>(), expected);

                // (a b) / b = a, with the factors that `quotients` wants.
                let montgomery = |p: &[i16]| p.iter().map(|&c| P::to_montgomery(c)).collect::<Vec<_>>();
                let (product, divisor) = (montgomery(&montgomery(&a)), montgomery(&b));
                let back: Vec<_> = quotients::<P>(&product, &divisor).map(|c| P::centre(c as i16)).collect();
                let mut original = montgomery(&polynomial::<P>(seed[0]));
                ntt::forward::<P>(&mut original);
                assert_eq!(back, original);
            }
            check::<N648>(seed);
            check::<N1296>(seed);
            check::<N2592>(seed);
        }
    }

    fn polynomial<P: Params>(mut seed: u64) -> Vec<i16> {
        (0..P::N)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                P::centre((seed >> 48) as i16)
            })
            .collect()
    }
}
