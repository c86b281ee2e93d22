//! Memory map and devices: flash, SRAM blocks, DWT, SysTick, SCB, an STM32-style
//! RNG, a CMSDK UART. Addresses follow the STM32L4R5 by default.

/// A memory block. `region` ids decide which loads may pipeline together.
pub struct Block {
    pub base: u32,
    pub data: Vec<u8>,
    pub writable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Read(u32),
    Write(u32),
    Unaligned(u32),
    /// The firmware asked for a reset (`AIRCR.SYSRESETREQ`): not an error, but the run ends there.
    SystemReset,
}

pub struct Bus {
    pub flash: Block,
    pub ram: Block,
    /// SRAM block boundaries (addresses) for the pipelining rule.
    pub ram_split: Vec<u32>,
    /// Current cycle, copied in before every device access.
    pub now: u64,
    pub insns: u64,
    // DWT / DEMCR
    pub demcr: u32,
    pub dwt_ctrl: u32,
    cyccnt_base: u64,
    // SysTick
    pub syst_csr: u32,
    pub syst_rvr: u32,
    syst_base: u64,
    syst_fired: u64,
    // SCB
    pub vtor: u32,
    pub icsr_pend: u32,
    pub ccr: u32,
    pub cpacr: u32,
    pub shpr: [u32; 3],
    pub fpccr: u32,
    // RNG
    rng_state: u64,
    rng_next: u64,
    pub rng_latency: u64,
    scratch: std::collections::BTreeMap<u32, u32>,
    pub strict_io: bool,
    pub uart: crate::uart::Uart,
    /// Addresses of worn cells: byte stores to them are lost. None by default.
    pub worn: std::ops::Range<u32>,
}

pub const RNG_BASES: [u32; 1] = [0x5006_0800]; // STM32L4, STM32F4

impl Bus {
    pub fn new(flash_base: u32, flash_size: u32, ram_base: u32, ram_size: u32, seed: u64) -> Bus {
        Bus {
            flash: Block {
                base: flash_base,
                data: vec![0xff; flash_size as usize],
                writable: false,
            },
            ram: Block {
                base: ram_base,
                data: vec![0; ram_size as usize],
                writable: true,
            },
            ram_split: vec![0x2003_0000, 0x2004_0000],
            now: 0,
            insns: 0,
            demcr: 0,
            dwt_ctrl: 0x4000_0000,
            cyccnt_base: 0,
            syst_csr: 0,
            syst_rvr: 0,
            syst_base: 0,
            syst_fired: 0,
            vtor: flash_base,
            icsr_pend: 0,
            ccr: 0x200,
            cpacr: 0,
            shpr: [0; 3],
            fpccr: 0xc000_0000,
            rng_state: seed ^ 0x9e37_79b9_7f4a_7c15,
            rng_next: 0,
            rng_latency: 54,
            scratch: Default::default(),
            strict_io: false,
            uart: Default::default(),
            worn: 0..0,
        }
    }

    /// Region id of an address (for the load-pipelining rule).
    #[inline]
    pub fn region(&self, a: u32) -> u8 {
        let o = a.wrapping_sub(self.ram.base);
        if (o as usize) < self.ram.data.len() {
            let mut r = 1;
            for &s in &self.ram_split {
                if a >= s {
                    r += 1;
                }
            }
            r
        } else if (a.wrapping_sub(self.flash.base) as usize) < self.flash.data.len() {
            0
        } else {
            200
        }
    }

    #[inline]
    fn block(&self, a: u32, n: usize) -> Option<&[u8]> {
        let o = a.wrapping_sub(self.ram.base) as usize;
        if o < self.ram.data.len() && o + n <= self.ram.data.len() {
            return Some(&self.ram.data[o..o + n]);
        }
        let mut o = a.wrapping_sub(self.flash.base) as usize;
        if o >= self.flash.data.len() && (a as usize) < self.flash.data.len() {
            o = a as usize; // flash aliased at 0 (boot mode)
        }
        if o < self.flash.data.len() && o + n <= self.flash.data.len() {
            return Some(&self.flash.data[o..o + n]);
        }
        None
    }

