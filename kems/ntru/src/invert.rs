//! Inverses modulo Phi = 1 + x + .. + x^(n-1) over the fields of two and three elements, by the division steps of Bernstein
//! and Yang ("Fast constant-time gcd computation and modular inversion", 2019): their number depends on n only.
//!
//! As many field elements as a word has bits lie in one or two words, so that a step costs a few instructions for all of them.

use core::hint::black_box;

use zeroize::{Zeroize, Zeroizing};

use crate::params::Params;

/// What the processor computes with at once.
#[cfg(target_pointer_width = "64")]
pub(crate) type Word = u64;
#[cfg(not(target_pointer_width = "64"))]
pub(crate) type Word = u32;

const BITS: usize = Word::BITS as usize;

/// Two elements: a bit each.
pub(crate) enum F2 {}

/// Three elements: a bit that says not zero, and a bit that says -1.
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
    (0..P::N).for_each(|i| F::set(&mut f[i / BITS], i % BITS, 1));
    for (i, &c) in p[..P::N - 1].iter().rev().enumerate() {
        F::set(&mut g[i / BITS], i % BITS, c);
    }
    F::set(&mut r[0], 0, 1);

    let mut delta = 1;
    let steps = 2 * (P::N - 1) - 1;
    for done in 0..steps {
        let (factor, swap) = decide::<F>(&mut delta, &f[0], &g[0]);
        // Degrees: f and g at most n - 1 and what is left to do, v and r at most what is done.
        let high = f.len().min((steps - done) / BITS + 1);
        cancel::<F>(&mut f[..high], &mut g[..high], &factor, swap);
        let low = v.len().min((done + 1) / BITS + 1);
        follow::<F>(&mut v[..low], &mut r[..low], &factor, swap);
    }
    let scale = F::constant_term(&f[0]);
    v.iter_mut().for_each(|v| *v = F::mul(v, &scale));
    for (i, c) in out[..P::N - 1].iter_mut().rev().enumerate() {
        *c = F::get(&v[i / BITS], i % BITS);
    }
    out[P::N - 1] = 0;
}

/// What the next division step adds to g for each f, and whether g then becomes the next f: all ones, or zero.
fn decide<F: Field>(delta: &mut i16, f: &F::Planes, g: &F::Planes) -> (F::Planes, Word) {
    let (f0, g0) = (F::constant_term(f), F::constant_term(g));
    // f0 is never zero, and its own inverse.
    let factor = F::neg(&F::mul(&f0, &g0));
    let positive = (i64::from(-*delta) >> 63) as Word;
    let swap = black_box(positive & F::nonzero(&g0));
    let negate = swap as i16;
    *delta = 1 + ((*delta ^ negate) - negate);
    (factor, swap)
}

/// (g, r) + factor (f, v) loses its constant term and is divided by x. A swap also multiplies it by the factor in the original
/// step, which would be one unit more for the result to carry and is left out.
fn cancel<F: Field>(f: &mut [F::Planes], g: &mut [F::Planes], factor: &F::Planes, swap: Word) {
    let mut carry = F::ZERO;
    for (f, g) in f.iter_mut().zip(g).rev() {
        let sum = F::add(g, &F::mul(f, factor));
        *f = F::select(f, g, swap);
        *g = F::zip(&sum, &carry, |sum, carry| sum >> 1 | carry << (BITS - 1));
        carry = sum;
    }
}

/// The same on the cofactors, where v takes the factor x that g loses.
fn follow<F: Field>(v: &mut [F::Planes], r: &mut [F::Planes], factor: &F::Planes, swap: Word) {
    let mut carry = F::ZERO;
    for (v, r) in v.iter_mut().zip(r) {
        let shifted = F::zip(v, &carry, |v, carry| v << 1 | carry >> (BITS - 1));
        carry = *v;
        *v = F::select(&shifted, r, swap);
        *r = F::add(r, &F::mul(&shifted, factor));
    }
}

/// A small field, a word's bits of elements at a time.
pub(crate) trait Field {
    /// Bit i of every plane belongs to element i.
    type Planes: Copy + Zeroize + AsRef<[Word]> + AsMut<[Word]>;

