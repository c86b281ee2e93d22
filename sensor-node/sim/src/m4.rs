//! A Cortex-M4 in [`m4sim`], our cycle model, with a CMSDK UART at 0x4000_4000.
//!
//! The firmware marks regions with semihosting call 0x104 (`r1` = id, 0 at the end) and ends a run with `SYS_EXIT_EXTENDED`.
//! Its non-volatile memory starts at the symbol `__nv_start` and keeps its content over resets.

use std::{ops::Range, path::Path};

use anyhow::{Context, Result, anyhow, ensure};
use m4sim::{
    board::{self, Memory},
    bus::Fault,
    cpu::{Cpu, Stop as CpuStop},
    timing::Params,
};

use crate::{
    elf::Image,
    machine::{Machine, Stop},
    meter::Mark,
};

/// The board and its surroundings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// m4sim's memory system: `l4r5`, `f407` or `ideal`.
    pub board: String,
    /// Clock in Hz, which only turns cycles into time.
    pub frequency: u32,
    /// Seed of the simulated random generator.
    pub seed: u64,
}

impl Default for Setup {
    /// An STM32L4R5 at 20 MHz.
    fn default() -> Self {
        Self {
            board: "l4r5".into(),
            frequency: 20_000_000,
            seed: 1,
        }
    }
}

/// A chip with a firmware in its flash.
pub struct M4 {
    cpu: Cpu,
    frequency: u32,
    vector_table: u32,
    stack_top: u32,
    variables_end: u32,
    nv: Option<(u32, usize)>,
    resets: u32,
}

impl M4 {
    /// A chip after power-on.
    ///
    /// # Errors
    /// When the image cannot be read or does not fit the board.
    pub fn load(image: &Path, setup: &Setup) -> Result<Self> {
        let image = Image::read(image)?;
        let elf = m4sim::elf::parse(image.bytes()).map_err(|error| anyhow!(error))?;
        let memory = Memory::of_board(&setup.board).with_context(|| format!("m4sim has no board {}", setup.board))?;
        let mut cpu = board::load(&elf, &memory, Params::default(), setup.seed).map_err(|error| anyhow!(error))?;
        let vector_table = board::vector_table(&elf, cpu.bus.flash.base);
        cpu.reset(vector_table)
            .map_err(|stop| anyhow!("the image does not start: {stop:?}"))?;
        let address = |name| image.symbol(name).and_then(|address| u32::try_from(address).ok());
        let nv = address("__nv_start").map(|start| {
            let len = address("__nv_end").map_or(DEFAULT_NV_LEN, |end| end.saturating_sub(start));
            (start, len as usize)
        });
        let mut this = Self {
            stack_top: cpu.r[13],
            variables_end: address("__sheap").or_else(|| address("__ebss")).unwrap_or(0),
            cpu,
            frequency: setup.frequency,
            vector_table,
            nv,
            resets: 0,
        };
        if let Some((_, len)) = nv {
            this.set_nv(&vec![0xff; len])?;
        }
        Ok(this)
    }

    /// Takes what the firmware has printed by semihosting.
    pub fn take_console(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.cpu.out)
    }

    fn restart(&mut self) -> Result<(), CpuStop> {
        self.resets += 1;
        let bus = &mut self.cpu.bus;
        (bus.syst_csr, bus.icsr_pend, bus.cpacr) = (0, 0, 0);
        (
            self.cpu.ipsr,
            self.cpu.primask,
            self.cpu.faultmask,
            self.cpu.control,
            self.cpu.it,
        ) = (0, 0, 0, 0, 0);
        let lowest = self.cpu.min_sp;
        self.cpu.reset(self.vector_table)?;
        self.cpu.min_sp = lowest;
        Ok(())
    }
}

impl Machine for M4 {
    fn run(&mut self, cycles: u64) -> Stop {
        let end = self.cycle() + cycles;
        let slept = self.cpu.slept;
        loop {
            match self.cpu.run_until(end) {
                None if self.cpu.min_sp < self.variables_end => return Stop::StackOverflow,
                None if self.cpu.slept - slept > cycles / 2 => return Stop::Asleep,
                None => return Stop::Cycles,
                Some(CpuStop::MemFault(Fault::SystemReset)) if self.restart().is_ok() => {}
                Some(CpuStop::Exit(code)) => return Stop::Exit(u8::try_from(code).unwrap_or(u8::MAX)),
                Some(stop) => {
                    eprintln!("m4sim: {stop:?} at {:#010x}", self.cpu.r[15]);
                    return Stop::Crashed;
                }
            }
        }
    }

    fn cycle(&self) -> u64 {
        self.cpu.t.cycles
    }

    fn frequency(&self) -> u32 {
        self.frequency
    }

    fn uart_send(&mut self, bytes: &[u8]) {
        let now = self.cpu.t.cycles;
        self.cpu.bus.uart.send(now, bytes);
    }

    fn uart_pending(&self) -> usize {
        self.cpu.bus.uart.pending()
    }

    fn uart_take(&mut self) -> Vec<u8> {
        self.cpu.bus.uart.take()
    }

    fn marks(&self) -> Vec<Mark> {
        let marks = self.cpu.hooks.semihost.marks.done.iter();
        let mark = |mark: &m4sim::mark::Mark| Mark {
            id: mark.id,
            cycles: mark.cycles,
            stack: mark.stack,
            peak: self.stack_top - mark.lowest,
        };
        marks.map(mark).collect()
    }

    fn mark_count(&self) -> usize {
        self.cpu.hooks.semihost.marks.done.len()
    }

    fn current_mark(&self) -> Option<u8> {
        self.cpu.hooks.semihost.marks.current()
    }

    fn stack(&self) -> u32 {
        let marks = self.cpu.hooks.semihost.marks.done.iter();
        let lowest = marks.map(|mark| mark.lowest).fold(self.cpu.min_sp, u32::min);
        self.stack_top - lowest
    }

    fn resets(&self) -> u32 {
        self.resets
    }

    fn nv(&mut self) -> Vec<u8> {
        let Some((start, len)) = self.nv else { return Vec::new() };
        let read = |at| self.cpu.bus.read8(at).map_or(0xff, |byte| byte as u8);
        (start..).take(len).map(read).collect()
    }

    fn set_nv(&mut self, image: &[u8]) -> Result<()> {
        let (start, len) = self.nv.context("the image has no symbol __nv_start")?;
        ensure!(
            image.len() <= len,
            "the non-volatile memory has {len} bytes, not {}",
            image.len()
        );
        self.cpu.bus.load(start, image).map_err(|error| anyhow!(error))
    }

    fn wear_nv(&mut self, cells: Range<u16>) {
        let (start, _) = self.nv.unwrap_or_default();
        self.cpu.bus.worn = start + u32::from(cells.start)..start + u32::from(cells.end);
    }

    /// As always: its memory is RAM.
    fn hurry_nv(&mut self) {}

    fn overrun_uart_after(&mut self, bytes: u32) {
        self.cpu.bus.uart.overrun_after(bytes);
    }
}

/// Bytes of non-volatile memory where the image has no symbol `__nv_end`.
const DEFAULT_NV_LEN: u32 = 8192;
