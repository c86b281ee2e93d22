//! The random generator of the board, for the traits that embedded-tls asks for.

use core::ptr::{read_volatile, write_volatile};

use rand_core::{CryptoRng, Error, RngCore, impls};

/// The RNG of an STM32L4+.
pub(crate) struct Hardware;

impl RngCore for Hardware {
    fn next_u32(&mut self) -> u32 {
        // SAFETY: CR, SR and DR of the RNG; nothing else depends on them.
        unsafe {
            write_volatile(CR, ENABLE);
            while read_volatile(SR) & READY == 0 {}
            read_volatile(DR)
        }
    }

    fn next_u64(&mut self) -> u64 {
        impls::next_u64_via_u32(self)
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        impls::fill_bytes_via_next(self, out);
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(out);
        Ok(())
    }
}

impl CryptoRng for Hardware {}

const CR: *mut u32 = 0x5006_0800 as *mut u32;
const SR: *const u32 = 0x5006_0804 as *const u32;
const DR: *const u32 = 0x5006_0808 as *const u32;
const ENABLE: u32 = 4;
const READY: u32 = 1;