    #[inline]
    pub fn read32(&mut self, a: u32) -> Result<u32, Fault> {
        if let Some(s) = self.block(a, 4) {
            return Ok(u32::from_le_bytes([s[0], s[1], s[2], s[3]]));
        }
        self.io_read(a)
    }
    #[inline]
    pub fn read16(&mut self, a: u32) -> Result<u32, Fault> {
        if let Some(s) = self.block(a, 2) {
            return Ok(u16::from_le_bytes([s[0], s[1]]) as u32);
        }
        Ok(self.io_read(a & !3)? >> ((a & 2) * 8) & 0xffff)
    }
    #[inline]
    pub fn read8(&mut self, a: u32) -> Result<u32, Fault> {
        if let Some(s) = self.block(a, 1) {
            return Ok(s[0] as u32);
        }
        Ok(self.io_read(a & !3)? >> ((a & 3) * 8) & 0xff)
    }

    #[inline]
    fn ram_mut(&mut self, a: u32, n: usize) -> Option<&mut [u8]> {
        let o = a.wrapping_sub(self.ram.base) as usize;
        if o < self.ram.data.len() && o + n <= self.ram.data.len() {
            return Some(&mut self.ram.data[o..o + n]);
        }
        None
    }

    #[inline]
    pub fn write32(&mut self, a: u32, v: u32) -> Result<(), Fault> {
        if let Some(s) = self.ram_mut(a, 4) {
            s.copy_from_slice(&v.to_le_bytes());
            return Ok(());
        }
        self.io_write(a, v)
    }
    #[inline]
    pub fn write16(&mut self, a: u32, v: u32) -> Result<(), Fault> {
        if let Some(s) = self.ram_mut(a, 2) {
            s.copy_from_slice(&(v as u16).to_le_bytes());
            return Ok(());
        }
        self.io_write(a, v)
    }
    #[inline]
    pub fn write8(&mut self, a: u32, v: u32) -> Result<(), Fault> {
        let worn = self.worn.contains(&a);
        if let Some(s) = self.ram_mut(a, 1) {
            if !worn {
                s[0] = v as u8;
            }
            return Ok(());
        }
        self.io_write(a, v)
    }

    /// Copy an image into flash or RAM (loader / debugger access).
    pub fn load(&mut self, addr: u32, data: &[u8]) -> Result<(), String> {
        for b in [&mut self.flash, &mut self.ram] {
            let o = addr.wrapping_sub(b.base) as usize;
            if o < b.data.len() && o + data.len() <= b.data.len() {
                b.data[o..o + data.len()].copy_from_slice(data);
                return Ok(());
            }
        }
        Err(format!(
            "segment 0x{addr:08x}+0x{:x} is outside flash and RAM",
            data.len()
        ))
    }

    fn cyccnt(&self) -> u32 {
        if self.dwt_ctrl & 1 != 0 && self.demcr & (1 << 24) != 0 {
            self.now.wrapping_sub(self.cyccnt_base) as u32
        } else {
            self.cyccnt_base as u32
        }
    }

    fn syst_period(&self) -> u64 {
        (self.syst_rvr & 0xff_ffff) as u64 + 1
    }

    /// Cycles until something can wake a sleeping core: SysTick's next wrap or the next byte for the UART.
    pub fn until_wake(&mut self) -> Option<u64> {
        let tick = (self.syst_csr & 3 == 3).then(|| {
            let period = self.syst_period();
            period - (self.now - self.syst_base) % period
        });
        let byte = self.uart.until_received(self.now);
        [tick, byte].into_iter().flatten().min()
    }

    /// SysTick wrap pending? (called when SysTick is enabled)
    #[inline]
    pub fn systick_poll(&mut self, now: u64) -> bool {
        if self.syst_csr & 1 == 0 || self.syst_rvr == 0 {
            return false;
        }
        let n = (now - self.syst_base) / self.syst_period();
        if n > self.syst_fired {
            self.syst_fired = n;
            self.syst_csr |= 1 << 16;
            return self.syst_csr & 2 != 0;
        }
        false
    }

    fn rng_word(&mut self) -> u32 {
        // splitmix64: deterministic, not cryptographic
        self.rng_state = self.rng_state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.rng_state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u32
    }

