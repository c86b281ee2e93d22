//! Exception entry and return (ARMv7-M section B1.5): no priorities, no nesting, full FP stacking.

use super::{Cpu, Stop};

impl Cpu {
    pub(super) fn poll_exceptions(&mut self) -> Result<(), Stop> {
        if self.bus.systick_poll(self.t.cycles) {
            self.bus.icsr_pend |= 1 << 26;
        }
        if self.bus.icsr_pend == 0 || self.primask != 0 || self.faultmask != 0 || self.ipsr != 0 {
            return Ok(());
        }
        let n = if self.bus.icsr_pend & (1 << 26) != 0 {
            self.bus.icsr_pend &= !(1 << 26);
            15
        } else if self.bus.icsr_pend & (1 << 28) != 0 {
            self.bus.icsr_pend &= !(1 << 28);
            14
        } else {
            return Ok(());
        };
        self.interrupted = Some(self.t);
        self.take_exception(n)
    }

    pub(super) fn take_exception(&mut self, num: u32) -> Result<(), Stop> {
        let fp = self.control & 4 != 0;
        let bytes = if fp { 0x68 } else { 0x20 };
        let sp = self.r[13];
        let pad = if self.bus.ccr & 0x200 != 0 { (sp >> 2) & 1 } else { 0 };
        let f = sp.wrapping_sub(bytes).wrapping_sub(pad * 4);
        let it = self.it as u32;
        let xpsr = self.apsr() | self.ipsr | 1 << 24 | (it & 3) << 25 | (it >> 2) << 10 | pad << 9;
        let w = [
            self.r[0], self.r[1], self.r[2], self.r[3], self.r[12], self.r[14], self.r[15], xpsr,
        ];
        for (k, v) in w.iter().enumerate() {
            self.bus
                .write32(f.wrapping_add(4 * k as u32), *v)
                .map_err(Stop::MemFault)?;
        }
        if fp {
            for k in 0..16 {
                let v = self.s[k];
                self.bus
                    .write32(f.wrapping_add(0x20 + 4 * k as u32), v)
                    .map_err(Stop::MemFault)?;
            }
            let v = self.fpscr;
            self.bus.write32(f.wrapping_add(0x60), v).map_err(Stop::MemFault)?;
        }
        self.r[13] = f;
        if f < self.min_sp {
            self.min_sp = f;
        }
        let mut exc = 0xffff_fff1u32;
        if self.ipsr == 0 {
            exc = if self.control & 2 != 0 {
                0xffff_fffd
            } else {
                0xffff_fff9
            };
        }
        if fp {
            exc &= !0x10;
        }
        if self.control & 2 != 0 {
            // switch to MSP
            std::mem::swap(&mut self.r[13], &mut self.psp);
        }
        self.control &= !(4 | 2);
        self.r[14] = exc;
        self.ipsr = num;
        self.it = 0;
        let vec = self
            .bus
            .read32(self.bus.vtor.wrapping_add(num * 4))
            .map_err(Stop::MemFault)?;
        if vec & 1 == 0 {
            return Err(Stop::Error(format!("exception {num}: bad vector 0x{vec:08x}")));
        }
        self.r[15] = vec & !1;
        self.t.flush(vec & !1, 12);
        Ok(())
    }

    pub(super) fn exception_return(&mut self, exc: u32) -> Result<(), Stop> {
        let to_psp = exc & 4 != 0;
        if to_psp {
            std::mem::swap(&mut self.r[13], &mut self.psp);
            self.control |= 2;
        }
        let f = self.r[13];
        let mut w = [0u32; 8];
        for (k, v) in w.iter_mut().enumerate() {
            *v = self.bus.read32(f.wrapping_add(4 * k as u32)).map_err(Stop::MemFault)?;
        }
        let mut bytes = 0x20;
        if exc & 0x10 == 0 {
            for k in 0..16 {
                self.s[k] = self
                    .bus
                    .read32(f.wrapping_add(0x20 + 4 * k as u32))
                    .map_err(Stop::MemFault)?;
            }
            self.fpscr = self.bus.read32(f.wrapping_add(0x60)).map_err(Stop::MemFault)?;
            self.control |= 4;
            bytes = 0x68;
        } else {
            self.control &= !4;
        }
        self.r[0] = w[0];
        self.r[1] = w[1];
        self.r[2] = w[2];
        self.r[3] = w[3];
        self.r[12] = w[4];
        self.r[14] = w[5];
        self.r[15] = w[6] & !1;
        self.set_apsr(w[7]);
        self.ipsr = w[7] & 0x1ff;
        self.it = ((w[7] >> 25) & 3 | ((w[7] >> 10) & 0x3f) << 2) as u8;
        self.r[13] = f.wrapping_add(bytes).wrapping_add(((w[7] >> 9) & 1) * 4);
        self.t.flush(self.r[15], 10);
        Ok(())
    }
}
