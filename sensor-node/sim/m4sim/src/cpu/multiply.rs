//! Multiply, multiply-accumulate and divide.

use super::alu::{hi, lo};
use super::Cpu;
use crate::decode::{Insn, Op};
use crate::timing::Outcome;

impl Cpu {
    pub(super) fn exec_multiply(&mut self, i: &Insn, setf: bool, o: &mut Outcome) {
        match i.op {
            Op::Mul => {
                let r = self.r[i.rn as usize].wrapping_mul(self.r[i.rm as usize]);
                if setf {
                    self.n = r >> 31 != 0;
                    self.z = r == 0;
                }
                self.set(i.rd, r);
            }
            Op::Mla | Op::Mls => {
                let m = self.r[i.rn as usize].wrapping_mul(self.r[i.rm as usize]);
                let a = self.r[i.ra as usize];
                let r = if i.op == Op::Mla {
                    a.wrapping_add(m)
                } else {
                    a.wrapping_sub(m)
                };
                self.set(i.rd, r);
            }
            Op::SmlaXY => {
                let a = self.r[i.rn as usize];
                let b = self.r[i.rm as usize];
                let x = if i.fl & 2 != 0 { hi(a) } else { lo(a) };
                let y = if i.fl & 1 != 0 { hi(b) } else { lo(b) };
                let p = x * y;
                let r = if i.ra == 15 {
                    p
                } else {
                    let (r, ov) = p.overflowing_add(self.r[i.ra as usize] as i32);
                    self.q |= ov;
                    r
                };
                self.set(i.rd, r as u32);
            }
            Op::SmlaW => {
                let a = self.r[i.rn as usize] as i32 as i64;
                let b = self.r[i.rm as usize];
                let y = if i.fl & 1 != 0 { hi(b) } else { lo(b) } as i64;
                let p = ((a * y) >> 16) as i32;
                let r = if i.ra == 15 {
                    p
                } else {
                    let (r, ov) = p.overflowing_add(self.r[i.ra as usize] as i32);
                    self.q |= ov;
                    r
                };
                self.set(i.rd, r as u32);
            }
            Op::Smlad | Op::Smlsd => {
                let a = self.r[i.rn as usize];
                let b = if i.fl & 1 != 0 {
                    self.r[i.rm as usize].rotate_right(16)
                } else {
                    self.r[i.rm as usize]
                };
                let p1 = lo(a) as i64 * lo(b) as i64;
                let p2 = hi(a) as i64 * hi(b) as i64;
                let mut s = if i.op == Op::Smlad { p1 + p2 } else { p1 - p2 };
                if i.ra != 15 {
                    s += self.r[i.ra as usize] as i32 as i64;
                }
                if s != s as i32 as i64 {
                    self.q = true;
                }
                self.set(i.rd, s as u32);
            }
            Op::Smmla | Op::Smmls => {
                let p = (self.r[i.rn as usize] as i32 as i64) * (self.r[i.rm as usize] as i32 as i64);
                let a = if i.ra == 15 {
                    0
                } else {
                    (self.r[i.ra as usize] as i64) << 32
                };
                let mut v = if i.op == Op::Smmla {
                    a.wrapping_add(p)
                } else {
                    a.wrapping_sub(p)
                };
                if i.fl & 1 != 0 {
                    v = v.wrapping_add(0x8000_0000);
                }
                self.set(i.rd, (v >> 32) as u32);
            }
            Op::Usada8 => {
                let (a, b) = (self.r[i.rn as usize], self.r[i.rm as usize]);
                let mut s = if i.ra == 15 { 0 } else { self.r[i.ra as usize] };
                for k in 0..4 {
                    let x = (a >> (8 * k)) as u8;
                    let y = (b >> (8 * k)) as u8;
                    s = s.wrapping_add(x.abs_diff(y) as u32);
                }
                self.set(i.rd, s);
            }
            Op::Smull | Op::Umull | Op::Smlal | Op::Umlal | Op::Umaal => {
                let (a, b) = (self.r[i.rn as usize], self.r[i.rm as usize]);
                let l = self.r[i.ra as usize];
                let h = self.r[i.rd as usize];
                let acc = (h as u64) << 32 | l as u64;
                let sp = (a as i32 as i64).wrapping_mul(b as i32 as i64) as u64;
                let up = a as u64 * b as u64;
                let r = match i.op {
                    Op::Smull => sp,
                    Op::Umull => up,
                    Op::Smlal => acc.wrapping_add(sp),
                    Op::Umlal => acc.wrapping_add(up),
                    _ => up.wrapping_add(l as u64).wrapping_add(h as u64),
                };
                self.set(i.ra, r as u32);
                self.set(i.rd, (r >> 32) as u32);
            }
            Op::SmlalXY | Op::Smlald | Op::Smlsld => {
                let a = self.r[i.rn as usize];
                let b = self.r[i.rm as usize];
                let acc = ((self.r[i.rd as usize] as u64) << 32 | self.r[i.ra as usize] as u64) as i64;
                let p = match i.op {
                    Op::SmlalXY => {
                        let x = if i.fl & 2 != 0 { hi(a) } else { lo(a) };
                        let y = if i.fl & 1 != 0 { hi(b) } else { lo(b) };
                        x as i64 * y as i64
                    }
                    _ => {
                        let b = if i.fl & 1 != 0 { b.rotate_right(16) } else { b };
                        let p1 = lo(a) as i64 * lo(b) as i64;
                        let p2 = hi(a) as i64 * hi(b) as i64;
                        if i.op == Op::Smlald {
                            p1 + p2
                        } else {
                            p1 - p2
                        }
                    }
                };
                let r = acc.wrapping_add(p) as u64;
                self.set(i.ra, r as u32);
                self.set(i.rd, (r >> 32) as u32);
            }
            Op::Sdiv | Op::Udiv => {
                let (a, b) = (self.r[i.rn as usize], self.r[i.rm as usize]);
                let r = if b == 0 {
                    0
                } else if i.op == Op::Udiv {
                    a / b
                } else {
                    (a as i32).wrapping_div(b as i32) as u32
                };
                let (ua, ub) = if i.op == Op::Udiv {
                    (a, b)
                } else {
                    ((a as i32).unsigned_abs(), (b as i32).unsigned_abs())
                };
                // TRM: 2..12 cycles with early termination; 4 quotient bits per step
                o.div = if ub == 0 || ua < ub {
                    2
                } else {
                    let qbits = ub.leading_zeros() - ua.leading_zeros() + 1;
                    (3 + qbits.div_ceil(4)).min(12) as u8
                };
                self.set(i.rd, r);
            }
            _ => unreachable!("not a multiplication: {:?}", i.op),
        }
    }
}
