//! Cortex-M4: two coefficients in a register, three layers of the transform between loads and stores.
#![allow(unsafe_code)]

mod transform;

use kem_core::packed::{add, dual_crossed, mla_tt, mul_bb, multiply_high, reduce};

use super::Arith;
use crate::poly::{N, Poly, Q};
use transform::FACTORS;

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
    fn basemul_acc(self, acc: &mut Poly, a: &Poly, b: &Poly) {
        let (acc, a, b) = (words_mut(acc), words(a), words(b));
        let blocks = acc
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(a.as_chunks::<2>().0)
            .zip(b.as_chunks::<2>().0);
        for (((acc, a), b), &zeta) in blocks.zip(&FACTORS.last) {
            acc[0] = add(acc[0], product(a[0], b[0], zeta));
            // The factor of -zeta.
            acc[1] = add(acc[1], product(a[1], b[1], 1u32.wrapping_sub(zeta)));
        }
    }
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
