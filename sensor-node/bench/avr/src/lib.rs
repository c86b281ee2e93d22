//! What every program here needs: marks for the simulator, an exit code, test inputs.
#![no_std]
#![feature(asm_experimental_arch)]

mod abi;
mod draw;
pub mod kems;
pub mod known;

use core::{arch::asm, hint::black_box, panic::PanicInfo};

pub use abi::require_convention;
pub use draw::Draw;

/// The program that measures one KEM.
#[macro_export]
macro_rules! kem_program {
    ($kem:ty, $answer:ident) => {
        #[unsafe(no_mangle)]
        extern "C" fn main() -> ! {
            $crate::kems::run::<$kem>(&$crate::known::$answer);
            $crate::exit(0)
        }
    };
}

/// Runs `operation` between mark `id` and its end.
#[inline(always)]
pub fn measure<T>(id: u8, operation: impl FnOnce() -> T) -> T {
    mark(id);
    let result = framed(operation);
    mark(0);
    result
}

/// A frame of its own, so that locals of `operation` count as its stack.
#[inline(never)]
fn framed<T>(operation: impl FnOnce() -> T) -> T {
    black_box(operation())
}

/// Tells the simulator where an operation starts, or with 0 that it has ended.
#[inline(always)]
fn mark(id: u8) {
    // SAFETY: GPIOR0 is a scratch register without any function.
    unsafe { asm!("out 0x1e, {}", in(reg) id, options(nostack, preserves_flags)) }
}

/// Ends the program as failed with `code` unless `fact` holds.
#[inline(always)]
pub fn require(fact: bool, code: u8) {
    if !black_box(fact) {
        exit(code);
    }
}

/// Ends the program; 0 is success.
pub fn exit(code: u8) -> ! {
    // SAFETY: GPIOR1 is a scratch register; sleeping with interrupts off ends a simulation.
    unsafe {
        asm!("sts 0x4a, {}", "ldi {1}, 1", "sts 0x53, {1}", "cli", "sleep", in(reg) code, out(reg_upper) _);
    }
    loop {}
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    exit(255)
}
