//! AVR assembly; `avr/README.md` has bounds and figures. Interrupts may come at any time, and handlers may call the same routines.
//!
//! Each wrapper assembles its routine once, in a section of its own, as in `kem-core`: with `global_asm!` no image could be
//! linked with LTO.
#![allow(unsafe_code, named_asm_labels)]

use core::arch::asm;

pub(crate) use super::sha256::Sha256;

/// The text, if `bytes` are UTF-8 without U+0000.
#[inline(never)]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    // SAFETY: checked just before.
    super::text::is_text(bytes).then(|| unsafe { core::str::from_utf8_unchecked(bytes) })
}

#[cfg(feature = "x25519-comb")]
#[unsafe(link_section = ".progmem.data")]
static COMB: [u8; 1600] = super::x25519_comb::TABLE;

mod routines {
    unsafe extern "C" {
        pub(super) fn x25519_avr(out: *mut [u8; 32], scalar: *const [u8; 32], point: *const [u8; 32]);
        #[cfg(not(feature = "x25519-comb"))]
        pub(super) fn x25519_base_avr(out: *mut [u8; 32], scalar: *const [u8; 32]);
        #[cfg(feature = "x25519-comb")]
        pub(super) fn x25519_comb_avr(out: *mut [u8; 32], scalar: *const [u8; 32], table: *const [u8; 1600]);
        pub(super) fn sha256_compress(state: *mut [u32; 8], block: *const [u8; 64]);
    }
}

/// X25519 (RFC 7748 section 5).
#[inline(never)]
pub(crate) fn x25519(out: &mut [u8; 32], scalar: &[u8; 32], u: &[u8; 32]) {
    assemble_x25519();
    // SAFETY: the routine reads 32 bytes at each input and writes 32 bytes to `out`.
    unsafe { routines::x25519_avr(out, scalar, u) }
}

/// X25519 with the base point.
#[inline(never)]
pub(crate) fn x25519_base(out: &mut [u8; 32], scalar: &[u8; 32]) {
    assemble_x25519();
    #[cfg(not(feature = "x25519-comb"))]
    // SAFETY: as for `x25519`.
    unsafe {
        routines::x25519_base_avr(out, scalar);
    }
    #[cfg(feature = "x25519-comb")]
    // SAFETY: as for `x25519`. The routine reads the table where it lies, in the low 64 KB of flash.
    unsafe {
        routines::x25519_comb_avr(out, scalar, &raw const COMB);
    }
}

/// Bytes of a return address: three where code may go beyond 128 KB.
#[cfg(not(target_feature = "eijmpcall"))]
macro_rules! return_address {
    () => {
        ".set X25519_PC, 2"
    };
}
#[cfg(target_feature = "eijmpcall")]
macro_rules! return_address {
    () => {
        ".set X25519_PC, 3"
    };
}

/// How the base point is multiplied: by a table, or by the ladder.
#[cfg(not(feature = "x25519-comb"))]
macro_rules! comb {
    () => {
        ".set X25519_COMB, 0"
    };
}
#[cfg(feature = "x25519-comb")]
macro_rules! comb {
    () => {
        ".set X25519_COMB, 1"
    };
}

#[inline(always)]
fn assemble_x25519() {
    // SAFETY: what is assembled lies in another section; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef x25519_avr",
            ".pushsection .text",
            return_address!(),
            comb!(),
            include_str!("avr/x25519.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}

#[inline(never)]
pub(super) fn sha256_compress(state: &mut [u32; 8], block: &[u8; 64]) {
    // SAFETY: what is assembled lies in another section. The routine updates 32 bytes at `state`, little-endian words as here,
    // and reads 64 bytes at `block`.
    unsafe {
        asm!(
            ".ifndef sha256_compress",
            ".pushsection .text",
            include_str!("avr/sha256_compress.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
        routines::sha256_compress(state, block);
    }
}
