//! Cortex-M4 cycle model.
//!
//! The model has three parts, all of them from public documentation or public
//! hardware measurements (see README "Timing model" for the sources):
//!
//! 1. issue cost of each instruction (TRM instruction-set summary),
//! 2. load/store pipelining and the address-generation interlock (TRM
//!    "Load/store timings"),
//! 3. a 3-word prefetch buffer fed by one 32-bit fetch per cycle, which yields
//!    the branch-refill cost `P`, the extra cycle of a branch to an unaligned
//!    32-bit instruction, the lost slot of a not-taken conditional branch and
//!    the stalls of runs of unaligned 32-bit instructions.
//!
//! No parameter is specific to a program.

use crate::decode::{Insn, Tk, F_WB};

/// Global model parameters. `Default` is the calibrated set.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Refill of register branches (BX/BLX/MOV pc): 1 = target speculated in
    /// decode, 2 = resolved in execute.
    pub p_bx: u8,
    /// Refill of LDR pc / POP {pc} (TRM: 3).
    pub p_loadpc: u8,
    /// Extra stall when a load's result is the next access's address.
    pub load_addr_dep: u8,
    /// Address-generation interlock after a data-processing result.
    pub agu: u8,
    /// IT folding: 0 never, 1 after a 16-bit instruction, 2 always.
    pub it_fold: u8,
    /// Loads pipeline only inside one memory block.
    pub cross_region: bool,
    /// A store directly followed by a load costs one more cycle.
    pub store_load: u8,
    /// Extra cycle for literal loads (fetch contention).
    pub lit: u8,
    /// Model the prefetch buffer (false: fixed P=1 refill only).
    pub fetch: bool,
    /// Cycles of STR with register offset.
    pub str_reg: u8,
    /// 32-bit single loads at a halfword-aligned address do not pipeline.
    pub wide_ld_align: bool,
    /// VLDR/VSTR single pipeline like LDR/STR.
    pub vldr_pipe: bool,
    /// Wait states of the first access of a back-to-back bus burst to a memory
    /// block that the bus matrix does not park on (STM32L4R5: SRAM2, SRAM3).
    pub slow_ram: u8,
    /// Idle cycles after which the grant is lost.
    pub bus_hold: u8,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            p_bx: 2,
            p_loadpc: 3,
            load_addr_dep: 1,
            agu: 1,
            it_fold: 1,
            cross_region: true,
            store_load: 1,
            lit: 0,
            fetch: true,
            str_reg: 2,
            wide_ld_align: false,
            vldr_pipe: true,
            slow_ram: 1,
            bus_hold: 2,
        }
    }
}

