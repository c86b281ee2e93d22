//! The calling convention, and what is left on the stack: no comparison of results would show either.

use core::arch::asm;

use crate::require;

unsafe extern "C" {
    fn bench_call(function: *const (), a: *mut (), b: *const (), c: *const ()) -> u32;
}

/// Requires that `function(out, input, input)` leaves r2 to r17, r28, r29 and the stack pointer as they were and r1 zero (else the
/// program ends with `code`), and that the 512 bytes below the stack pointer are the same behind calls that differ in the words
/// at `out` and `input` only: what depends on them has been wiped (else `code` + 64). A sum of 16 bits decides. The words are
/// below 8.
///
/// # Safety
/// The call must be sound with these arguments and any words, with 512 bytes of stack free.
pub unsafe fn require_convention(function: *const (), out: &mut [u16], input: &mut [u16], code: u8) {
    let mut stack = [0; 2];
    for (sum, seed) in stack.iter_mut().zip([0x9e37, 0x7f4b]) {
        fill(out, seed);
        fill(input, !seed);
        // SAFETY: as promised by the caller.
        let found = unsafe { call(function, out.as_mut_ptr().cast(), input.as_ptr().cast()) };
        require(found >> 16 == 0, code);
        *sum = found as u16;
    }
    require(stack[0] == stack[1], code + 64);
}

fn fill(words: &mut [u16], seed: u16) {
    let mut state = seed;
    for word in words {
        state = state.wrapping_mul(0x6255).wrapping_add(0x3619);
        *word = state >> 13;
    }
}

/// # Safety
/// The call must be sound, with 512 bytes of stack free.
#[inline(never)]
#[allow(named_asm_labels)]
unsafe fn call(function: *const (), a: *mut (), b: *const ()) -> u32 {
    // SAFETY: as promised by the caller; the routine below lies in another section and keeps the convention itself.
    unsafe {
        asm!(
            ".pushsection .text",
            include_str!("abi.S"),
            ".popsection",
            options(raw, nomem, nostack, preserves_flags)
        );
        bench_call(function, a, b, b)
    }
}
