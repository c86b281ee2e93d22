//! Inverses modulo Phi = 1 + x + .. + x^(n-1) over the fields of two and three elements, by the division steps of Bernstein
//! and Yang ("Fast constant-time gcd computation and modular inversion", 2019): their number depends on n only.
//!
//! 64 field elements lie in one or two words, so that a step costs a few instructions per 64 coefficients.

use core::hint::black_box;

use zeroize::{Zeroize, Zeroizing};

use crate::params::Params;

/// Two elements: a bit each.
pub(crate) enum F2 {}

/// Three elements: a bit that says 1 and a bit that says -1.
pub(crate) enum F3 {}

/// `out` = 1 / `p` modulo Phi over `F`. In: coefficients below the size of the field, the last one zero. Zero has no
/// inverse, and its result no meaning; everything else has one, because Phi is irreducible over both fields.
pub(crate) fn invert<P: Params, F: Field>(p: &[u16], out: &mut [u16]) {
    // The steps cancel constant terms, so both polynomials are reversed; Phi is its own reverse.
    let mut f = Zeroizing::new(P::lanes(F::ZERO));
    let mut g = Zeroizing::new(P::lanes(F::ZERO));
    let mut v = Zeroizing::new(P::lanes(F::ZERO));
    let mut r = Zeroizing::new(P::lanes(F::ZERO));
    let (f, g, v, r) = ((*f).as_mut(), (*g).as_mut(), (*v).as_mut(), (*r).as_mut());
    (0..P::N).for_each(|i| F::set(&mut f[i / 64], i % 64, 1));
    for (i, &c) in p[..P::N - 1].iter().rev().enumerate() {
        F::set(&mut g[i / 64], i % 64, c);
    }
    F::set(&mut r[0], 0, 1);

    let mut delta = 1;
    for _ in 0..2 * (P::N - 1) - 1 {
        delta = step::<F>(delta, f, g, v, r);
    }
    let scale = F::constant_term(f);
    v.iter_mut().for_each(|v| *v = F::mul(*v, scale));
    for (i, c) in out[..P::N - 1].iter_mut().rev().enumerate() {
        *c = F::get(v[i / 64], i % 64);
    }
    out[P::N - 1] = 0;
}

/// One division step on (f, g), and the same on the cofactors (v, r), where v takes the factor x that g loses.
fn step<F: Field>(delta: i16, f: &mut [F::Word], g: &mut [F::Word], v: &mut [F::Word], r: &mut [F::Word]) -> i16 {
    let (f0, g0) = (F::constant_term(f), F::constant_term(g));
    // f0 is never zero, and its own inverse.
    let factor = F::neg(F::mul(f0, g0));
    let positive = (i64::from(-delta) >> 63) as u64;
    let swap = black_box(positive & F::nonzero(g0));
    let mut carry = F::ZERO;
    let cofactors = v.iter_mut().zip(r);
    for ((f, g), (v, r)) in f.iter_mut().zip(&mut *g).zip(cofactors) {
        let top = F::map(*v, |plane| plane >> 63);
        *v = F::or(F::map(*v, |plane| plane << 1), carry);
        carry = top;
        F::conditional_swap(f, g, swap);
        F::conditional_swap(v, r, swap);
        *g = F::add(*g, F::mul(*f, factor));
        *r = F::add(*r, F::mul(*v, factor));
    }
    let mut carry = F::ZERO;
    for g in g.iter_mut().rev() {
        let bottom = F::map(*g, |plane| plane << 63);
        *g = F::or(F::map(*g, |plane| plane >> 1), carry);
        carry = bottom;
    }
    let negate = swap as i16;
    1 + ((delta ^ negate) - negate)
}

/// A small field, 64 elements at a time.
pub(crate) trait Field {
    /// Bit i of every plane belongs to element i.
    type Word: Copy + Zeroize + AsRef<[u64]> + AsMut<[u64]>;

