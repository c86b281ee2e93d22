//! Cortex-M4 with an FPU: one prime of 27 bits, 64-bit products, floating-point registers for the constants of a loop.
#![allow(unsafe_code)]

pub(crate) mod decode;
mod ntt;

use core::mem::MaybeUninit;

use zeroize::Zeroize;

use super::Arith;
use crate::poly::{N, Poly};

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct CortexM4;

/// A transformed polynomial.
#[derive(Clone, Copy, Zeroize)]
pub(crate) struct Hat([i32; N]);

impl Arith for CortexM4 {
    type Secret = Hat;
    type Sum = Hat;

    const SECRET: Hat = Hat([0; N]);
    const SUM: Hat = Hat([0; N]);

    fn secret(self, s: &Poly, out: &mut Hat) {
        ntt::forward(s, &mut out.0);
    }

    fn mul_acc(self, sum: &mut Hat, a: &Poly, s: &Hat) {
        // Not secret, therefore not wiped.
        let mut hat = MaybeUninit::uninit();
        ntt::accumulate(ntt::forward_to(a, &mut hat), &s.0, &mut sum.0);
    }

    fn finish(self, sum: &mut Hat, out: &mut Poly) {
        ntt::inverse(&mut sum.0, out);
    }
}
