//! AVR assembly; `avr/README.md` has bounds and figures.
//!
//! Each wrapper assembles its routine once, in a section of its own, as in `kem-core`: with `global_asm!` no image could be
//! linked with LTO.
#![allow(unsafe_code, named_asm_labels)]

pub(crate) mod encoding;

use core::arch::asm;
use core::mem::MaybeUninit;

use super::Arith;
use crate::poly::{N, Poly};

/// Products modulo 2^16 by Karatsuba's rule, by secrets of a byte each.
#[derive(Clone, Copy)]
pub(crate) struct Avr;

impl Arith for Avr {
    /// s + 8: sums of sixteen fit in a byte.
    type Secret = [u8; N];
    type Sum = Poly;

    const SECRET: [u8; N] = [0; N];
    const SUM: Poly = [0; N];

    fn secret(self, s: &Poly, out: &mut [u8; N]) {
        for (out, s) in out.iter_mut().zip(s) {
            *out = (*s as u8).wrapping_add(8) & 15;
        }
    }

    fn mul_acc(self, sum: &mut Poly, a: &Poly, s: &[u8; N]) {
        product(sum, a, s);
    }

    fn finish(self, sum: &mut Poly, out: &mut Poly) {
        *out = *sum;
        *sum = Self::SUM;
    }
}

/// What a product needs besides its operands.
const SCRATCH_LEN: usize = 1344;

unsafe extern "C" {
    fn saber_product(sum: *mut Poly, a: *const Poly, s: *const [u8; N], scratch: *mut [u8; SCRATCH_LEN]);
    fn saber_clear(p: *mut u8, n: u16);
}

/// `sum` += `a` * (`s` - 8). In: bytes of `s` below 16.
#[inline(never)]
fn product(sum: &mut Poly, a: &Poly, s: &[u8; N]) {
    let mut scratch = MaybeUninit::<[u8; SCRATCH_LEN]>::uninit();
    // SAFETY: what is assembled lies in another section. The first routine reads and writes whole arrays, scratch not before
    // it has written it; the second clears all of the scratch.
    unsafe {
        asm!(
            ".ifndef saber_product",
            ".pushsection .text",
            include_str!("avr/product.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
        saber_product(sum, a, s, scratch.as_mut_ptr());
        saber_clear(scratch.as_mut_ptr().cast(), SCRATCH_LEN as u16);
    }
}
