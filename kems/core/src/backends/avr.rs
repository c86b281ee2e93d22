//! AVR assembly; `avr/README.md` has bounds and figures. Interrupts may come at any time, and handlers may call the same routines.
//!
//! Each wrapper assembles its routine once, in a section of its own. At module level, where `global_asm!` would put it, LLVM
//! reads assembly for bitcode without the target's CPU, so that no image could be linked with LTO.
#![allow(unsafe_code, named_asm_labels)]

use core::arch::asm;

mod routines {
    unsafe extern "C" {
        pub(super) fn ascon_p8(state: *mut [u64; 5]);
        pub(super) fn ascon_p12(state: *mut [u64; 5]);
        pub(super) fn keccak_f1600(state: *mut [u64; 25]);
        /// No memory is touched.
        pub(super) safe fn kem_montgomery(a: i16, b: i16, q: i16, qinv: i16) -> i16;
    }
}

#[inline(never)]
pub(crate) fn ascon_p8(words: &mut [u64; 5]) {
    assemble_ascon();
    // SAFETY: the routine reads and writes 40 bytes at its argument, and words are little-endian here.
    unsafe { routines::ascon_p8(words) }
}

#[inline(never)]
pub(crate) fn ascon_p12(words: &mut [u64; 5]) {
    assemble_ascon();
    // SAFETY: as for `ascon_p8`.
    unsafe { routines::ascon_p12(words) }
}

#[inline(always)]
fn assemble_ascon() {
    // SAFETY: what is assembled lies in another section; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef ascon_p12",
            ".pushsection .text",
            include_str!("avr/ascon_p.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}

#[inline(never)]
pub(crate) fn keccak_f1600(lanes: &mut [u64; 25]) {
    // SAFETY: what is assembled lies in another section. The routine reads and writes 200 bytes at its argument, and lanes
    // are little-endian here.
    unsafe {
        asm!(
            ".ifndef keccak_f1600",
            ".pushsection .text",
            include_str!("avr/keccak_f1600.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
        routines::keccak_f1600(lanes);
    }
}

/// Adds to byte `at` of `lanes`, if there is one.
#[inline(never)]
pub(crate) fn xor_byte(lanes: &mut [u64], at: usize, byte: u8) {
    // SAFETY: every byte of a lane is one, and lanes are little-endian here.
    let (_, state, _) = unsafe { lanes.align_to_mut::<u8>() };
    if let Some(place) = state.get_mut(at) {
        *place ^= byte;
    }
}

/// Adds to the bytes of `lanes` from `at` on; what would lie behind their end is left out.
#[inline(never)]
pub(crate) fn xor_bytes(lanes: &mut [u64], at: usize, bytes: &[u8]) {
    // SAFETY: as in `xor_byte`.
    let (_, state, _) = unsafe { lanes.align_to_mut::<u8>() };
    let places = state.get_mut(at..).unwrap_or_default();
    places.iter_mut().zip(bytes).for_each(|(place, byte)| *place ^= byte);
}

/// The bytes of `lanes` from `at` on.
#[inline(never)]
pub(crate) fn copy_bytes(lanes: &[u64], at: usize, out: &mut [u8]) {
    // SAFETY: as in `xor_byte`.
    let (_, state, _) = unsafe { lanes.align_to::<u8>() };
    let places = state.get(at..).unwrap_or_default();
    out.iter_mut().zip(places).for_each(|(byte, place)| *byte = *place);
}

/// [`Zq::mul`](crate::modular::Zq::mul) for the modulus `q` and its inverse modulo 2^16.
#[inline(always)]
pub(crate) fn montgomery(a: i16, b: i16, q: i16, qinv: i16) -> i16 {
    routines::kem_montgomery(a, b, q, qinv)
}

/// Called by nobody: callers reach the routine itself, without a wrapper between, and this keeps it in the image.
#[used]
static ASSEMBLE_MONTGOMERY: fn() = assemble_montgomery;

fn assemble_montgomery() {
    // SAFETY: what is assembled lies in another section; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef kem_montgomery",
            ".pushsection .text",
            include_str!("avr/montgomery.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub(crate) fn keccak_lane_in(lane: u64) -> u64 {
    lane
}

#[inline(always)]
pub(crate) fn keccak_lane_out(lane: u64) -> u64 {
    lane
}

#[inline(always)]
pub(crate) fn ascon_lane_in(lane: u64) -> u64 {
    lane
}

#[inline(always)]
pub(crate) fn ascon_lane_out(lane: u64) -> u64 {
    lane
}