    const ZERO: Self::Word;

    fn add(a: Self::Word, b: Self::Word) -> Self::Word;
    fn mul(a: Self::Word, b: Self::Word) -> Self::Word;
    fn neg(a: Self::Word) -> Self::Word;

    /// Element 0 of the first word, 64 times.
    fn constant_term(p: &[Self::Word]) -> Self::Word {
        // The compiler must not see that a plane is all zeros or all ones: it would branch instead of computing with it.
        Self::map(p[0], |plane| black_box((plane & 1).wrapping_neg()))
    }

    /// Bit i is set where element i is not zero.
    fn nonzero(a: Self::Word) -> u64 {
        a.as_ref().iter().fold(0, |any, plane| any | plane)
    }

    fn map(mut a: Self::Word, change: impl Fn(u64) -> u64) -> Self::Word {
        a.as_mut().iter_mut().for_each(|plane| *plane = change(*plane));
        a
    }

    fn or(mut a: Self::Word, b: Self::Word) -> Self::Word {
        a.as_mut().iter_mut().zip(b.as_ref()).for_each(|(a, b)| *a |= b);
        a
    }

    /// Swaps if `mask` is all ones, not if it is zero.
    fn conditional_swap(a: &mut Self::Word, b: &mut Self::Word, mask: u64) {
        for (a, b) in a.as_mut().iter_mut().zip(b.as_mut()) {
            let difference = (*a ^ *b) & mask;
            *a ^= difference;
            *b ^= difference;
        }
    }

    /// Sets element `i`, so far zero.
    fn set(word: &mut Self::Word, i: usize, c: u16) {
        for (k, plane) in word.as_mut().iter_mut().enumerate() {
            *plane |= u64::from(c >> k & 1) << i;
        }
    }

    /// Element `i`, below the size of the field.
    fn get(word: Self::Word, i: usize) -> u16 {
        let planes = word.as_ref().iter().rev();
        planes.fold(0, |c, plane| c << 1 | (plane >> i & 1) as u16)
    }
}

impl Field for F2 {
    type Word = [u64; 1];

    const ZERO: [u64; 1] = [0];

    fn add([a]: [u64; 1], [b]: [u64; 1]) -> [u64; 1] {
        [a ^ b]
    }

    fn mul([a]: [u64; 1], [b]: [u64; 1]) -> [u64; 1] {
        [a & b]
    }

    fn neg(a: [u64; 1]) -> [u64; 1] {
        a
    }
}

impl Field for F3 {
    type Word = [u64; 2];

    const ZERO: [u64; 2] = [0; 2];

    fn add([a, minus_a]: [u64; 2], [b, minus_b]: [u64; 2]) -> [u64; 2] {
        let t = (a | minus_b) ^ (minus_a | b);
        [(minus_a | minus_b) ^ t, (a | b) ^ t]
    }

    fn mul([a, minus_a]: [u64; 2], [b, minus_b]: [u64; 2]) -> [u64; 2] {
        [(a & b) | (minus_a & minus_b), (a & minus_b) | (minus_a & b)]
    }

    fn neg([a, minus_a]: [u64; 2]) -> [u64; 2] {
        [minus_a, a]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_of_the_fields() {
        fn check<F: Field>(size: u16) {
            let word = |c| {
                let mut word = F::ZERO;
                F::set(&mut word, 17, c);
                assert_eq!(F::get(word, 17), c);
                word
            };
            for a in 0..size {
                assert_eq!(F::get(F::neg(word(a)), 17), (size - a) % size);
                assert_eq!(F::nonzero(word(a)), u64::from(a != 0) << 17);
                for b in 0..size {
                    assert_eq!(F::get(F::add(word(a), word(b)), 17), (a + b) % size);
                    assert_eq!(F::get(F::mul(word(a), word(b)), 17), a * b % size);
                }
            }
        }
        check::<F2>(2);
        check::<F3>(3);
    }
}
