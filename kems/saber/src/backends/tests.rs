//! Every backend against schoolbook multiplication, at the bounds of the contract.

use proptest::prelude::*;

use super::portable::Portable;
use super::*;
use crate::poly::N;

/// Sum of a\[i\] * s\[i\] in Z\[x\]/(x^256 + 1).
pub(crate) fn schoolbook(terms: &[(Poly, Poly)]) -> [i64; N] {
    let mut sum = [0i64; N];
    for (a, s) in terms {
        for (i, &a) in a.iter().enumerate() {
            for (j, &s) in s.iter().enumerate() {
                let term = i64::from(a) * i64::from(s);
                if i + j < N {
                    sum[i + j] += term;
                } else {
                    sum[i + j - N] -= term;
                }
            }
        }
    }
    sum
}

fn check<M: Arith>(arith: M, terms: &[(Poly, Poly)]) {
    let (mut sum, mut out) = (M::SUM, [0; N]);
    let exact = schoolbook(terms);
    // Twice, as `finish` has to leave an empty sum.
    for _ in 0..2 {
        for (a, s) in terms {
            let mut hat = M::SECRET;
            arith.secret(s, &mut hat);
            arith.mul_acc(&mut sum, a, &hat);
        }
        arith.finish(&mut sum, &mut out);
        for (i, (&ours, &exact)) in out.iter().zip(&exact).enumerate() {
            assert_eq!(
                ours as u16 & 0x1fff,
                exact as u16 & 0x1fff,
                "coefficient {i}, exactly {exact}"
            );
            assert_eq!(ours as u16, exact as u16, "coefficient {i}, exactly {exact}");
        }
    }
}

fn check_all(terms: &[(Poly, Poly)]) {
    check(Portable, terms);
    check(NATIVE, terms);
}

/// All products of one coefficient have the same sign: the largest sums there are, in both directions.
#[test]
fn largest_sums() {
    for (a, s) in [(-4096, 8), (-4096, -8), (4095, 8), (4095, -8)] {
        check_all(&[([a; N], [s; N]); 4]);
        // The signs of x^256 = -1 undone for coefficient i.
        for i in [0, 1, 128, 254] {
            let signed = core::array::from_fn(|j| if j <= i { s } else { -s });
            check_all(&[([a; N], signed); 4]);
        }
    }
}

#[test]
fn monomials_multiply_to_signed_monomials() {
    let monomial = |i: usize, c: i16| core::array::from_fn(|j| if i == j { c } else { 0 });
    for (i, j) in [(0, 0), (0, 255), (1, 255), (128, 128), (255, 255), (17, 200)] {
        check_all(&[(monomial(i, -4096), monomial(j, 5))]);
    }
}

#[test]
fn the_empty_sum_is_zero() {
    check_all(&[]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_sums(terms in prop::collection::vec((poly(-4096, 4095), poly(-8, 8)), 0..=4)) {
        check_all(&terms);
    }

    /// Coefficients at the ends of their ranges only.
    #[test]
    fn extreme_sums(terms in prop::collection::vec((ends(-4096, 4095), ends(-8, 8)), 0..=4)) {
        check_all(&terms);
    }
}

fn poly(low: i16, high: i16) -> impl Strategy<Value = Poly> {
    prop::collection::vec(low..=high, N).prop_map(|c| c.try_into().expect("N coefficients"))
}

fn ends(low: i16, high: i16) -> impl Strategy<Value = Poly> {
    prop::collection::vec(prop_oneof![Just(low), Just(high), Just(0)], N)
        .prop_map(|c| c.try_into().expect("N coefficients"))
}
