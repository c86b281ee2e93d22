//! AVR assembly; `avr/README.md` has bounds and figures.
//!
//! Each wrapper assembles its routine once, in a section of its own, as in `kem-core`: with `global_asm!` no image could be
//! linked with LTO.
#![allow(unsafe_code, named_asm_labels)]

pub(crate) mod bytes;
mod decrypt;
pub(crate) mod encoding;
mod inverse;

use core::arch::asm;
use core::mem::MaybeUninit;

use subtle::Choice;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::Arith;
use crate::encoding::{CT_LEN, F_LEN};
use crate::ring::Poly;

/// Transform domain: bit-reversed order but for swaps inside of eight blocks, factor 3, values 206..=1020. `basemul` leaves a
/// factor -54, which the scaling in `invntt` removes together with the factors of both operands.
#[derive(Clone, Copy)]
pub(crate) struct Avr;

impl Arith for Avr {
    fn ntt(self, p: &mut Poly) {
        ntt(p);
    }

    fn basemul(self, r: &mut Poly, a: &Poly) {
        basemul(r, a);
    }

    fn baseinv(self, p: &mut Poly) -> Choice {
        // 3 / a from 3 a.
        inverse::invert_all(p)
    }

    fn invntt(self, p: &mut Poly) {
        invntt(p);
    }

    fn decrypt(self, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
        decrypt::decrypt(f, ct, m);
    }
}

// Polynomials are cleared in assembly, at half of the cycles of loops in Rust; no compiler leaves out a call to it.

impl Poly {
    /// 512 zeros.
    #[inline(always)]
    pub(crate) fn zeroed() -> Self {
        let mut p = MaybeUninit::uninit();
        // SAFETY: `clear` writes every byte, and coefficients are valid in any state.
        unsafe {
            clear(p.as_mut_ptr());
            p.assume_init()
        }
    }
}

impl Zeroize for Poly {
    fn zeroize(&mut self) {
        // SAFETY: a polynomial.
        unsafe { clear(self) }
    }
}

impl Drop for Poly {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Poly {}

/// # Safety
///
/// `p` is the place of a polynomial.
#[inline(never)]
unsafe fn clear(p: *mut Poly) {
    bytes::assemble();
    // SAFETY: the routine writes as many bytes as a polynomial has.
    unsafe { decrypt::routines::ctru_light_clear(p.cast(), size_of::<Poly>() as u16) }
}

mod routines {
    use crate::ring::N;

    unsafe extern "C" {
        pub(super) fn ctru_light_ntt(p: *mut [i16; N]);
        pub(super) fn ctru_light_basemul(r: *mut [i16; N], a: *const [i16; N], b: *const [i16; N]);
        pub(super) fn ctru_light_invntt(p: *mut [i16; N]);
    }
}

#[inline(never)]
fn ntt(p: &mut Poly) {
    assemble();
    // SAFETY: the routine reads and writes 512 words at its argument.
    unsafe { routines::ctru_light_ntt(&mut p.0) }
}

#[inline(never)]
fn basemul(r: &mut Poly, a: &Poly) {
    assemble();
    let r = &raw mut r.0;
    // SAFETY: the routine reads 512 words at each operand and writes 512 words to its first argument, which may be an operand. Its
    // static scratch is not shared: no interrupt handler multiplies.
    unsafe { routines::ctru_light_basemul(r, r, &a.0) }
}

#[inline(never)]
fn invntt(p: &mut Poly) {
    assemble();
    // SAFETY: as for `ntt`.
    unsafe { routines::ctru_light_invntt(&mut p.0) }
}

#[inline(always)]
fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef ctru_light_ntt",
            ".pushsection .text",
            include_str!("avr/ctru_light.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
