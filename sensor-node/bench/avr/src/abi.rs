//! The calling convention, which no comparison of results would show.

use core::arch::asm;

unsafe extern "C" {
    fn bench_call_and_compare(function: *const (), a: *mut (), b: *const (), c: *const ()) -> u8;
}

/// Whether `function(a, b, c)` leaves r2 to r17, r28, r29 and the stack pointer as they were, and r1 zero.
///
/// # Safety
/// The call must be sound with these arguments.
#[inline(never)]
#[allow(named_asm_labels)]
pub unsafe fn keeps_registers(function: *const (), a: *mut (), b: *const (), c: *const ()) -> bool {
    // SAFETY: as promised by the caller; the routine below lies in another section and keeps the convention itself.
    unsafe {
        asm!(
            ".pushsection .text",
            include_str!("abi.S"),
            ".popsection",
            options(raw, nomem, nostack, preserves_flags)
        );
        bench_call_and_compare(function, a, b, c) == 0
    }
}
