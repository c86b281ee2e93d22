//! Cortex-M4: two coefficients in a register, three layers of the transform between loads and stores.
#![allow(unsafe_code)]

mod transform;

use kem_core::packed::{
    add, add_q_if_negative, dual_crossed, factor_of_montgomery, mla_tt, mul_bb, multiply, multiply_high, reduce,
};

use super::Arith;
use crate::poly::{N, Poly, Q};
use transform::{FACTORS, ONE};

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct CortexM4;

impl Arith for CortexM4 {
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
        let (acc, b) = (&mut words_mut(acc)[first / 2..], &words(b)[first / 2..]);
        let blocks = acc
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(a.as_chunks::<4>().0)
            .zip(b.as_chunks::<2>().0);
        for (((acc, a), b), &zeta) in blocks.zip(&FACTORS.last[first / 4..]) {
            let [a0, a1, a2, a3] = a.map(|c| c as u16 as u32);
            acc[0] = add(acc[0], product(a0 | a1 << 16, b[0], zeta));
            // The factor of -zeta.
            acc[1] = add(acc[1], product(a2 | a3 << 16, b[1], 1u32.wrapping_sub(zeta)));
        }
    }

    /// Inlined, so that the division in the conversion of the factor, a constant, is done by the compiler.
    #[inline(always)]
    fn scale(self, p: &mut Poly, factor: i16) {
        scale(words_mut(p), factor_of_montgomery::<Q>(factor));
    }

    #[inline(never)]
    fn freeze(self, p: &mut Poly) {
        words_mut(p)
            .iter_mut()
            .for_each(|w| *w = add_q_if_negative::<Q>(multiply::<Q>(*w, ONE)));
    }
}

#[inline(never)]
fn scale(p: &mut [u32; N / 2], factor: u32) {
    p.iter_mut().for_each(|w| *w = multiply::<Q>(*w, factor));
}

/// a b / R modulo x^2 - zeta.
#[inline(always)]
fn product(a: u32, b: u32, zeta: u32) -> u32 {
    let twisted = multiply_high::<Q>(b, zeta);
    reduce::<Q>(mla_tt(a, twisted, mul_bb(a, b)), dual_crossed(a, b))
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
