//! Twins of `encoding::portable`.

use core::arch::asm;

use crate::encoding::{COINS_LEN, EK_LEN, F_LEN};
use crate::ring::N;

pub(super) mod routines {
    use super::{COINS_LEN, EK_LEN, F_LEN, N};

    unsafe extern "C" {
        pub(super) fn ctru_light_sample(out: *mut [i16; N], coins: *const [u8; COINS_LEN]);
        pub(super) fn ctru_light_pack_h(ek: *mut [u8; EK_LEN], h: *const [i16; N]);
        pub(super) fn ctru_light_unpack_h(out: *mut [i16; N], ek: *const [u8; EK_LEN]);
        pub(super) fn ctru_light_pack_f(bytes: *mut [u8; F_LEN], f: *const [i16; N]);
        pub(in super::super) fn ctru_light_unpack_f(out: *mut [u8; N / 2], bytes: *const [u8; F_LEN / 2]);
        pub(super) fn ctru_light_compress(out: *mut [u8; 8], sigma: *const [i16; 8], word: u8);
    }
}

/// Coefficients of the law B1.
#[inline(never)]
pub(crate) fn sample(out: &mut [i16; N], coins: &[u8; COINS_LEN]) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_sample(out, coins) }
}

/// Packs h. In: canonical.
#[inline(never)]
pub(crate) fn pack_h(ek: &mut [u8; EK_LEN], h: &[i16; N]) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_pack_h(ek, h) }
}

/// Unpacks h: 0..1024.
#[inline(never)]
pub(crate) fn unpack_h(out: &mut [i16; N], ek: &[u8; EK_LEN]) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_unpack_h(out, ek) }
}

/// Packs f.
#[inline(never)]
pub(crate) fn pack_f(bytes: &mut [u8; F_LEN], f: &[i16; N]) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_pack_f(bytes, f) }
}

/// Half of the coefficients of f' modulo 256.
#[inline(never)]
pub(crate) fn unpack_f_prime(out: &mut [u8; N / 2], f: &[u8; F_LEN / 2]) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_unpack_f(out, f) }
}

/// Compresses canonical coefficients, and then adds 128 where `word` has a bit.
#[inline(never)]
pub(crate) fn compress(out: &mut [u8; 8], sigma: &[i16; 8], word: u8) {
    assemble();
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::ctru_light_compress(out, sigma, word) }
}

#[inline(always)]
pub(super) fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef ctru_light_sample",
            ".pushsection .text",
            include_str!("encoding.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
