//! Loads and stores.

use super::{Cpu, Stop};
use crate::bus::Fault;
use crate::decode::{Insn, Op, F_ADD, F_INDEX, F_LIT, F_REGOFF, F_WB, SZ_B, SZ_H, SZ_SB, SZ_SH, SZ_W};
use crate::timing::Outcome;

impl Cpu {
    pub(super) fn exec_memory(&mut self, i: &Insn, pc: u32, o: &mut Outcome) -> Result<(), Stop> {
        match i.op {
            Op::Ld | Op::St => self.exec_ldst(i, pc, o)?,
            Op::Ldrd | Op::Strd => {
                let base = if i.fl & F_LIT != 0 {
                    pc.wrapping_add(4) & !3
                } else {
                    self.r[i.rn as usize]
                };
                let off = if i.fl & F_ADD != 0 {
                    base.wrapping_add(i.imm)
                } else {
                    base.wrapping_sub(i.imm)
                };
                let a = if i.fl & F_INDEX != 0 { off } else { base };
                self.align_check(a, 3)?;
                o.addr = a;
                o.region = self.bus.region(a);
                if i.op == Op::Ldrd {
                    let x = self.bus.read32(a).map_err(Stop::MemFault)?;
                    let y = self.bus.read32(a.wrapping_add(4)).map_err(Stop::MemFault)?;
                    if i.fl & F_WB != 0 {
                        self.set(i.rn, off);
                    }
                    self.set(i.rd, x);
                    self.set(i.ra, y);
                } else {
                    let (x, y) = (self.r[i.rd as usize], self.r[i.ra as usize]);
                    self.bus.write32(a, x).map_err(Stop::MemFault)?;
                    self.bus.write32(a.wrapping_add(4), y).map_err(Stop::MemFault)?;
                    if i.fl & F_WB != 0 {
                        self.set(i.rn, off);
                    }
                }
            }
            Op::Ldm => {
                let n = i.imm.count_ones() * 4;
                let base = self.r[i.rn as usize];
                let (mut a, wb) = if i.fl & F_INDEX != 0 {
                    (base.wrapping_sub(n), base.wrapping_sub(n))
                } else {
                    (base, base.wrapping_add(n))
                };
                self.align_check(a, 3)?;
                o.addr = a;
                o.region = self.bus.region(a);
                if i.fl & F_WB != 0 {
                    self.set(i.rn, wb);
                }
                let mut pcv = None;
                for k in 0..16 {
                    if i.imm >> k & 1 != 0 {
                        let v = self.bus.read32(a).map_err(Stop::MemFault)?;
                        if k == 15 {
                            pcv = Some(v);
                        } else {
                            self.set(k as u8, v);
                        }
                        a = a.wrapping_add(4);
                    }
                }
                if let Some(v) = pcv {
                    self.branch_to(v, o)?;
                }
            }
            Op::Stm => {
                let n = i.imm.count_ones() * 4;
                let base = self.r[i.rn as usize];
                let (mut a, wb) = if i.fl & F_INDEX != 0 {
                    (base.wrapping_sub(n), base.wrapping_sub(n))
                } else {
                    (base, base.wrapping_add(n))
                };
                self.align_check(a, 3)?;
                o.addr = a;
                o.region = self.bus.region(a);
                for k in 0..15 {
                    if i.imm >> k & 1 != 0 {
                        let v = self.r[k];
                        self.bus.write32(a, v).map_err(Stop::MemFault)?;
                        a = a.wrapping_add(4);
                    }
                }
                if i.fl & F_WB != 0 {
                    self.set(i.rn, wb);
                }
            }
            Op::Ldrex => {
                let a = self.r[i.rn as usize].wrapping_add(i.imm);
                o.addr = a;
                o.region = self.bus.region(a);
                let v = match i.sub {
                    SZ_B => self.bus.read8(a),
                    SZ_H => self.bus.read16(a),
                    _ => self.bus.read32(a),
                }
                .map_err(Stop::MemFault)?;
                self.excl = Some(a);
                self.set(i.rd, v);
            }
            Op::Strex => {
                let a = self.r[i.rn as usize].wrapping_add(i.imm);
                o.addr = a;
                o.region = self.bus.region(a);
                let ok = self.excl == Some(a);
                self.excl = None;
                if ok {
                    let v = self.r[i.rd as usize];
                    match i.sub {
                        SZ_B => self.bus.write8(a, v),
                        SZ_H => self.bus.write16(a, v),
                        _ => self.bus.write32(a, v),
                    }
                    .map_err(Stop::MemFault)?;
                }
                self.set(i.ra, !ok as u32);
            }
            Op::Clrex => self.excl = None,
            Op::Tb => {
                let base = self.reg(i.rn, pc);
                let ix = self.r[i.rm as usize];
                let off = if i.sub == 0 {
                    self.bus.read8(base.wrapping_add(ix)).map_err(Stop::MemFault)?
                } else {
                    self.bus.read16(base.wrapping_add(ix << 1)).map_err(Stop::MemFault)?
                };
                o.region = self.bus.region(base);
                let t = pc.wrapping_add(4).wrapping_add(off * 2);
                self.r[15] = t;
                o.taken = true;
                o.target = t;
            }
            _ => unreachable!("not a memory access: {:?}", i.op),
        }
        Ok(())
    }

    pub(super) fn align_check(&mut self, a: u32, m: u32) -> Result<(), Stop> {
        if a & m != 0 {
            return Err(Stop::MemFault(Fault::Unaligned(a)));
        }
        Ok(())
    }

    #[inline]
    fn exec_ldst(&mut self, i: &Insn, pc: u32, o: &mut Outcome) -> Result<(), Stop> {
        let base = if i.fl & F_LIT != 0 {
            pc.wrapping_add(4) & !3
        } else {
            self.r[i.rn as usize]
        };
        let offv = if i.fl & F_REGOFF != 0 {
            self.r[i.rm as usize] << i.sh_n
        } else {
            i.imm
        };
        let off = if i.fl & F_ADD != 0 {
            base.wrapping_add(offv)
        } else {
            base.wrapping_sub(offv)
        };
        let a = if i.fl & F_INDEX != 0 { off } else { base };
        o.addr = a;
        o.region = self.bus.region(a);
        match i.sub {
            SZ_W => {
                if a & 3 != 0 {
                    o.unaligned = if a & 1 != 0 { 2 } else { 1 };
                }
            }
            SZ_H | SZ_SH => {
                if a & 1 != 0 {
                    o.unaligned = 1;
                }
            }
            _ => {}
        }
        self.unaligned_count += (o.unaligned != 0) as u64;
        if i.op == Op::Ld {
            let v = match i.sub {
                SZ_W => self.bus.read32(a),
                SZ_B => self.bus.read8(a),
                SZ_H => self.bus.read16(a),
                SZ_SB => self.bus.read8(a).map(|v| v as i8 as u32),
                _ => self.bus.read16(a).map(|v| v as i16 as u32),
            }
            .map_err(Stop::MemFault)?;
            if i.fl & F_WB != 0 {
                self.set(i.rn, off);
            }
            if i.rd == 15 {
                self.branch_to(v, o)?;
            } else {
                self.set(i.rd, v);
            }
        } else {
            let v = self.r[i.rd as usize];
            match i.sub {
                SZ_W => self.bus.write32(a, v),
                SZ_B => self.bus.write8(a, v),
                _ => self.bus.write16(a, v),
            }
            .map_err(Stop::MemFault)?;
            if i.fl & F_WB != 0 {
                self.set(i.rn, off);
            }
        }
        Ok(())
    }
}
