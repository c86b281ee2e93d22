//! ARMv7E-M architectural state, instruction fetch and dispatch; execution by group in the child modules.

mod alu;
mod data;
mod exception;
mod fp;
mod memory;
mod multiply;
mod parallel;
mod system;

use crate::bus::{Bus, Fault};
use crate::decode::{self, Insn, Op, Tk, S_ALWAYS, S_NOT_IN_IT};
use crate::timing::{Outcome, Params, Timing};

#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Semihosting exit or end marker, with the exit code.
    Exit(i32),
    /// BKPT other than semihosting.
    Breakpoint(u32),
    MemFault(Fault),
    Undefined(u32),
    /// SVC/fault with no usable vector, lockup, ...
    Error(String),
    MaxInsns,
    /// Reached a requested stop address.
    StopAddr,
}

pub struct Cpu {
    pub r: [u32; 16],
    pub s: [u32; 32],
    pub n: bool,
    pub z: bool,
    pub c: bool,
    pub v: bool,
    pub q: bool,
    pub ge: u32,
    pub fpscr: u32,
    pub it: u8,
    pub ipsr: u32,
    pub primask: u32,
    pub basepri: u32,
    pub faultmask: u32,
    pub control: u32,
    pub psp: u32, // banked SP not in use
    pub excl: Option<u32>,
    pub bus: Bus,
    pub t: Timing,
    pub min_sp: u32,
    pub insns: u64,
    cache: Vec<u32>,
    pool: Vec<Insn>,
    pub stop_addr: u32,
    pub out: Vec<u8>,
    pub hooks: Hooks,
    /// Cycles spent in WFI and WFE.
    pub slept: u64,
    /// Cycles of exception handlers, entry and return included.
    pub handler_cycles: u64,
    /// The pipeline of the code that exception handlers interrupt.
    interrupted: Option<Timing>,
    pub unaligned_count: u64,
}

/// Optional instrumentation.
#[derive(Default)]
pub struct Hooks {
    pub profile: Option<Box<crate::profile::Profile>>,
    pub trace: Option<Box<dyn std::io::Write>>,
    pub echo: bool,
    pub semihost: crate::semihost::State,
}

impl Cpu {
    pub fn new(bus: Bus, p: Params) -> Cpu {
        let fl = bus.flash.data.len() / 2;
        Cpu {
            r: [0; 16],
            s: [0; 32],
            n: false,
            z: false,
            c: false,
            v: false,
            q: false,
            ge: 0,
            fpscr: 0,
            it: 0,
            ipsr: 0,
            primask: 0,
            basepri: 0,
            faultmask: 0,
            control: 0,
            psp: 0,
            excl: None,
            bus,
            t: Timing::new(p),
            min_sp: !0,
            insns: 0,
            cache: vec![0; fl],
            pool: vec![decode::decode(0, 0xbf00, 0)],
            stop_addr: 1,
            out: Vec::new(),
            hooks: Hooks::default(),
            slept: 0,
            handler_cycles: 0,
            interrupted: None,
            unaligned_count: 0,
        }
    }

    /// Load SP and PC from the vector table at `vtor`.
    pub fn reset(&mut self, vtor: u32) -> Result<(), Stop> {
        self.bus.vtor = vtor;
        let sp = self.bus.read32(vtor).map_err(Stop::MemFault)?;
        let pc = self.bus.read32(vtor.wrapping_add(4)).map_err(Stop::MemFault)?;
        if pc & 1 == 0 {
            return Err(Stop::Error(format!("reset vector 0x{pc:08x} has no Thumb bit")));
        }
        self.r[13] = sp & !3;
        self.r[15] = pc & !1;
        self.r[14] = 0xffff_ffff;
        self.min_sp = self.r[13];
        Ok(())
    }

    pub fn apsr(&self) -> u32 {
        (self.n as u32) << 31
            | (self.z as u32) << 30
            | (self.c as u32) << 29
            | (self.v as u32) << 28
            | (self.q as u32) << 27
            | self.ge << 16
    }

    pub fn set_apsr(&mut self, v: u32) {
        self.n = v >> 31 & 1 != 0;
        self.z = v >> 30 & 1 != 0;
        self.c = v >> 29 & 1 != 0;
        self.v = v >> 28 & 1 != 0;
        self.q = v >> 27 & 1 != 0;
        self.ge = v >> 16 & 15;
    }

