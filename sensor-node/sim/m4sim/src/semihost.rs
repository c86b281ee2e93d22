//! ARM semihosting (BKPT 0xAB): console output, exit, clock, plus m4sim
//! calls in the user range.
//!
//! * `0x100`: reset the stack low-water mark to the current SP; returns SP.
//! * `0x101`: lowest SP seen since the last reset.
//! * `0x102`: modeled cycles, low word (also DWT->CYCCNT). `0x103`: high word.
//! * `0x104`: begin region `r1` (1..=255), or end it (`r1` = 0); returns 0. See [`crate::mark`].

use crate::cpu::{Cpu, Stop};
use std::io::Write;

#[derive(Default)]
pub struct State {
    pub cmdline: String,
    pub marks: crate::mark::Marks,
}

fn put(cpu: &mut Cpu, b: &[u8]) {
    cpu.out.extend_from_slice(b);
    if cpu.hooks.echo {
        let mut so = std::io::stdout().lock();
        let _ = so.write_all(b);
        let _ = so.flush();
    }
}

pub fn call(cpu: &mut Cpu) -> Result<(), Stop> {
    let op = cpu.r[0];
    let a = cpu.r[1];
    let rd = |cpu: &mut Cpu, k: u32| cpu.bus.read32(a.wrapping_add(4 * k)).map_err(Stop::MemFault);
    let ret: u32 = match op {
        0x01 => {
            // SYS_OPEN: only ":tt"
            let (p, n) = (rd(cpu, 0)?, rd(cpu, 2)?);
            let mode = rd(cpu, 1)?;
            let mut name = Vec::new();
            for k in 0..n {
                name.push(cpu.bus.read8(p + k).map_err(Stop::MemFault)? as u8);
            }
            if name == b":tt" {
                if mode >= 8 {
                    2
                } else if mode >= 4 {
                    1
                } else {
                    3
                }
            } else {
                u32::MAX
            }
        }
        0x02 => 0,
        0x03 => {
            let b = cpu.bus.read8(a).map_err(Stop::MemFault)? as u8;
            put(cpu, &[b]);
            cpu.r[0]
        }
        0x04 => {
            let mut s = Vec::new();
            let mut p = a;
            loop {
                let b = cpu.bus.read8(p).map_err(Stop::MemFault)? as u8;
                if b == 0 || s.len() > 1 << 20 {
                    break;
                }
                s.push(b);
                p = p.wrapping_add(1);
            }
            put(cpu, &s);
            cpu.r[0]
        }
        0x05 => {
            let (p, n) = (rd(cpu, 1)?, rd(cpu, 2)?);
            let mut s = Vec::with_capacity(n as usize & 0xf_ffff);
            for k in 0..n {
                s.push(cpu.bus.read8(p.wrapping_add(k)).map_err(Stop::MemFault)? as u8);
            }
            put(cpu, &s);
            0
        }
        0x06 => rd(cpu, 2)?, // SYS_READ: nothing read
        0x07 => u32::MAX,
        0x08 => u32::MAX,
        0x09 => 1, // SYS_ISTTY
        0x0c => 0,
        0x10 => (cpu.t.cycles / 200_000) as u32, // centiseconds at 20 MHz
        0x11 => 0,
        0x13 => 0,
        0x15 => {
            let (p, n) = (rd(cpu, 0)?, rd(cpu, 1)?);
            let s = cpu.hooks.semihost.cmdline.clone().into_bytes();
            if s.len() + 1 > n as usize {
                u32::MAX
            } else {
                for (k, b) in s.iter().chain([&0u8]).enumerate() {
                    cpu.bus.write8(p + k as u32, *b as u32).map_err(Stop::MemFault)?;
                }
                cpu.bus
                    .write32(a.wrapping_add(4), s.len() as u32)
                    .map_err(Stop::MemFault)?;
                0
            }
        }
        0x18 => {
            let code = if a == 0x20026 { 0 } else { 1 };
            return Err(Stop::Exit(code));
        }
        0x20 => {
            let (why, code) = (rd(cpu, 0)?, rd(cpu, 1)?);
            return Err(Stop::Exit(if why == 0x20026 { code as i32 } else { 1 }));
        }
        0x30 => {
            let c = cpu.t.cycles;
            cpu.bus.write32(a, c as u32).map_err(Stop::MemFault)?;
            cpu.bus.write32(a + 4, (c >> 32) as u32).map_err(Stop::MemFault)?;
            0
        }
        0x31 => 20_000_000,
        0x100 => {
            cpu.min_sp = cpu.r[13];
            cpu.r[13]
        }
        0x101 => cpu.min_sp,
        0x102 => cpu.t.cycles as u32,
        0x103 => (cpu.t.cycles >> 32) as u32,
        0x104 => {
            let marks = &mut cpu.hooks.semihost.marks;
            marks.call(a as u8, cpu.t.cycles - cpu.handler_cycles, cpu.r[13], &mut cpu.min_sp);
            0
        }
        _ => u32::MAX,
    };
    cpu.r[0] = ret;
    Ok(())
}
