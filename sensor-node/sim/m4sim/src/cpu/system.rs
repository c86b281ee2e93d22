//! Branches, hints, exceptions on request and special registers.

use super::{Cpu, Stop};
use crate::decode::{Insn, Op};
use crate::timing::Outcome;

impl Cpu {
    pub(super) fn exec_system(&mut self, i: &Insn, pc: u32, o: &mut Outcome) -> Result<(), Stop> {
        match i.op {
            Op::B => {
                if self.cond(i.cond) {
                    self.r[15] = i.imm;
                    o.taken = true;
                    o.target = i.imm;
                }
            }
            Op::Bl => {
                self.r[14] = pc.wrapping_add(4) | 1;
                self.r[15] = i.imm;
                o.taken = true;
                o.target = i.imm;
            }
            Op::Bx => {
                let v = self.reg(i.rm, pc);
                self.branch_to(v, o)?;
            }
            Op::Blx => {
                let v = self.r[i.rm as usize];
                self.r[14] = pc.wrapping_add(2) | 1;
                self.branch_to(v, o)?;
            }
            Op::Cbz => {
                let zero = self.r[i.rn as usize] == 0;
                if zero == (i.sub == 0) {
                    self.r[15] = i.imm;
                    o.taken = true;
                    o.target = i.imm;
                }
            }
            Op::It => self.it = i.imm as u8,
            Op::Nop => {
                if i.imm == 3 || i.imm == 2 {
                    // WFI / WFE: skip to the next event, if one is under way
                    let wait = self.bus.until_wake().unwrap_or(0);
                    self.t.cycles += wait;
                    self.slept += wait.max(1);
                }
            }
            Op::Svc => {
                // synchronous: charge entry, return address is the next instruction
                self.take_exception(11)?;
                o.taken = true;
                o.target = self.r[15];
            }
            Op::Bkpt => {
                if i.imm == 0xab {
                    crate::semihost::call(self)?;
                } else {
                    return Err(Stop::Breakpoint(i.imm));
                }
            }
            Op::Cps => {
                let v = (i.imm >> 4) & 1;
                if i.imm & 2 != 0 {
                    self.primask = v;
                }
                if i.imm & 1 != 0 {
                    self.faultmask = v;
                }
            }
            Op::Mrs => {
                let other = self.psp;
                let v = match i.imm {
                    0..=3 => self.apsr() | if i.imm & 1 != 0 { self.ipsr } else { 0 },
                    5..=7 => self.ipsr,
                    8 => {
                        if self.control & 2 == 0 {
                            self.r[13]
                        } else {
                            other
                        }
                    }
                    9 => {
                        if self.control & 2 != 0 {
                            self.r[13]
                        } else {
                            other
                        }
                    }
                    16 => self.primask,
                    17 | 18 => self.basepri,
                    19 => self.faultmask,
                    20 => self.control,
                    _ => 0,
                };
                self.set(i.rd, v);
            }
            Op::Msr => {
                let v = self.r[i.rn as usize];
                match i.imm {
                    0..=3 => {
                        if i.sub & 2 != 0 {
                            self.n = v >> 31 & 1 != 0;
                            self.z = v >> 30 & 1 != 0;
                            self.c = v >> 29 & 1 != 0;
                            self.v = v >> 28 & 1 != 0;
                            self.q = v >> 27 & 1 != 0;
                        }
                        if i.sub & 1 != 0 {
                            self.ge = v >> 16 & 15;
                        }
                    }
                    8 => {
                        if self.control & 2 == 0 {
                            self.r[13] = v & !3
                        } else {
                            self.psp = v & !3
                        }
                    }
                    9 => {
                        if self.control & 2 != 0 {
                            self.r[13] = v & !3
                        } else {
                            self.psp = v & !3
                        }
                    }
                    16 => self.primask = v & 1,
                    17 | 18 => self.basepri = v & 0xff,
                    19 => self.faultmask = v & 1,
                    20 => {
                        if self.ipsr == 0 && (v ^ self.control) & 2 != 0 {
                            std::mem::swap(&mut self.r[13], &mut self.psp);
                        }
                        self.control = v & 7;
                    }
                    _ => {}
                }
            }
            Op::Barrier => {}
            Op::Undef => return Err(Stop::Undefined(i.raw)),
            _ => unreachable!("not a system instruction: {:?}", i.op),
        }
        Ok(())
    }
}