    fn cond(&self, c: u8) -> bool {
        let r = match c >> 1 {
            0 => self.z,
            1 => self.c,
            2 => self.n,
            3 => self.v,
            4 => self.c && !self.z,
            5 => self.n == self.v,
            6 => self.n == self.v && !self.z,
            _ => return true,
        };
        r ^ (c & 1 != 0)
    }

    #[inline]
    fn fetch_insn(&mut self, pc: u32) -> Result<Insn, Stop> {
        let o = pc.wrapping_sub(self.bus.flash.base) as usize >> 1;
        if o < self.cache.len() && pc & 1 == 0 {
            let k = self.cache[o];
            if k != 0 {
                return Ok(self.pool[k as usize]);
            }
        }
        let hw1 = self.bus.read16(pc).map_err(Stop::MemFault)? as u16;
        let hw2 = if decode::is_wide(hw1) {
            self.bus.read16(pc.wrapping_add(2)).map_err(Stop::MemFault)? as u16
        } else {
            0
        };
        let i = decode::decode(pc, hw1, hw2);
        if o < self.cache.len() {
            self.cache[o] = self.pool.len() as u32;
            self.pool.push(i);
        }
        Ok(i)
    }

    /// Drop predecoded code (after changing flash contents).
    pub fn flush_decode_cache(&mut self) {
        self.cache.iter_mut().for_each(|k| *k = 0);
    }

    /// Run until something stops the core.
    pub fn run(&mut self, max_insns: u64) -> Stop {
        let end = self.insns.saturating_add(max_insns);
        loop {
            if let Err(s) = self.step() {
                return s;
            }
            if self.insns >= end {
                return Stop::MaxInsns;
            }
        }
    }

    /// Run until the cycle counter reaches `cycle`: then `None`.
    pub fn run_until(&mut self, cycle: u64) -> Option<Stop> {
        while self.t.cycles < cycle {
            if let Err(stop) = self.step() {
                return Some(stop);
            }
        }
        None
    }

    /// Execute one instruction.
    pub fn step(&mut self) -> Result<(), Stop> {
        let (began, in_handler) = (self.t.cycles, self.ipsr != 0);
        if self.bus.syst_csr & 1 != 0 || self.bus.icsr_pend != 0 {
            self.poll_exceptions()?;
        }
        let pc = self.r[15];
        if pc == self.stop_addr {
            return Err(Stop::StopAddr);
        }
        let i = self.fetch_insn(pc)?;
        let mut o = Outcome {
            executed: true,
            ..Default::default()
        };
        let in_it = self.it != 0;
        if in_it {
            let c = self.it >> 4;
            o.executed = self.cond(c);
            // advance
            if self.it & 7 == 0 {
                self.it = 0;
            } else {
                self.it = (self.it & 0xe0) | ((self.it << 1) & 0x1f);
            }
        }
        let next = pc.wrapping_add(i.len as u32);
        self.r[15] = next;
        self.bus.now = self.t.cycles;
        if self.hooks.trace.is_some() {
            self.trace_line(pc, &i);
        }
        if o.executed {
            self.exec(&i, pc, in_it, &mut o)?;
        }
        self.insns += 1;
        if self.r[15] != next {
            o.taken = true;
            o.target = self.r[15];
        }
        let before = self.t.cycles;
        self.t.retire(&i, &o);
        if self.ipsr == 0 {
            if let Some(before) = self.interrupted.take() {
                self.t.resume(&before);
            }
        }
        if in_handler || self.ipsr != 0 {
            self.handler_cycles += self.t.cycles - began;
        }
        if self.r[13] < self.min_sp {
            self.min_sp = self.r[13];
        }
        if let Some(p) = self.hooks.profile.as_deref_mut() {
            p.retire(
                pc,
                &i,
                &o,
                self.t.cycles - before,
                self.t.cycles,
                self.r[13],
                self.r[14],
            );
        }
        Ok(())
    }

