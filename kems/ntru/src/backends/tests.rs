//! Both multiplications against the definition, in exact arithmetic.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::sealed::Multiply;
use super::*;

/// n, and the length of the scratch space divided by 8.
const SIZES: [(usize, usize); 4] = [(509, 512), (677, 704), (821, 832), (701, 704)];

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

fn check(a: &[u16], b: &[u16], padded: usize) {
    fn product<M: Multiply>(a: &[u16], b: &[u16], padded: usize) -> Vec<u16> {
        let mut out = a.to_vec();
        // What an earlier product left behind must not matter.
        M::multiply(&mut out, b, &mut vec![0xa5a5; 8 * padded]);
        out
    }
    let expected = schoolbook(a, b);
    assert_eq!(product::<Tmvp>(a, b, padded), expected);
    assert_eq!(product::<Karatsuba>(a, b, padded), expected);
}

#[test]
fn largest_coefficients() {
    for (n, padded) in SIZES {
        for c in [1, 2, 0x7fff, 0x8000, 0xffff] {
            check(&vec![c; n], &vec![c; n], padded);
            check(&vec![c; n], &vec![0xffff; n], padded);
        }
    }
}

#[test]
fn monomials_wrap_around() {
    for (n, padded) in SIZES {
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
            check(&a, &b, padded);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_polynomials((a, b, padded) in prop::sample::select(&SIZES[..]).prop_flat_map(|(n, padded)| {
        let poly = || prop::collection::vec(any::<u16>(), n);
        (poly(), poly(), Just(padded))
    })) {
        check(&a, &b, padded);
    }
}
