//! Cortex-M4: two coefficients in a register, three layers of the transform between loads and stores.
#![allow(unsafe_code)]

mod block;
mod decrypt;
mod transform;

use subtle::Choice;

use super::Arith;
use crate::encoding::{CT_LEN, F_LEN};
use crate::ring::{N, Poly, Q, ZETAS};
use transform::Factors;

/// Transform domain: bit-reversed order, no factor, |c| <= 1024 + 6 * 385 = 3334. `basemul` leaves a factor 1 / R, which the
/// last layers of `invntt` remove.
#[derive(Clone, Copy)]
pub(crate) struct CortexM4;

impl Arith for CortexM4 {
    #[inline(never)]
    fn ntt(self, p: &mut Poly) {
        transform::forward(words_mut(p), &FACTORS);
    }

    #[inline(never)]
    fn basemul(self, r: &mut Poly, a: &Poly) {
        block::multiply_all(words_mut(r), words(a), &FACTORS);
    }

    fn baseinv(self, p: &mut Poly) -> Choice {
        crate::block::invert_all(p, 1)
    }

    #[inline(never)]
    fn invntt(self, p: &mut Poly) {
        transform::inverse(words_mut(p), &FACTORS);
    }

    fn decrypt(self, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
        decrypt::decrypt(self, f, ct, m);
    }
}

static FACTORS: Factors<Q> = Factors::new(&ZETAS);

/// The coefficients in pairs, the first one in the low half.
fn words_mut(p: &mut Poly) -> &mut [u32; N / 2] {
    // SAFETY: a polynomial is aligned to a word here, and has no bit pattern that is not a value.
    unsafe { &mut *p.0.as_mut_ptr().cast() }
}

fn words(p: &Poly) -> &[u32; N / 2] {
    // SAFETY: as in `words_mut`.
    unsafe { &*p.0.as_ptr().cast() }
}