    const ZERO: Self::Planes;

    fn add(a: &Self::Planes, b: &Self::Planes) -> Self::Planes;
    fn mul(a: &Self::Planes, b: &Self::Planes) -> Self::Planes;
    fn neg(a: &Self::Planes) -> Self::Planes;

    /// Sets element `i`, so far zero.
    fn set(a: &mut Self::Planes, i: usize, c: u16);

    /// Element `i`, below the size of the field.
    fn get(a: &Self::Planes, i: usize) -> u16 {
        a.as_ref().iter().fold(0, |c, plane| c + (plane >> i & 1) as u16)
    }

    /// Element 0, as often as there is room.
    fn constant_term(a: &Self::Planes) -> Self::Planes {
        // The compiler must not see that a plane is all zeros or all ones: it would branch instead of computing with it.
        Self::zip(a, a, |plane, _| black_box((plane & 1).wrapping_neg()))
    }

    /// Bit i is set where element i is not zero.
    fn nonzero(a: &Self::Planes) -> Word {
        a.as_ref()[0]
    }

    #[inline(always)]
    fn zip(a: &Self::Planes, b: &Self::Planes, operation: impl Fn(Word, Word) -> Word) -> Self::Planes {
        let mut result = *a;
        for (a, b) in result.as_mut().iter_mut().zip(b.as_ref()) {
            *a = operation(*a, *b);
        }
        result
    }

    /// `b` if `mask` is all ones, `a` if it is zero.
    #[inline(always)]
    fn select(a: &Self::Planes, b: &Self::Planes, mask: Word) -> Self::Planes {
        Self::zip(a, b, |a, b| a ^ ((a ^ b) & mask))
    }
}

impl Field for F2 {
    type Planes = [Word; 1];

    const ZERO: [Word; 1] = [0];

    #[inline(always)]
    fn add([a]: &[Word; 1], [b]: &[Word; 1]) -> [Word; 1] {
        [a ^ b]
    }

    #[inline(always)]
    fn mul([a]: &[Word; 1], [b]: &[Word; 1]) -> [Word; 1] {
        [a & b]
    }

    fn neg(a: &[Word; 1]) -> [Word; 1] {
        *a
    }

    fn set([a]: &mut [Word; 1], i: usize, c: u16) {
        *a |= Word::from(c) << i;
    }
}

impl Field for F3 {
    type Planes = [Word; 2];

    const ZERO: [Word; 2] = [0; 2];

    #[inline(always)]
    fn add([a, minus_a]: &[Word; 2], [b, minus_b]: &[Word; 2]) -> [Word; 2] {
        let (s, t) = (a ^ minus_b, minus_a ^ b);
        [(s ^ minus_a) | (t ^ minus_b), s & t]
    }

    #[inline(always)]
    fn mul([a, minus_a]: &[Word; 2], [b, minus_b]: &[Word; 2]) -> [Word; 2] {
        [a & b, (minus_a & b) ^ (a & minus_b)]
    }

    fn neg([a, minus_a]: &[Word; 2]) -> [Word; 2] {
        [*a, a ^ minus_a]
    }

    fn set([a, minus_a]: &mut [Word; 2], i: usize, c: u16) {
        *a |= Word::from((c | c >> 1) & 1) << i;
        *minus_a |= Word::from(c >> 1) << i;
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
                assert_eq!(F::get(&word, 17), c);
                word
            };
            for a in 0..size {
                assert_eq!(F::get(&F::neg(&word(a)), 17), (size - a) % size);
                assert_eq!(F::nonzero(&word(a)), Word::from(a != 0) << 17);
                for b in 0..size {
                    assert_eq!(F::get(&F::add(&word(a), &word(b)), 17), (a + b) % size);
                    assert_eq!(F::get(&F::mul(&word(a), &word(b)), 17), a * b % size);
                    for (mask, chosen) in [(0, a), (Word::MAX, b)] {
                        assert_eq!(F::get(&F::select(&word(a), &word(b), mask), 17), chosen);
                    }
                }
            }
        }
        check::<F2>(2);
        check::<F3>(3);
    }
}
