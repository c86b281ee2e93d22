//! What a simulated node can do, whatever its core.

use std::ops::Range;

use anyhow::Result;

use crate::meter::Mark;

/// A chip with a firmware, its UART and its non-volatile memory.
pub trait Machine {
    /// Runs at most `cycles` more cycles (an instruction or a sleep may end a little later).
    fn run(&mut self, cycles: u64) -> Stop;

    /// Cycles since power-on.
    fn cycle(&self) -> u64;

    /// Clock in Hz.
    fn frequency(&self) -> u32;

    /// Puts bytes on the UART's receive line; they arrive one after the other at the line's speed.
    fn uart_send(&mut self, bytes: &[u8]);

    /// Bytes that wait on the receive line.
    fn uart_pending(&self) -> usize;

    /// Takes what the firmware has written to the UART.
    fn uart_take(&mut self) -> Vec<u8>;

    /// The finished regions, in order.
    fn marks(&self) -> Vec<Mark>;

    /// How many there are.
    fn mark_count(&self) -> usize;

    /// The region that the firmware is in.
    fn current_mark(&self) -> Option<u8>;

    /// Bytes of stack since power-on, at its deepest.
    fn stack(&self) -> u32;

    /// How often the firmware was restarted without a power cut.
    fn resets(&self) -> u32;

    /// The non-volatile memory.
    fn nv(&mut self) -> Vec<u8>;

    /// Writes the non-volatile memory from its start, as a programmer does.
    ///
    /// # Errors
    /// When it is smaller than that.
    fn set_nv(&mut self, image: &[u8]) -> Result<()>;

    /// These bytes of the non-volatile memory keep from now on what they have.
    fn wear_nv(&mut self, cells: Range<u16>);

    /// Writes to the non-volatile memory take no time from now on.
    fn hurry_nv(&mut self);

    /// Loses the byte that comes after so many more on the receive line, as a receiver does whose bytes are not fetched in
    /// time, and raises its flag for that.
    fn overrun_uart_after(&mut self, bytes: u32);
}

/// Why [`Machine::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The cycles are used up; run on if you like.
    Cycles,
    /// The same, and the core slept at the end.
    Asleep,
    /// The firmware ended the run with this exit code.
    Exit(u8),
    /// Asleep, and nothing can wake it.
    Halted,
    /// An instruction or an access that the chip does not have.
    Crashed,
    /// The stack ran into the variables.
    StackOverflow,
}

impl Stop {
    /// Whether the run can go on.
    pub fn can_go_on(self) -> bool {
        matches!(self, Self::Cycles | Self::Asleep)
    }

    /// What a program that ran the firmware exits with.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exit(code) => code,
            Self::Crashed => 70,
            Self::StackOverflow => 71,
            Self::Halted => 72,
            Self::Cycles | Self::Asleep => 73,
        }
    }
}
