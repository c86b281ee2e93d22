//! The registers this image uses, by their data-space addresses (ATmega1284P).

use core::ptr::{read_volatile, write_volatile};

/// One 8-bit register.
#[derive(Clone, Copy)]
pub(crate) struct Register(*mut u8);

impl Register {
    const fn at(address: u16) -> Self {
        Self(address as *mut u8)
    }

    pub(crate) fn read(self) -> u8 {
        // SAFETY: only the addresses below exist, and each is an I/O register of this part.
        unsafe { read_volatile(self.0) }
    }

    pub(crate) fn write(self, value: u8) {
        // SAFETY: as above; no register below lets the hardware write to memory.
        unsafe { write_volatile(self.0, value) }
    }

    pub(crate) fn has(self, bits: u8) -> bool {
        self.read() & bits != 0
    }
}

pub(crate) const DDRD: Register = Register::at(0x2a);
pub(crate) const GPIOR0: Register = Register::at(0x3e);
pub(crate) const EECR: Register = Register::at(0x3f);
pub(crate) const EEDR: Register = Register::at(0x40);
pub(crate) const EEARL: Register = Register::at(0x41);
pub(crate) const EEARH: Register = Register::at(0x42);
pub(crate) const TCCR0A: Register = Register::at(0x44);
pub(crate) const TCCR0B: Register = Register::at(0x45);
pub(crate) const TCNT0: Register = Register::at(0x46);
pub(crate) const OCR0A: Register = Register::at(0x47);
pub(crate) const GPIOR1: Register = Register::at(0x4a);
pub(crate) const SMCR: Register = Register::at(0x53);
pub(crate) const MCUSR: Register = Register::at(0x54);
pub(crate) const TIMSK0: Register = Register::at(0x6e);
pub(crate) const ADCL: Register = Register::at(0x78);
pub(crate) const ADCH: Register = Register::at(0x79);
pub(crate) const ADCSRA: Register = Register::at(0x7a);
pub(crate) const ADMUX: Register = Register::at(0x7c);
pub(crate) const UCSR0A: Register = Register::at(0xc0);
pub(crate) const UCSR0B: Register = Register::at(0xc1);
pub(crate) const UCSR0C: Register = Register::at(0xc2);
pub(crate) const UBRR0L: Register = Register::at(0xc4);
pub(crate) const UBRR0H: Register = Register::at(0xc5);
pub(crate) const UDR0: Register = Register::at(0xc6);