impl Params {
    /// Set one parameter by name (`--timing name=value`).
    pub fn set(&mut self, k: &str, v: u32) -> Result<(), String> {
        let b = v as u8;
        match k {
            "p_bx" => self.p_bx = b,
            "p_loadpc" => self.p_loadpc = b,
            "load_addr_dep" => self.load_addr_dep = b,
            "agu" => self.agu = b,
            "it_fold" => self.it_fold = b,
            "cross_region" => self.cross_region = v != 0,
            "store_load" => self.store_load = b,
            "lit" => self.lit = b,
            "fetch" => self.fetch = v != 0,
            "str_reg" => self.str_reg = b,
            "wide_ld_align" => self.wide_ld_align = v != 0,
            "vldr_pipe" => self.vldr_pipe = v != 0,
            "slow_ram" => self.slow_ram = b,
            "bus_hold" => self.bus_hold = b,
            _ => return Err(format!("unknown timing parameter '{k}'")),
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prev {
    Other,
    Alu,
    Load,
    Store,
}

/// What execution found out about an instruction.
#[derive(Clone, Copy, Default)]
pub struct Outcome {
    /// Condition passed (false: an IT-skipped instruction, 1 cycle).
    pub executed: bool,
    /// The PC was written.
    pub taken: bool,
    pub target: u32,
    /// First data address (memory instructions).
    pub addr: u32,
    /// Memory block id of `addr`.
    pub region: u8,
    /// Extra bus transfers of an unaligned access.
    pub unaligned: u8,
    /// Divider cycles.
    pub div: u8,
}

#[derive(Clone, Copy)]
pub struct Timing {
    pub p: Params,
    pub cycles: u64,
    prev: Prev,
    prev_region: u8,
    prev_mask: u16, // data-processing results
    prev_ld: u16,
    prev_wb: u16,
    prev_len: u8,
    // prefetch buffer: latched words, word in flight, halfword position
    lat: i8,
    infl: i8,
    pos: i8,
    // last accepted address phase in a non-parked block
    bus_accept: u64,
    bus_region: u8,
    /// Cycle breakdown: [issue, fetch, load/AGU stalls, branch refill]
    pub brk: [u64; 4],
}

impl Timing {
    pub fn new(p: Params) -> Self {
        Timing {
            p,
            cycles: 0,
            prev: Prev::Other,
            prev_region: 255,
            prev_mask: 0,
            prev_ld: 0,
            prev_wb: 0,
            prev_len: 4,
            lat: 0,
            infl: 1,
            pos: 0,
            bus_accept: 0,
            bus_region: 255,
            brk: [0; 4],
        }
    }

    #[inline]
    fn step_stall(&mut self) {
        self.cycles += 1;
        let issue = (self.lat + self.infl <= 2) as i8;
        self.lat += self.infl;
        self.infl = issue;
    }

    #[inline]
    fn step_adv(&mut self, halfwords: i8, spec: bool) {
        self.cycles += 1;
        let p = self.pos + halfwords;
        let freed = p >> 1;
        self.pos = p & 1;
        let issue = (!spec && self.lat <= 2 && self.lat + self.infl - freed <= 2) as i8;
        self.lat += self.infl - freed;
        self.infl = issue;
    }

    #[inline]
    fn redirect(&mut self, target: u32, inflight: bool) {
        self.lat = 0;
        self.infl = inflight as i8;
        self.pos = ((target >> 1) & 1) as i8;
    }

    /// Asynchronous redirect (exceptions): flush and charge `cycles`.
    pub fn flush(&mut self, target: u32, cycles: u64) {
        self.cycles += cycles;
        self.brk[3] += cycles;
        self.redirect(target, true);
        self.prev = Prev::Other;
    }

    /// Back in code that was interrupted: its pipeline is as it was `before`, only later. What refilling it costs is part
    /// of the exception, so that the cycles of a region without its handlers do not depend on where they came in.
    pub fn resume(&mut self, before: &Timing) {
        let later = self.cycles - before.cycles;
        *self = Timing {
            cycles: self.cycles,
            brk: self.brk,
            bus_accept: before.bus_accept + later,
            ..*before
        };
    }

    /// Bus-matrix arbitration for a non-parked block: the first access after
    /// the bus went idle waits; loads wait in the core, stores in the bus
    /// interface (the core only waits if it issues another access meanwhile).
    fn bus(&mut self, i: &Insn, o: &Outcome) {
        let mut a = self.cycles;
        if i.tk == Tk::StoreReg {
            a += self.p.str_reg as u64 - 1;
        }
        let mut wait = 0;
        if a <= self.bus_accept {
            for _ in a..=self.bus_accept {
                self.step_stall();
                self.brk[2] += 1;
            }
            a = self.bus_accept + 1;
        } else if a - self.bus_accept > 1 + self.p.bus_hold as u64 || self.bus_region != o.region {
            wait = self.p.slow_ram as u64;
        }
        let n = match i.tk {
            Tk::LoadMulti | Tk::StoreMulti => i.ncyc as u64 - 2,
            _ => o.unaligned as u64,
        };
        if !matches!(i.tk, Tk::Store | Tk::StoreReg) {
            for _ in 0..wait {
                self.step_stall();
            }
            self.brk[2] += wait;
        }
        self.bus_accept = a + wait + n;
        self.bus_region = o.region;
    }

    /// Account for one instruction.
    #[inline]
    pub fn retire(&mut self, i: &Insn, o: &Outcome) {
        let start = self.cycles;
        let hw = (i.len >> 1) as i8;
        let is_mem = matches!(
            i.tk,
            Tk::Load | Tk::Store | Tk::StoreReg | Tk::LoadMulti | Tk::StoreMulti | Tk::TableBranch
        ) && o.executed;

        // 1. stalls against the previous instruction
        let mut stall = 0u8;
        match self.prev {
            Prev::Load => {
                let single = matches!(i.tk, Tk::Load | Tk::Store | Tk::StoreReg) && o.executed;
                let dep = i.addr & (self.prev_ld | self.prev_wb) != 0;
                let mut pipelined = single && !dep && (!self.p.cross_region || o.region == self.prev_region);
                if self.p.wide_ld_align && i.len == 4 && self.pos == 1 {
                    pipelined = false;
                }
                if i.tk == Tk::Nop {
                    pipelined = true;
                }
                if !pipelined {
                    stall = 1;
                    if is_mem && i.addr & self.prev_ld != 0 {
                        stall += self.p.load_addr_dep;
                    }
                }
            }
            Prev::Alu => {
                if is_mem && i.addr & self.prev_mask != 0 {
                    stall = self.p.agu;
                }
            }
            Prev::Store => {
                if is_mem {
                    if matches!(i.tk, Tk::Load | Tk::LoadMulti | Tk::TableBranch) {
                        stall = self.p.store_load;
                    } else if i.addr & self.prev_wb != 0 {
                        stall = 1;
                    }
                }
            }
            Prev::Other => {
                if is_mem && i.addr & self.prev_mask != 0 {
                    stall = self.p.agu;
                }
            }
        }
        for _ in 0..stall {
            self.step_stall();
        }
        self.brk[2] += stall as u64;

        // 2. wait for the instruction to be in the prefetch buffer
        if self.p.fetch {
            let need = (self.pos + hw + 1) >> 1;
            // IT folded into the preceding 16-bit instruction
            if i.tk == Tk::It
                && (self.p.it_fold == 2 || (self.p.it_fold == 1 && self.prev_len == 2))
                && self.lat >= need
            {
                let p = self.pos + 1;
                self.lat -= p >> 1;
                self.pos = p & 1;
                self.prev_len = 4; // folds once
                return;
            }
            while self.lat < need {
                self.step_stall();
                self.brk[1] += 1;
            }
        } else {
            self.lat = 3;
            if i.tk == Tk::It && (self.p.it_fold == 2 || (self.p.it_fold == 1 && self.prev_len == 2)) {
                self.prev_len = 4;
                return;
            }
        }

        // 3. issue
        let spec = i.tk == Tk::BranchImm;
        self.step_adv(hw, spec);
        let mut c = 1u8;
        if o.executed {
            c = match i.tk {
                Tk::Alu | Tk::Nop | Tk::It | Tk::BranchImm | Tk::BranchReg => 1,
                Tk::Load => {
                    1 + o.unaligned
                        + if i.fl & crate::decode::F_LIT != 0 && i.op == crate::decode::Op::Ld {
                            self.p.lit
                        } else {
                            0
                        }
                }
                Tk::Store => 1 + o.unaligned,
                Tk::StoreReg => self.p.str_reg + o.unaligned,
                Tk::LoadMulti | Tk::StoreMulti | Tk::Multi => i.ncyc,
                Tk::TableBranch => 3,
                Tk::Div => o.div,
            };
        }
        if is_mem && o.region >= 2 && o.region < 200 && self.p.slow_ram > 0 {
            self.bus(i, o);
        }
        for _ in 1..c {
            self.step_stall();
        }
        self.brk[0] += c as u64;

        // 4. branches
        if o.taken {
            match i.tk {
                Tk::BranchImm => self.redirect(o.target, true),
                Tk::BranchReg | Tk::Alu => {
                    if self.p.p_bx == 1 {
                        self.redirect(o.target, true)
                    } else {
                        self.redirect(o.target, false);
                    }
                }
                Tk::Load | Tk::LoadMulti | Tk::TableBranch => {
                    // data phase of the last word, then the target fetch
                    if i.tk == Tk::Load {
                        self.step_stall();
                    }
                    if self.p.p_loadpc >= 3 {
                        self.step_stall();
                        self.brk[3] += 1;
                    }
                    self.redirect(o.target, false);
                }
                _ => self.redirect(o.target, true),
            }
            if !self.p.fetch {
                let p = match i.tk {
                    Tk::BranchImm => 1,
                    Tk::BranchReg | Tk::Alu => self.p.p_bx as u64,
                    _ => 2,
                };
                self.cycles += p;
                self.brk[3] += p;
            }
        }

        // 5. state for the next instruction
        self.prev_len = i.len;
        self.prev_mask = 0;
        self.prev_ld = 0;
        self.prev_wb = 0;
        if !o.executed || o.taken {
            self.prev = Prev::Other;
        } else {
            match i.tk {
                Tk::Load => {
                    let vfp = i.op == crate::decode::Op::Vldr;
                    self.prev = Prev::Load;
                    self.prev_region = if vfp && !self.p.vldr_pipe { 254 } else { o.region };
                    self.prev_ld = i.ld;
                    self.prev_wb = i.wb;
                }
                Tk::Store => {
                    self.prev = Prev::Store;
                    self.prev_region = o.region;
                    self.prev_wb = if i.fl & F_WB != 0 { i.wb } else { 0 };
                }
                Tk::StoreReg => {
                    self.prev = Prev::Store;
                    self.prev_wb = i.wb;
                    if self.p.str_reg >= 2 {
                        // second cycle already covers the data phase
                        self.prev = Prev::Other;
                    }
                }
                Tk::Alu | Tk::Div => {
                    self.prev = Prev::Alu;
                    self.prev_mask = i.dst;
                }
                Tk::LoadMulti | Tk::StoreMulti => {
                    self.prev = Prev::Other;
                }
                Tk::Multi => {
                    self.prev = Prev::Other;
                    self.prev_mask = i.dst;
                }
                _ => self.prev = Prev::Other,
            }
        }
        debug_assert!(self.cycles > start);
    }
}
