//! Parallel addition and subtraction (SADD16 and its kin).

use super::alu::{hi, lo, ssat, usat};
use super::Cpu;
use crate::decode::Insn;

impl Cpu {
    pub(super) fn exec_par(&mut self, i: &Insn) {
        let (a, b) = (self.r[i.rn as usize], self.r[i.rm as usize]);
        let kind = i.sh_t & 3; // 0 plain 1 saturating 2 halving
        let uns = i.sh_t & 4 != 0;
        let mut r = 0u32;
        let mut ge = 0u32;
        if i.sub == 0 || i.sub == 4 {
            // 8-bit lanes
            for k in 0..4 {
                let (x, y) = if uns {
                    ((a >> (8 * k)) as u8 as i32, (b >> (8 * k)) as u8 as i32)
                } else {
                    ((a >> (8 * k)) as i8 as i32, (b >> (8 * k)) as i8 as i32)
                };
                let sub = i.sub == 4;
                let v = if sub { x - y } else { x + y };
                let g = if uns && !sub { v > 0xff } else { v >= 0 };
                if g {
                    ge |= 1 << k;
                }
                let q = match kind {
                    1 if uns => usat(v as i64, 8).0 as i32,
                    1 => ssat(v as i64, 8).0 as i32,
                    2 => v >> 1,
                    _ => v,
                };
                r |= (q as u32 & 0xff) << (8 * k);
            }
        } else {
            let l = |v: u32| if uns { (v & 0xffff) as i32 } else { lo(v) };
            let h = |v: u32| if uns { (v >> 16) as i32 } else { hi(v) };
            // (low lane value, is_sub), (high lane)
            let (vl, sl, vh, sh) = match i.sub {
                1 => (l(a) + l(b), false, h(a) + h(b), false),
                2 => (l(a) - h(b), true, h(a) + l(b), false), // ASX
                6 => (l(a) + h(b), false, h(a) - l(b), true), // SAX
                _ => (l(a) - l(b), true, h(a) - h(b), true),
            };
            for (k, (v, sub)) in [(vl, sl), (vh, sh)].into_iter().enumerate() {
                let g = if uns && !sub { v > 0xffff } else { v >= 0 };
                if g {
                    ge |= 3 << (2 * k);
                }
                let q = match kind {
                    1 if uns => usat(v as i64, 16).0 as i32,
                    1 => ssat(v as i64, 16).0 as i32,
                    2 => v >> 1,
                    _ => v,
                };
                r |= (q as u32 & 0xffff) << (16 * k);
            }
        }
        if kind == 0 {
            self.ge = ge;
        }
        self.set(i.rd, r);
    }
}
