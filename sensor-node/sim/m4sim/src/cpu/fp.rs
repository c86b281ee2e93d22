//! Single-precision floating point (FPv4-SP).

use super::{Cpu, Stop};
use crate::decode::{vop, Insn, Op, F_ADD, F_INDEX, F_WB};
use crate::timing::Outcome;

impl Cpu {
    pub(super) fn exec_fp(&mut self, i: &Insn, pc: u32, o: &mut Outcome) -> Result<(), Stop> {
        match i.op {
            Op::Vldr | Op::Vstr => {
                let base = if i.rn == 15 {
                    pc.wrapping_add(4) & !3
                } else {
                    self.r[i.rn as usize]
                };
                let a = if i.fl & F_ADD != 0 {
                    base.wrapping_add(i.imm)
                } else {
                    base.wrapping_sub(i.imm)
                };
                self.align_check(a, 3)?;
                o.addr = a;
                o.region = self.bus.region(a);
                for k in 0..=(i.s as u32) {
                    let x = (i.sub as u32 + k) as usize & 31;
                    if i.op == Op::Vldr {
                        self.s[x] = self.bus.read32(a.wrapping_add(4 * k)).map_err(Stop::MemFault)?;
                    } else {
                        let v = self.s[x];
                        self.bus.write32(a.wrapping_add(4 * k), v).map_err(Stop::MemFault)?;
                    }
                }
            }
            Op::Vldm | Op::Vstm => {
                let n = i.imm * 4;
                let base = self.r[i.rn as usize];
                let (a, wb) = if i.fl & F_INDEX != 0 {
                    (base.wrapping_sub(n), base.wrapping_sub(n))
                } else {
                    (base, base.wrapping_add(n))
                };
                self.align_check(a, 3)?;
                o.addr = a;
                o.region = self.bus.region(a);
                for k in 0..i.imm {
                    let x = (i.sub as u32 + k) as usize & 31;
                    if i.op == Op::Vldm {
                        self.s[x] = self.bus.read32(a.wrapping_add(4 * k)).map_err(Stop::MemFault)?;
                    } else {
                        let v = self.s[x];
                        self.bus.write32(a.wrapping_add(4 * k), v).map_err(Stop::MemFault)?;
                    }
                }
                if i.fl & F_WB != 0 {
                    self.set(i.rn, wb);
                }
            }
            Op::VmovCore | Op::VmovScalar => {
                let x = i.sub as usize & 31;
                if i.imm & 1 != 0 {
                    let v = self.s[x];
                    self.set(i.rd, v);
                } else {
                    self.s[x] = self.r[i.rd as usize];
                }
            }
            Op::VmovCore2 => {
                let x = i.sub as usize & 31;
                if i.imm & 1 != 0 {
                    let (a, b) = (self.s[x], self.s[(x + 1) & 31]);
                    self.set(i.rd, a);
                    self.set(i.ra, b);
                } else {
                    self.s[x] = self.r[i.rd as usize];
                    self.s[(x + 1) & 31] = self.r[i.ra as usize];
                }
            }
            Op::Vmrs => {
                if i.imm != 1 {
                    return Err(Stop::Undefined(i.raw));
                }
                if i.rd == 15 {
                    let v = self.fpscr;
                    self.n = v >> 31 & 1 != 0;
                    self.z = v >> 30 & 1 != 0;
                    self.c = v >> 29 & 1 != 0;
                    self.v = v >> 28 & 1 != 0;
                } else {
                    let v = self.fpscr;
                    self.set(i.rd, v);
                }
            }
            Op::Vmsr => self.fpscr = self.r[i.rd as usize] & 0xf7c0_009f,
            Op::Vfp => {
                let f = |v: u32| f32::from_bits(v);
                let (d, n, m) = (i.rd as usize, i.rn as usize, i.rm as usize);
                let (fd, fn_, fm) = (f(self.s[d]), f(self.s[n]), f(self.s[m]));
                let sm = self.s[m];
                let r: u32 = match i.sub {
                    vop::MLA => (fd + fn_ * fm).to_bits(),
                    vop::MLS => (fd - fn_ * fm).to_bits(),
                    vop::NMLA => (-fd - fn_ * fm).to_bits(),
                    vop::NMLS => (-fd + fn_ * fm).to_bits(),
                    vop::MUL => (fn_ * fm).to_bits(),
                    vop::NMUL => (-(fn_ * fm)).to_bits(),
                    vop::ADD => (fn_ + fm).to_bits(),
                    vop::SUB => (fn_ - fm).to_bits(),
                    vop::DIV => (fn_ / fm).to_bits(),
                    vop::FMA => fn_.mul_add(fm, fd).to_bits(),
                    vop::FMS => (-fn_).mul_add(fm, fd).to_bits(),
                    vop::FNMA => (-fn_).mul_add(fm, -fd).to_bits(),
                    vop::FNMS => fn_.mul_add(fm, -fd).to_bits(),
                    vop::MOVI => i.imm,
                    vop::MOV => sm,
                    vop::ABS => sm & 0x7fff_ffff,
                    vop::NEG => sm ^ 0x8000_0000,
                    vop::SQRT => fm.sqrt().to_bits(),
                    vop::CMP | vop::CMPZ => {
                        let b = if i.sub == vop::CMP { fm } else { 0.0 };
                        let fl = match fd.partial_cmp(&b) {
                            Some(std::cmp::Ordering::Equal) => 6,
                            Some(std::cmp::Ordering::Less) => 8,
                            Some(std::cmp::Ordering::Greater) => 2,
                            None => 3,
                        };
                        self.fpscr = self.fpscr & 0x0fff_ffff | fl << 28;
                        return Ok(());
                    }
                    vop::CVT_F_S => (sm as i32 as f32).to_bits(),
                    vop::CVT_F_U => (sm as f32).to_bits(),
                    vop::CVT_S_F => fm as i32 as u32,
                    vop::CVT_U_F => fm as u32,
                    vop::CVTR_S_F => fm.round_ties_even() as i32 as u32,
                    vop::CVTR_U_F => fm.round_ties_even() as u32,
                    vop::CVT_FIXED => {
                        let w = if i.s & 4 != 0 { 32 } else { 16 };
                        let sc = (2f64).powi(i.imm as i32);
                        let sd = self.s[d];
                        if i.s & 2 == 0 {
                            let x = match (w, i.s & 1) {
                                (32, 0) => sd as i32 as f64,
                                (32, _) => sd as f64,
                                (_, 0) => sd as i16 as f64,
                                _ => (sd & 0xffff) as f64,
                            };
                            ((x / sc) as f32).to_bits()
                        } else {
                            let x = fd as f64 * sc;
                            match (w, i.s & 1) {
                                (32, 0) => x as i32 as u32,
                                (32, _) => x as u32,
                                (_, 0) => x as i16 as u32,
                                _ => x as u16 as u32,
                            }
                        }
                    }
                    _ => return Err(Stop::Undefined(i.raw)),
                };
                self.s[d] = r;
            }
            _ => return Err(Stop::Undefined(i.raw)),
        }
        Ok(())
    }
}
