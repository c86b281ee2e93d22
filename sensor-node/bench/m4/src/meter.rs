//! Cycles and stack of one call, and lines of text to whoever runs the firmware.
//!
//! Cycles come from the core's own counter. The exact lowest stack pointer is a service of the simulator; on a board it reads
//! as 0 bytes.
#![allow(unsafe_code)]

use core::arch::asm;
use core::fmt::{self, Write};
use core::hint::black_box;
use core::ptr::{read_volatile, write_volatile};

use crate::draw::Draw;

/// Starts the cycle counter.
pub(crate) fn init() {
    // SAFETY: DEMCR, DWT_CYCCNT and DWT_CTRL of every Cortex-M4; nothing else touches them.
    unsafe {
        write_volatile(DEMCR, read_volatile(DEMCR) | 1 << 24);
        write_volatile(CYCCNT, 0);
        write_volatile(DWT_CTRL, read_volatile(DWT_CTRL) | 1);
    }
}

/// Runs `operation` and prints `bench NAME CYCLES STACK`.
#[inline(never)]
pub(crate) fn bench<T>(name: fmt::Arguments<'_>, operation: impl FnOnce() -> T) -> T {
    let (value, cost) = measure(operation);
    report(name, cost);
    value
}

/// Prints `bench NAME CYCLES STACK`.
pub(crate) fn report(name: fmt::Arguments<'_>, cost: Cost) {
    let _ = writeln!(Console, "bench {name} {} {}", cost.cycles, cost.stack);
}

/// What one call took.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cycles: u32,
    /// Bytes below the caller's frame.
    pub(crate) stack: u32,
}

/// The call is a real one: its frame belongs to it and not to the caller.
#[inline(never)]
pub(crate) fn measure<T>(operation: impl FnOnce() -> T) -> (T, Cost) {
    #[inline(never)]
    fn call<T>(operation: impl FnOnce() -> T) -> T {
        operation()
    }
    let top = semihost(STACK_RESET, 0);
    let start = cycles();
    let value = call(operation);
    let cycles = cycles().wrapping_sub(start);
    let low = semihost(STACK_LOWEST, 0);
    let cost = Cost {
        cycles,
        stack: top.saturating_sub(low),
    };
    (value, cost)
}

/// Whether `operation` takes equally long on 20 random inputs.
pub(crate) fn steady<T>(mut input: impl FnMut(&mut Draw) -> T, operation: impl Fn(&mut T)) -> bool {
    let mut draw = Draw::new(0x7e57);
    let mut time = || {
        let mut value = input(&mut draw);
        measure(|| operation(black_box(&mut value))).1.cycles
    };
    let first = time();
    (1..20).all(|_| time() == first)
}

/// Text goes out over semihosting.
pub(crate) struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let block = [CONSOLE, text.as_ptr() as usize, text.len()];
        semihost(SYS_WRITE, block.as_ptr() as usize);
        Ok(())
    }
}

/// Ends the run.
pub(crate) fn exit(code: u32) -> ! {
    let block = [0x20026, code];
    semihost(SYS_EXIT_EXTENDED, block.as_ptr() as usize);
    loop {
        core::hint::spin_loop();
    }
}

fn cycles() -> u32 {
    // SAFETY: a read of DWT_CYCCNT has no side effect.
    unsafe { read_volatile(CYCCNT) }
}

fn semihost(operation: u32, argument: usize) -> u32 {
    let result;
    // SAFETY: the breakpoint that debuggers and simulators take as a call; `argument` is a block that lives across it.
    unsafe { asm!("bkpt 0xab", inout("r0") operation => result, in("r1") argument) };
    result
}

const DEMCR: *mut u32 = 0xe000_edfc as *mut u32;
const DWT_CTRL: *mut u32 = 0xe000_1000 as *mut u32;
const CYCCNT: *mut u32 = 0xe000_1004 as *mut u32;

const SYS_WRITE: u32 = 0x05;
const SYS_EXIT_EXTENDED: u32 = 0x20;
/// The simulator's own: forgets the lowest stack pointer, returns the current one.
const STACK_RESET: u32 = 0x100;
/// The simulator's own: the lowest stack pointer since then.
const STACK_LOWEST: u32 = 0x101;
const CONSOLE: usize = 2;
