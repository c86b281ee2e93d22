//! The target's multiplication against the portable one, for test firmware, which is where both can run.

use super::{Arith, NATIVE, portable::Portable};
use crate::poly::{N, Poly};

/// Whether sums of up to four products agree, twice in a row. In: each (a, s) with a in -2^12..2^12 and s in -8..8 (8 too, but on AVR).
pub fn sums_agree(terms: &[([i16; N], [i16; N])]) -> bool {
    let (mut ours, mut theirs) = (sums(NATIVE, terms), sums(Portable, terms));
    // `finish` has to leave an empty sum.
    (0..2).all(|_| ours() == theirs())
}

/// One product, for a cycle counter.
pub fn product(a: &[i16; N], s: &mut [i16; N]) {
    *s = sums(NATIVE, &[(*a, *s)])();
}

fn sums<M: Arith>(arith: M, terms: &[(Poly, Poly)]) -> impl FnMut() -> Poly {
    let (mut sum, mut hat) = (M::SUM, M::SECRET);
    move || {
        let mut out = [0; N];
        for (a, s) in terms {
            arith.secret(s, &mut hat);
            arith.mul_acc(&mut sum, a, &hat);
        }
        arith.finish(&mut sum, &mut out);
        out
    }
}
