//! Data processing: moves, logic, add and subtract, shifts, bit fields, extension, saturation.

use super::alu::{add_carry, hi, lo, shift_c, ssat, usat};
use super::Cpu;
use crate::decode::{dp, Insn, Op, F_ADD};
use crate::timing::Outcome;

impl Cpu {
    pub(super) fn exec_data(&mut self, i: &Insn, pc: u32, setf: bool, o: &mut Outcome) {
        match i.op {
            Op::DpImm | Op::DpReg => {
                let (b, sc) = if i.op == Op::DpImm {
                    (i.imm, if i.sh_t == 2 { self.c } else { i.sh_t != 0 })
                } else {
                    shift_c(self.reg(i.rm, pc), i.sh_t, i.sh_n as u32, self.c)
                };
                let a = if matches!(i.sub, dp::MOV | dp::MVN) {
                    0
                } else {
                    self.reg(i.rn, pc)
                };
                let cin = self.c as u32;
                let (r, arith) = match i.sub {
                    dp::AND | dp::TST => (a & b, None),
                    dp::BIC => (a & !b, None),
                    dp::ORR => (a | b, None),
                    dp::ORN => (a | !b, None),
                    dp::EOR | dp::TEQ => (a ^ b, None),
                    dp::MOV => (b, None),
                    dp::MVN => (!b, None),
                    dp::ADD | dp::CMN => {
                        let (r, c, v) = add_carry(a, b, 0);
                        (r, Some((c, v)))
                    }
                    dp::ADC => {
                        let (r, c, v) = add_carry(a, b, cin);
                        (r, Some((c, v)))
                    }
                    dp::SBC => {
                        let (r, c, v) = add_carry(a, !b, cin);
                        (r, Some((c, v)))
                    }
                    dp::SUB | dp::CMP => {
                        let (r, c, v) = add_carry(a, !b, 1);
                        (r, Some((c, v)))
                    }
                    _ => {
                        let (r, c, v) = add_carry(!a, b, 1);
                        (r, Some((c, v)))
                    }
                };
                if setf {
                    self.n = r >> 31 != 0;
                    self.z = r == 0;
                    match arith {
                        Some((c, v)) => {
                            self.c = c;
                            self.v = v;
                        }
                        None => self.c = sc,
                    }
                }
                if !matches!(i.sub, dp::TST | dp::TEQ | dp::CMP | dp::CMN) {
                    if i.rd == 15 {
                        self.r[15] = r & !1;
                        o.taken = true;
                        o.target = r & !1;
                    } else {
                        self.set(i.rd, r);
                    }
                }
            }
            Op::ShiftReg => {
                let n = self.r[i.rm as usize] & 0xff;
                let v = self.r[i.rn as usize];
                let (r, c) = shift_c(v, i.sub, n, self.c);
                if setf {
                    self.n = r >> 31 != 0;
                    self.z = r == 0;
                    self.c = c;
                }
                self.set(i.rd, r);
            }
            Op::Adr => {
                let base = pc.wrapping_add(4) & !3;
                let v = if i.fl & F_ADD != 0 {
                    base.wrapping_add(i.imm)
                } else {
                    base.wrapping_sub(i.imm)
                };
                self.set(i.rd, v);
            }
            Op::Movt => {
                let v = self.r[i.rd as usize] & 0xffff | i.imm << 16;
                self.set(i.rd, v);
            }
            Op::Bfi | Op::Bfc => {
                let lsb = i.sh_n as u32;
                let w = i.imm - lsb + 1;
                let m = if w >= 32 { !0 } else { ((1u32 << w) - 1) << lsb };
                let src = if i.op == Op::Bfc {
                    0
                } else {
                    self.r[i.rn as usize] << lsb
                };
                let v = self.r[i.rd as usize] & !m | src & m;
                self.set(i.rd, v);
            }
            Op::Sbfx | Op::Ubfx => {
                let v = self.r[i.rn as usize] >> i.sh_n;
                let w = i.imm.min(32);
                let r = if i.op == Op::Sbfx {
                    (((v << (32 - w)) as i32) >> (32 - w)) as u32
                } else if w == 32 {
                    v
                } else {
                    v & ((1 << w) - 1)
                };
                self.set(i.rd, r);
            }
            Op::Ssat | Op::Usat => {
                let (v, _) = shift_c(self.r[i.rn as usize], i.sh_t, i.sh_n as u32, false);
                let (r, sat) = if i.op == Op::Ssat {
                    ssat(v as i32 as i64, i.imm)
                } else {
                    usat(v as i32 as i64, i.imm)
                };
                self.q |= sat;
                self.set(i.rd, r as u32);
            }
            Op::Ssat16 | Op::Usat16 => {
                let v = self.r[i.rn as usize];
                let f = |x: i32| {
                    if i.op == Op::Ssat16 {
                        ssat(x as i64, i.imm)
                    } else {
                        usat(x as i64, i.imm)
                    }
                };
                let (a, s1) = f(lo(v));
                let (b, s2) = f(hi(v));
                self.q |= s1 | s2;
                self.set(i.rd, (a as u32 & 0xffff) | (b as u32) << 16);
            }
            Op::Pkh => {
                let a = self.r[i.rn as usize];
                let (t, sh) = if i.sub == 0 { (0, i.sh_n) } else { (2, i.sh_n) };
                let (b, _) = shift_c(self.r[i.rm as usize], t, sh as u32, false);
                let r = if i.sub == 0 {
                    a & 0xffff | b & 0xffff_0000
                } else {
                    a & 0xffff_0000 | b & 0xffff
                };
                self.set(i.rd, r);
            }
            Op::Ext => {
                let v = self.r[i.rm as usize].rotate_right(i.sh_n as u32);
                let a = if i.rn == 15 { 0 } else { self.r[i.rn as usize] };
                let r = match i.sub {
                    0 => a.wrapping_add(v as i16 as u32),
                    1 => a.wrapping_add(v & 0xffff),
                    4 => a.wrapping_add(v as i8 as u32),
                    5 => a.wrapping_add(v & 0xff),
                    k => {
                        let (l, h) = if k == 2 {
                            (v as i8 as u32, (v >> 16) as i8 as u32)
                        } else {
                            (v & 0xff, (v >> 16) & 0xff)
                        };
                        (a.wrapping_add(l) & 0xffff) | ((a >> 16).wrapping_add(h) << 16)
                    }
                };
                self.set(i.rd, r);
            }
            Op::Rev => {
                let v = self.r[i.rm as usize];
                let r = match i.sub {
                    0 => v.swap_bytes(),
                    1 => v.swap_bytes().rotate_left(16),
                    2 => v.reverse_bits(),
                    _ => (v as u16).swap_bytes() as i16 as u32,
                };
                self.set(i.rd, r);
            }
            Op::Clz => {
                let r = self.r[i.rm as usize].leading_zeros();
                self.set(i.rd, r);
            }
            Op::Sel => {
                let (a, b) = (self.r[i.rn as usize], self.r[i.rm as usize]);
                let mut r = 0;
                for k in 0..4 {
                    let src = if self.ge >> k & 1 != 0 { a } else { b };
                    r |= src & (0xff << (8 * k));
                }
                self.set(i.rd, r);
            }
            Op::Qarith => {
                let m = self.r[i.rm as usize] as i32 as i64;
                let n = self.r[i.rn as usize] as i32 as i64;
                let (n2, s1) = if i.sub & 1 != 0 { ssat(2 * n, 32) } else { (n, false) };
                let (r, s2) = ssat(if i.sub & 2 != 0 { m - n2 } else { m + n2 }, 32);
                self.q |= s1 | s2;
                self.set(i.rd, r as u32);
            }
            Op::Par => self.exec_par(i),
            _ => unreachable!("not data processing: {:?}", i.op),
        }
    }
}
