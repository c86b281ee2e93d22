//! AVR assembly; `avr/README.md` has bounds and figures.
//!
//! Each wrapper assembles its routine once, in a section of its own, as in `kem-core`: with `global_asm!` no image could be
//! linked with LTO.
#![allow(unsafe_code, named_asm_labels)]

pub(crate) mod convert;

use core::arch::asm;
use core::ops::RangeInclusive;

use super::Arith;
use crate::poly::Poly;

/// Transforms have a factor 13, products -169.
#[derive(Clone, Copy)]
pub(crate) struct Avr;

impl Arith for Avr {
    const FACTOR: RangeInclusive<i16> = 0..=3570;
    const SUMMAND: RangeInclusive<i16> = -638..=3328;

    #[inline(never)]
    fn ntt(self, p: &mut Poly) {
        assemble();
        // SAFETY: the routine reads and writes 256 words at its argument.
        unsafe { routines::kyber_ntt(&mut p.0) }
    }

    #[inline(never)]
    fn inverse_ntt(self, p: &mut Poly) {
        assemble();
        // SAFETY: as for `ntt`.
        unsafe { routines::kyber_inverse_ntt(&mut p.0) }
    }

    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize) {
        let (blocks, _) = a.as_chunks::<4>();
        if let (Some(acc), Some(b)) = (acc.0.get_mut(first..), b.0.get(first..))
            && first.is_multiple_of(4)
            && !blocks.is_empty()
            && 4 * blocks.len() <= acc.len()
        {
            basemul_acc(acc, blocks, b, first);
        }
    }

    #[inline(never)]
    fn lift(self, p: &mut Poly) {
        assemble();
        // SAFETY: as for `ntt`.
        unsafe { routines::kyber_lift(&mut p.0) }
    }

    #[inline(never)]
    fn standard(self, p: &mut Poly) {
        assemble();
        // SAFETY: as for `ntt`.
        unsafe { routines::kyber_standard(&mut p.0) }
    }

    #[inline(never)]
    fn standard_sum(self, p: &mut Poly) {
        assemble();
        // SAFETY: as for `ntt`.
        unsafe { routines::kyber_standard_sum(&mut p.0) }
    }

    #[inline(never)]
    fn freeze(self, p: &mut Poly) {
        assemble();
        // SAFETY: as for `ntt`.
        unsafe { routines::kyber_freeze(&mut p.0) }
    }
}

mod routines {
    use crate::poly::N;

    unsafe extern "C" {
        pub(super) fn kyber_ntt(p: *mut [i16; N]);
        pub(super) fn kyber_inverse_ntt(p: *mut [i16; N]);
        pub(super) fn kyber_basemul_acc(sum: *mut i16, a: *const [i16; 4], b: *const i16, first: u16, blocks: u8);
        pub(super) fn kyber_lift(p: *mut [i16; N]);
        pub(super) fn kyber_standard(p: *mut [i16; N]);
        pub(super) fn kyber_standard_sum(p: *mut [i16; N]);
        pub(super) fn kyber_freeze(p: *mut [i16; N]);
    }
}

/// In: at least one and at most 64 `blocks`, no more than `sum` and `b` have; `first` is a multiple of 4.
#[inline(never)]
fn basemul_acc(sum: &mut [i16], blocks: &[[i16; 4]], b: &[i16], first: usize) {
    assemble();
    // SAFETY: the routine reads four words a block from `blocks` and from `b`, updates as many at `sum`, and reads four bytes a
    // block from the table of 256, from `first` on.
    unsafe {
        routines::kyber_basemul_acc(
            sum.as_mut_ptr(),
            blocks.as_ptr(),
            b.as_ptr(),
            first as u16,
            blocks.len() as u8,
        );
    }
}

#[inline(always)]
fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef kyber_ntt",
            ".pushsection .text",
            include_str!("avr/transform.S"),
            include_str!("avr/product.S"),
            include_str!("avr/reduction.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