    #[cold]
    fn trace_line(&mut self, pc: u32, i: &Insn) {
        use std::io::Write;
        let cy = self.t.cycles;
        if let Some(w) = self.hooks.trace.as_mut() {
            let _ = if i.len == 2 {
                writeln!(w, "{cy:>10} {pc:08x}: {:04x}      {:?}", i.raw, i.op)
            } else {
                writeln!(
                    w,
                    "{cy:>10} {pc:08x}: {:04x} {:04x} {:?}",
                    i.raw >> 16,
                    i.raw & 0xffff,
                    i.op
                )
            };
        }
    }

    // ---- exceptions (SysTick, PendSV, SVC) -------------------------------

    fn branch_to(&mut self, v: u32, o: &mut Outcome) -> Result<(), Stop> {
        if v >= 0xffff_ff00 && self.ipsr != 0 {
            self.exception_return(v)?;
            o.taken = true;
            o.target = self.r[15];
            return Ok(());
        }
        if v & 1 == 0 {
            return Err(Stop::Error(format!("branch to 0x{v:08x} without Thumb bit")));
        }
        self.r[15] = v & !1;
        o.taken = true;
        o.target = v & !1;
        Ok(())
    }

    // ---- execution ---------------------------------------------------------

    #[inline]
    fn reg(&self, n: u8, pc: u32) -> u32 {
        if n == 15 {
            pc.wrapping_add(4)
        } else {
            self.r[n as usize]
        }
    }

    #[inline]
    fn set(&mut self, n: u8, v: u32) {
        self.r[n as usize] = v;
        if n == 13 {
            self.r[13] &= !3;
        }
    }

    fn exec(&mut self, i: &Insn, pc: u32, in_it: bool, o: &mut Outcome) -> Result<(), Stop> {
        let setf = i.s == S_ALWAYS || (i.s == S_NOT_IN_IT && !in_it);
        match i.op {
            Op::DpImm
            | Op::DpReg
            | Op::ShiftReg
            | Op::Adr
            | Op::Movt
            | Op::Bfi
            | Op::Bfc
            | Op::Sbfx
            | Op::Ubfx
            | Op::Ssat
            | Op::Usat
            | Op::Ssat16
            | Op::Usat16
            | Op::Pkh
            | Op::Ext
            | Op::Rev
            | Op::Clz
            | Op::Sel
            | Op::Qarith
            | Op::Par => self.exec_data(i, pc, setf, o),
            Op::Mul
            | Op::Mla
            | Op::Mls
            | Op::SmlaXY
            | Op::SmlaW
            | Op::Smlad
            | Op::Smlsd
            | Op::Smmla
            | Op::Smmls
            | Op::Usada8
            | Op::Smull
            | Op::Umull
            | Op::Smlal
            | Op::Umlal
            | Op::Umaal
            | Op::SmlalXY
            | Op::Smlald
            | Op::Smlsld
            | Op::Sdiv
            | Op::Udiv => self.exec_multiply(i, setf, o),
            Op::Ld | Op::St | Op::Ldrd | Op::Strd | Op::Ldm | Op::Stm | Op::Ldrex | Op::Strex | Op::Clrex | Op::Tb => {
                self.exec_memory(i, pc, o)?
            }
            Op::B
            | Op::Bl
            | Op::Bx
            | Op::Blx
            | Op::Cbz
            | Op::It
            | Op::Nop
            | Op::Svc
            | Op::Bkpt
            | Op::Cps
            | Op::Mrs
            | Op::Msr
            | Op::Barrier
            | Op::Undef => self.exec_system(i, pc, o)?,
            _ => {
                if self.bus.cpacr >> 20 & 15 != 15 {
                    return Err(Stop::Error("FPU instruction with the FPU disabled (CPACR)".into()));
                }
                self.control |= 4; // FPCA
                self.exec_fp(i, pc, o)?;
            }
        }
        Ok(())
    }

    pub fn tk_name(t: Tk) -> &'static str {
        match t {
            Tk::Alu => "alu",
            Tk::Nop => "nop",
            Tk::It => "it",
            Tk::Load => "load",
            Tk::Store => "store",
            Tk::StoreReg => "store-reg",
            Tk::LoadMulti => "load-multi",
            Tk::StoreMulti => "store-multi",
            Tk::BranchImm => "branch",
            Tk::BranchReg => "branch-reg",
            Tk::TableBranch => "table-branch",
            Tk::Div => "div",
            Tk::Multi => "multi",
        }
    }
}
