//! Cortex-M4: assembly on lanes whose even and odd bits stand apart, so that a 64-bit rotation is two 32-bit ones.
//!
//! Keccak uses floating-point registers as a scratchpad, which are much faster than the stack there. A target without an
//! FPU (`thumbv7em-none-eabi`) gets the same code with its scratchpad on the stack. `keccak_f1600.py` wrote both.
#![allow(unsafe_code)]

pub mod packed;

use core::arch::global_asm;

#[cfg(cortex_m4_fpu)]
global_asm!(include_str!("cortex_m4/keccak_f1600.S"), options(raw));
#[cfg(not(cortex_m4_fpu))]
global_asm!(include_str!("cortex_m4/keccak_f1600_integer.S"), options(raw));
global_asm!(include_str!("cortex_m4/ascon_p.S"), options(raw));

unsafe extern "C" {
    fn kemqtt_keccak_f1600(state: *mut u32);
    fn kemqtt_ascon_p12(state: *mut u32);
    fn kemqtt_ascon_p8(state: *mut u32);
}

#[inline(always)]
pub(crate) fn keccak_f1600(lanes: &mut [u64; 25]) {
    // SAFETY: reads and writes the 50 words of `lanes` and its own stack frame, and keeps the registers that a C function
    // keeps. Twin: `portable::keccak_f1600`.
    unsafe { kemqtt_keccak_f1600(lanes.as_mut_ptr().cast()) }
}

#[inline(always)]
pub(crate) fn ascon_p12(words: &mut [u64; 5]) {
    // SAFETY: reads and writes the 10 words of `words` and its own stack frame. Twin: `portable::ascon_p12`.
    unsafe { kemqtt_ascon_p12(words.as_mut_ptr().cast()) }
}

#[inline(always)]
pub(crate) fn ascon_p8(words: &mut [u64; 5]) {
    // SAFETY: as `ascon_p12`. Twin: `portable::ascon_p8`.
    unsafe { kemqtt_ascon_p8(words.as_mut_ptr().cast()) }
}

pub(crate) use interleave as keccak_lane_in;
pub(crate) use interleave as ascon_lane_in;
pub(crate) use separate as keccak_lane_out;
pub(crate) use separate as ascon_lane_out;

/// Even bits to the low word, odd bits to the high word.
#[inline(always)]
pub(crate) fn interleave(lane: u64) -> u64 {
    let [low, high] = [lane as u32, (lane >> 32) as u32].map(|mut word| {
        for (n, mask) in SWAPS {
            word = swap(word, n, mask);
        }
        word
    });
    let (even, odd) = (low & 0xffff | high << 16, low >> 16 | high & 0xffff_0000);
    u64::from(odd) << 32 | u64::from(even)
}

/// Undoes [`interleave`].
#[inline(always)]
pub(crate) fn separate(lane: u64) -> u64 {
    let (even, odd) = (lane as u32, (lane >> 32) as u32);
    let [low, high] = [even & 0xffff | odd << 16, even >> 16 | odd & 0xffff_0000].map(|mut word| {
        for (n, mask) in SWAPS.into_iter().rev() {
            word = swap(word, n, mask);
        }
        word
    });
    u64::from(high) << 32 | u64::from(low)
}

/// Exchanges the bits under `mask` with those `n` places above.
#[inline(always)]
fn swap(word: u32, n: u32, mask: u32) -> u32 {
    let difference = (word ^ word >> n) & mask;
    word ^ difference ^ difference << n
}

/// Together they bring the even bits of a word to its low half.
const SWAPS: [(u32, u32); 4] = [(1, 0x2222_2222), (2, 0x0c0c_0c0c), (4, 0x00f0_00f0), (8, 0x0000_ff00)];
