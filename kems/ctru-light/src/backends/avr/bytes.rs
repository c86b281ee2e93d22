//! Twins of `product::bytes`.

use core::{arch::asm, mem::MaybeUninit};

pub(crate) use super::encoding::unpack_f_prime;
use crate::product::bytes::BASE;
use crate::ring::N;

mod routines {
    use super::{BASE, N};

    unsafe extern "C" {
        pub(super) fn ctru_light_sum(r: *mut u8, a: *const u8, b: *const u8, n: u8);
        pub(super) fn ctru_light_join(r: *mut u8, m: *const u8, half: u8);
        pub(super) fn ctru_light_product32(
            r: *mut [u8; 2 * BASE],
            a: *const [u8; BASE],
            b: *const [u8; BASE],
            scratch: *mut [u8; BASE],
        );
        pub(super) fn ctru_light_decode(m: *mut [u8; 32], v: *const [u8; N]);
        pub(super) fn ctru_light_fold_low(v: *mut [u8; N], p: *const [u8; N]);
        pub(super) fn ctru_light_fold_high(v: *mut [u8; N], p: *const [u8; N]);
        pub(super) fn ctru_light_fold_both(v: *mut [u8; N], p: *const [u8; N], ct: *const [u8; N]);
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

/// r = L + x^(n/2) (M - L - H) + x^n H, for `r` with L and H one after the other, of n bytes each, and `middle` with M. n / 2 is at
/// most 128 and a multiple of 8.
#[inline(never)]
pub(crate) fn join(r: &mut [u8], middle: &mut [u8]) {
    assemble();
    let half = middle.len() / 2;
    if r.len() == 4 * half && middle.len() == 2 * half && half.is_multiple_of(8) && (8..=128).contains(&half) {
        // SAFETY: the routine updates four halves and reads two.
        unsafe { routines::ctru_light_join(r.as_mut_ptr(), middle.as_ptr(), half as u8) }
    }
}

/// r = a * b.
#[inline(never)]
pub(crate) fn product(r: &mut [u8; 2 * BASE], a: &[u8; BASE], b: &[u8; BASE]) {
    assemble();
    let mut scratch = MaybeUninit::<[u8; BASE]>::uninit();
    // SAFETY: the routine reads 32 bytes at each operand and writes 64 and 32, all before it reads them.
    unsafe { routines::ctru_light_product32(r, a, b, scratch.as_mut_ptr()) }
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
fn assemble() {
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
