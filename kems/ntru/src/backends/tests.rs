//! Every multiplication against the definition, in exact arithmetic.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::pairs::Product;
use super::sealed::Multiply;
use super::*;
use crate::params::{Hps509, Hps677, Hps821, Hrss701, Params, Set};

/// The product modulo x^n - 1 and 2^16, term by term.
pub(crate) fn schoolbook(a: &[u16], b: &[u16]) -> Vec<u16> {
    let n = a.len();
    let mut out = vec![0u64; n];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            out[(i + j) % n] += u64::from(a) * u64::from(b);
        }
    }
    out.into_iter().map(|c| c as u16).collect()
}

/// `a` * `b` by every multiplication. With `ternary` the one for a ternary `a` as well.
fn check<P: Params>(a: &[u16], b: &[u16], ternary: bool) {
    let modulo_q = |p: &[u16]| p.iter().map(|c| c & Set::<P>::Q_MASK).collect::<Vec<_>>();
    let filled = |p: &[u16]| {
        let mut poly = P::POLY;
        poly.as_mut().copy_from_slice(p);
        poly
    };
    fn with<P: Params, M: Multiply>(a: &P::Poly, b: &P::Poly, ternary: bool) -> Vec<P::Poly> {
        let mut scratch = M::scratch::<P>();
        let (mut out, mut again) = (*a, *a);
        // What an earlier product left behind must not matter.
        M::multiply::<P>(&mut again, b, &mut scratch);
        M::multiply::<P>(&mut out, b, &mut scratch);
        if ternary {
            again = *a;
            M::multiply_ternary::<P>(&mut again, b, &mut scratch);
        }
        [out, again].to_vec()
    }
    let expected = modulo_q(&schoolbook(a, b));
    let (a, b) = (filled(a), filled(b));
    let mut products = with::<P, Tmvp>(&a, &b, ternary);
    products.extend(with::<P, Karatsuba>(&a, &b, ternary));
    products.extend(with::<P, ToomCook>(&a, &b, ternary));
    products.extend(with::<P, Ntt>(&a, &b, ternary));
    let mut on_pairs = a;
    let mut words = P::Toeplitz::NEW;
    words.multiply(on_pairs.as_mut(), b.as_ref());
    products.push(on_pairs);
    for (i, product) in products.iter().enumerate() {
        assert_eq!(modulo_q(product.as_ref()), expected, "{i}");
    }
}

fn largest_coefficients<P: Params>() {
    let q = 1 << P::LOG_Q;
    for c in [1, 2, q / 2 - 1, q / 2, q - 1, 0x7fff, 0x8000, 0xffff] {
        check::<P>(&vec![c; P::N], &vec![c; P::N], false);
        for ternary in [1, 0xffff] {
            check::<P>(&vec![ternary; P::N], &vec![c; P::N], true);
        }
    }
}

fn monomials_wrap_around<P: Params>() {
    let n = P::N;
    let monomial = |at: usize| (0..n).map(|i| u16::from(i == at)).collect::<Vec<_>>();
    for (i, j) in [
        (0, 0),
        (0, n - 1),
        (1, n - 1),
        (n - 1, n - 1),
        (n / 2, n / 2),
        (17, n - 17),
    ] {
        let (a, b) = (monomial(i), monomial(j));
        assert_eq!(schoolbook(&a, &b), monomial((i + j) % n));
        check::<P>(&a, &b, true);
    }
}

macro_rules! sets {
    ($($name:ident: $params:ident),*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn at_the_bounds() {
                largest_coefficients::<$params>();
                monomials_wrap_around::<$params>();
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(12))]

                #[test]
                fn random_polynomials(
                    a in prop::collection::vec(any::<u16>(), $params::N),
                    b in prop::collection::vec(any::<u16>(), $params::N),
                    small in prop::collection::vec(0u16..3, $params::N),
                ) {
                    check::<$params>(&a, &b, false);
                    let small: Vec<_> = small.into_iter().map(|c| c.wrapping_sub(1)).collect();
                    check::<$params>(&small, &b, true);
                }
            }
        }
    )*};
}

sets!(hps_509: Hps509, hps_677: Hps677, hps_821: Hps821, hrss_701: Hrss701);