    #[cold]
    fn io_read(&mut self, a: u32) -> Result<u32, Fault> {
        if a & !0xfff == crate::uart::BASE {
            return Ok(self.uart.read(a & 0xfff, self.now));
        }
        for b in RNG_BASES {
            match a.wrapping_sub(b) {
                0 => return Ok(4),
                4 => return Ok((self.now >= self.rng_next) as u32),
                8 => {
                    self.rng_next = self.now + self.rng_latency;
                    return Ok(self.rng_word());
                }
                _ => {}
            }
        }
        Ok(match a {
            0xe000_1000 => self.dwt_ctrl,
            0xe000_1004 => self.cyccnt(),
            0xe000_edf0 => 1, // DHCSR: a debugger is there, which is who answers semihosting
            0xe000_edfc => self.demcr,
            0xe000_e010 => {
                let v = self.syst_csr;
                self.syst_csr &= !(1 << 16);
                v
            }
            0xe000_e014 => self.syst_rvr,
            0xe000_e018 => {
                if self.syst_csr & 1 == 0 {
                    0
                } else {
                    let per = self.syst_period();
                    let e = (self.now - self.syst_base) % per;
                    (if e == 0 { 0 } else { per - e }) as u32
                }
            }
            0xe000_e01c => 0,
            0xe000_ed00 => 0x410f_c241,
            0xe000_ed04 => self.icsr_pend,
            0xe000_ed08 => self.vtor,
            0xe000_ed14 => self.ccr,
            0xe000_ed18..=0xe000_ed23 => self.shpr[((a - 0xe000_ed18) / 4) as usize],
            0xe000_ed88 => self.cpacr,
            0xe000_ef34 => self.fpccr,
            0xe000_ef40 => 0x1011_0021,
            0xe000_ef44 => 0x1100_0011,
            0xe000_e000..=0xe000_efff | 0xe000_0000..=0xe000_3fff => *self.scratch.get(&a).unwrap_or(&0),
            0x4000_0000..=0x5fff_ffff if !self.strict_io => *self.scratch.get(&a).unwrap_or(&0),
            _ => return Err(Fault::Read(a)),
        })
    }

    #[cold]
    fn io_write(&mut self, a: u32, v: u32) -> Result<(), Fault> {
        match a {
            0x4000_4000..=0x4000_4fff => self.uart.write(a & 0xfff, v, self.now),
            0xe000_ed0c if v >> 16 == 0x05fa && v & 4 != 0 => return Err(Fault::SystemReset),
            0xe000_1000 => {
                if (v ^ self.dwt_ctrl) & 1 != 0 {
                    // keep the counter value across enable/disable
                    let cur = self.cyccnt();
                    self.dwt_ctrl = v;
                    self.set_cyccnt(cur);
                }
                self.dwt_ctrl = v;
            }
            0xe000_1004 => self.set_cyccnt(v),
            0xe000_edfc => {
                let cur = self.cyccnt();
                self.demcr = v;
                self.set_cyccnt(cur);
            }
            0xe000_e010 => {
                if v & 1 != 0 && self.syst_csr & 1 == 0 {
                    self.syst_base = self.now;
                    self.syst_fired = 0;
                }
                self.syst_csr = v & 7;
            }
            0xe000_e014 => self.syst_rvr = v & 0xff_ffff,
            0xe000_e018 => {
                self.syst_base = self.now;
                self.syst_fired = 0;
                self.syst_csr &= !(1 << 16);
            }
            0xe000_ed04 => {
                self.icsr_pend |= v & (1 << 28 | 1 << 26);
                if v & (1 << 27) != 0 {
                    self.icsr_pend &= !(1 << 28);
                }
                if v & (1 << 25) != 0 {
                    self.icsr_pend &= !(1 << 26);
                }
            }
            0xe000_ed08 => self.vtor = v & !0x7f,
            0xe000_ed14 => self.ccr = v,
            0xe000_ed18..=0xe000_ed23 => self.shpr[((a - 0xe000_ed18) / 4) as usize] = v,
            0xe000_ed88 => self.cpacr = v,
            0xe000_ef34 => self.fpccr = v,
            0xe000_e000..=0xe000_efff | 0xe000_0000..=0xe000_3fff => {
                self.scratch.insert(a, v);
            }
            0x4000_0000..=0x5fff_ffff if !self.strict_io => {
                self.scratch.insert(a, v);
            }
            _ => return Err(Fault::Write(a)),
        }
        Ok(())
    }

    fn set_cyccnt(&mut self, v: u32) {
        if self.dwt_ctrl & 1 != 0 && self.demcr & (1 << 24) != 0 {
            self.cyccnt_base = self.now.wrapping_sub(v as u64);
        } else {
            self.cyccnt_base = v as u64;
        }
    }
}
