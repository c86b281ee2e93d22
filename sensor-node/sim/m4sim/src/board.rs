//! Memory of the boards, and a firmware in it after reset.

use crate::{bus::Bus, cpu::Cpu, elf::Elf, timing::Params};

/// Flash and SRAM of a board.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Base and size; by default 2 MB where the firmware is linked, at 0 or at 0x0800_0000.
    pub flash: Option<(u32, u32)>,
    pub ram: (u32, u32),
    /// Addresses at which another SRAM block begins.
    pub split: Vec<u32>,
}

impl Memory {
    /// `l4r5`, `f407` or `ideal`.
    pub fn of_board(name: &str) -> Option<Self> {
        let (ram_kb, split) = match name {
            "l4r5" => (640, vec![0x2003_0000, 0x2004_0000]),
            "f407" => (128, vec![]),
            "ideal" => (640, vec![]),
            _ => return None,
        };
        Some(Self {
            flash: None,
            ram: (0x2000_0000, ram_kb * 1024),
            split,
        })
    }
}

/// The firmware's vector table: its symbol, or else the start of the flash.
pub fn vector_table(elf: &Elf, flash_base: u32) -> u32 {
    let named = |name: &str| matches!(name, "__vector_table" | "vector_table" | "__vectors");
    let symbol = elf.symbols.iter().find(|symbol| named(&symbol.name));
    symbol.map_or(flash_base, |symbol| symbol.addr)
}

/// A core with the firmware loaded; [`Cpu::reset`] starts it.
pub fn load(elf: &Elf, memory: &Memory, params: Params, seed: u64) -> Result<Cpu, String> {
    let low = elf.segments.iter().map(|segment| segment.addr).min().unwrap_or(0);
    let linked_at = if low < 0x0800_0000 { 0 } else { 0x0800_0000 };
    let (flash, size) = memory.flash.unwrap_or((linked_at, 2 << 20));
    let mut bus = Bus::new(flash, size, memory.ram.0, memory.ram.1, seed);
    bus.ram_split.clone_from(&memory.split);
    for segment in &elf.segments {
        bus.load(segment.addr, &segment.data)?;
    }
    Ok(Cpu::new(bus, params))
}
