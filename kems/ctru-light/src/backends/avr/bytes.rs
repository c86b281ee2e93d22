//! Twins of `product::bytes`. Joins and small products are inside the product of 256 coefficients, which decryption calls.

use core::arch::asm;

pub(crate) use super::encoding::unpack_f_prime;
pub(crate) use crate::product::bytes::{join, product};
use crate::ring::N;

pub(super) mod routines {
    use super::N;

    unsafe extern "C" {
        pub(in super::super) fn ctru_light_sum(r: *mut u8, a: *const u8, b: *const u8, n: u8);
        pub(super) fn ctru_light_decode(m: *mut [u8; 32], v: *const [u8; N]);
        pub(in super::super) fn ctru_light_fold_low(v: *mut [u8; N], p: *const [u8; N]);
        pub(in super::super) fn ctru_light_fold_high(v: *mut [u8; N], p: *const [u8; N]);
        pub(in super::super) fn ctru_light_fold_both(v: *mut [u8; N], p: *const [u8; N], ct: *const [u8; N]);
    }
}

/// sum = a + b; at most 128 bytes, a multiple of 8.
#[inline(never)]
pub(crate) fn sum(sum: &mut [u8], a: &[u8], b: &[u8]) {
    assemble();
    let n = sum.len();
    if a.len() == n && b.len() == n && n.is_multiple_of(8) && (8..=128).contains(&n) {
        // SAFETY: the routine reads and writes this many bytes.
        unsafe { routines::ctru_light_sum(sum.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n as u8) }
    }
}

/// The message nearest to `v`.
#[inline(never)]
pub(crate) fn decode_message(m: &mut [u8; 32], v: &[u8; N]) {
    // SAFETY: what is assembled lies in another section. The routine reads 512 bytes and writes 32.
    unsafe {
        asm!(
            ".ifndef ctru_light_decode",
            ".pushsection .text",
            include_str!("e8.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
        routines::ctru_light_decode(m, v);
    }
}

/// v = L - x^256 L for the product L of the low halves.
#[inline(never)]
pub(crate) fn fold_low(v: &mut [u8; N], p: &[u8; N]) {
    super::encoding::assemble();
    // SAFETY: the routine writes 512 bytes at `v` and reads 512 at `p`.
    unsafe { routines::ctru_light_fold_low(v, p) }
}

/// v = v - H - x^256 H for the product H of the high halves.
#[inline(never)]
pub(crate) fn fold_high(v: &mut [u8; N], p: &[u8; N]) {
    super::encoding::assemble();
    // SAFETY: the routine updates 512 bytes at `v` and reads 512 at `p`.
    unsafe { routines::ctru_light_fold_high(v, p) }
}

/// v = 2 (v + x^256 S) + ct for the product S of the sums.
#[inline(never)]
pub(crate) fn fold_both(v: &mut [u8; N], p: &[u8; N], ct: &[u8; N]) {
    super::encoding::assemble();
    // SAFETY: the routine updates 512 bytes at `v` and reads 512 at each of the others.
    unsafe { routines::ctru_light_fold_both(v, p, ct) }
}

#[inline(always)]
pub(super) fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef ctru_light_sum",
            ".pushsection .text",
            include_str!("product.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
