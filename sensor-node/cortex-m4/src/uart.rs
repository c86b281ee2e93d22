//! A CMSDK UART at 0x4000_4000, polled: QEMU's mps2-an386 and our cycle model have it.

use core::ptr::{read_volatile, write_volatile};

use embedded_io::{ErrorType, Read, ReadReady, Write};
use kemqtt_node::link::Overrun;

/// The UART. There is one.
pub(crate) struct Uart(());

impl Uart {
    pub(crate) fn start() -> Self {
        store(BAUDDIV, DIVIDER);
        store(CTRL, TRANSMITTER | RECEIVER);
        Self(())
    }
}

/// Whether something waits to be read.
pub(crate) fn has_received() -> bool {
    load(STATE) & (RECEIVE_FULL | RECEIVE_OVERRUN) != 0
}

impl ErrorType for Uart {
    type Error = Overrun;
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Overrun> {
        Ok(has_received())
    }
}

impl Read for Uart {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Overrun> {
        let Some(place) = buf.first_mut() else { return Ok(0) };
        while !has_received() {}
        if load(STATE) & RECEIVE_OVERRUN != 0 {
            store(STATE, RECEIVE_OVERRUN);
            load(DATA);
            return Err(Overrun);
        }
        let [byte, ..] = load(DATA).to_le_bytes();
        *place = byte;
        Ok(1)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Overrun> {
        for byte in bytes {
            while load(STATE) & TRANSMIT_FULL != 0 {}
            store(DATA, u32::from(*byte));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Overrun> {
        Ok(())
    }
}

fn load(offset: usize) -> u32 {
    // SAFETY: the five registers of the UART are all that is read.
    unsafe { read_volatile((BASE + offset) as *const u32) }
}

fn store(offset: usize, value: u32) {
    // SAFETY: as above; the UART does not write to memory.
    unsafe { write_volatile((BASE + offset) as *mut u32, value) }
}

const BASE: usize = 0x4000_4000;
const DATA: usize = 0;
const STATE: usize = 4;
const CTRL: usize = 8;
const BAUDDIV: usize = 0x10;
const TRANSMIT_FULL: u32 = 1;
const RECEIVE_FULL: u32 = 2;
/// A byte was lost; cleared by writing it.
const RECEIVE_OVERRUN: u32 = 8;
const TRANSMITTER: u32 = 1;
const RECEIVER: u32 = 2;
/// 500 kbaud or about that.
const DIVIDER: u32 = if cfg!(feature = "board-l4r5") { 40 } else { 50 };
