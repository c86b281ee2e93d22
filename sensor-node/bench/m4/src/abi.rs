//! The calling convention, and what is left in registers and on the stack: no comparison of results would show either.
#![allow(unsafe_code)]

use core::arch::global_asm;

use crate::draw::Draw;

global_asm!(include_str!("abi.S"), options(raw));

unsafe extern "C" {
    fn bench_call(function: unsafe extern "C" fn(), arguments: *const u32, left: *mut u32) -> u32;
}

/// What a routine is called with.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// A pointer to 2048 words that differ from call to call.
    Secret,
    /// A pointer to 2048 words that do not.
    Public,
    Value(u32),
}

/// What a call did wrong.
#[derive(Debug)]
pub(crate) enum Fault {
    /// r4 to r11, s16 to s31 or the stack pointer are not what they were.
    Registers,
    /// s0 to s15 depend on the secret words.
    Scratchpad,
    /// The 1024 bytes below the stack pointer do.
    Stack,
}

/// Calls `function` with two sets of secret words.
///
/// # Safety
/// The calls must be sound with these arguments and any words, with 1024 bytes of stack.
pub(crate) unsafe fn convention(function: unsafe extern "C" fn(), arguments: &[Argument; 4]) -> Result<(), Fault> {
    // SAFETY: as promised by the caller.
    let [(first, left), (second, left_then)] = [1, 2].map(|seed| unsafe { call(function, arguments, seed) });
    let ((scratchpad, stack), (scratchpad_then, stack_then)) = (left.split_at(16), left_then.split_at(16));
    match () {
        () if first | second != 0 => Err(Fault::Registers),
        () if scratchpad != scratchpad_then => Err(Fault::Scratchpad),
        () if stack != stack_then => Err(Fault::Stack),
        () => Ok(()),
    }
}

/// # Safety
/// As [`convention`].
#[inline(never)]
unsafe fn call(function: unsafe extern "C" fn(), arguments: &[Argument; 4], seed: u64) -> (u32, [u32; 16 + 256]) {
    let mut memory = [[0; 2048]; 4];
    let mut values = [0; 4];
    for ((words, value), argument) in memory.iter_mut().zip(&mut values).zip(arguments) {
        let mut draw = Draw::new(match argument {
            Argument::Secret => seed,
            Argument::Public | Argument::Value(_) => 0,
        });
        words.fill_with(|| draw.word() as u32);
        *value = match argument {
            Argument::Secret | Argument::Public => words.as_mut_ptr().expose_provenance() as u32,
            Argument::Value(value) => *value,
        };
    }
    let mut left = [0; 16 + 256];
    // SAFETY: as promised by the caller; `left` is as long as the routine says.
    let broken = unsafe { bench_call(function, values.as_ptr(), left.as_mut_ptr()) };
    (broken, left)
}
