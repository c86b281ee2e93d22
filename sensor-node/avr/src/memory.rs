//! The memory functions that compiled code calls. Those of compiler-builtins take three times the cycles and the flash.

use core::arch::asm;

/// Copies between places that do not overlap.
///
/// # Safety
/// As for `memcpy` of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    let [low, high] = count.to_le_bytes();
    // SAFETY: reads `count` bytes from `from` on and writes as many from `to` on.
    unsafe {
        asm!(
            "rjmp 3f",
            "2:",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "ld r0, X+",
            "st Z+, r0",
            "3:",
            "subi {low}, 8",
            "sbci {high}, 0",
            "brcc 2b",
            "subi {low}, -8",
            "rjmp 5f",
            "4:",
            "ld r0, X+",
            "st Z+, r0",
            "5:",
            "subi {low}, 1",
            "brcc 4b",
            low = inout(reg_upper) low => _,
            high = inout(reg_upper) high => _,
            inout("X") from => _,
            inout("Z") to => _,
            options(nostack)
        );
    }
    to
}

/// Copies between places that may overlap.
///
/// # Safety
/// As for `memmove` of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if to.addr() <= from.addr() {
        // SAFETY: the same contract, and upwards no byte is overwritten before it is read.
        return unsafe { memcpy(to, from, count) };
    }
    let [low, high] = count.to_le_bytes();
    // SAFETY: as in `memcpy`, from the ends down.
    unsafe {
        asm!(
            "rjmp 3f",
            "2:",
            "ld r0, -X",
            "st -Z, r0",
            "3:",
            "subi {low}, 1",
            "sbci {high}, 0",
            "brcc 2b",
            low = inout(reg_upper) low => _,
            high = inout(reg_upper) high => _,
            inout("X") from.wrapping_add(count) => _,
            inout("Z") to.wrapping_add(count) => _,
            options(nostack)
        );
    }
    to
}

/// Fills.
///
/// # Safety
/// As for `memset` of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i16, count: usize) -> *mut u8 {
    let [low, high] = count.to_le_bytes();
    // SAFETY: writes `count` bytes from `to` on.
    unsafe {
        asm!(
            "rjmp 3f",
            "2:",
            "st Z+, {value}",
            "3:",
            "subi {low}, 1",
            "sbci {high}, 0",
            "brcc 2b",
            low = inout(reg_upper) low => _,
            high = inout(reg_upper) high => _,
            value = in(reg) value as u8,
            inout("Z") to => _,
            options(nostack)
        );
    }
    to
}
