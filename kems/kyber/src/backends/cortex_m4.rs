//! Cortex-M4: two coefficients in a register, three layers of the transform between loads and stores.
#![allow(unsafe_code)]

mod product;
mod transform;

use core::ops::RangeInclusive;

use kem_core::modular::Zq;
use kem_core::packed::{add_q_if_negative, factor_of_montgomery, multiply};

use super::Arith;
use crate::poly::{N, Poly, Q};
use transform::ONE;

/// See the module. Products have a factor 1 / R, transforms none.
#[derive(Clone, Copy)]
pub(crate) struct CortexM4;

impl Arith for CortexM4 {
    const FACTOR: RangeInclusive<i16> = 1 - Q..=Q - 1;
    const SUMMAND: RangeInclusive<i16> = 1 - Q..=Q - 1;

    #[inline(never)]
    fn ntt(self, p: &mut Poly) {
        transform::forward(words_mut(p));
    }

    #[inline(never)]
    fn inverse_ntt(self, p: &mut Poly) {
        transform::inverse(words_mut(p));
    }

    #[inline(never)]
    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize) {
        product::accumulate(words_mut(acc), a, words(b), first);
    }

    fn lift(self, p: &mut Poly) {
        scale(words_mut(p), const { factor_of_montgomery::<Q>(1) });
    }

    fn standard(self, p: &mut Poly) {
        self.freeze(p);
    }

    fn standard_sum(self, p: &mut Poly) {
        scale(words_mut(p), const { factor_of_montgomery::<Q>(Zq::<Q>::R2) });
        self.freeze(p);
    }

    #[inline(never)]
    fn freeze(self, p: &mut Poly) {
        for w in words_mut(p).as_chunks_mut::<4>().0 {
            *w = w.map(|w| add_q_if_negative::<Q>(multiply::<Q>(w, ONE)));
        }
    }
}

#[inline(never)]
fn scale(p: &mut [u32; N / 2], factor: u32) {
    p.iter_mut().for_each(|w| *w = multiply::<Q>(*w, factor));
}

/// The coefficients in pairs, the first one in the low half.
fn words_mut(p: &mut Poly) -> &mut [u32; N / 2] {
    // SAFETY: a polynomial is aligned to a word, and has no bit pattern that is not a value.
    unsafe { &mut *p.0.as_mut_ptr().cast() }
}

fn words(p: &Poly) -> &[u32; N / 2] {
    // SAFETY: as in `words_mut`.
    unsafe { &*p.0.as_ptr().cast() }
}
