//! An Arm CMSDK APB UART, as QEMU's MPS2 boards have it at 0x4000_4000: `DATA` +0, `STATE` +4, `CTRL` +8, `INTSTATUS` +0xC,
//! `BAUDDIV` +0x10. Polled only. Like QEMU's, the receiver takes the next byte when the last one was read, so none is lost unless
//! that is asked for.

use std::collections::VecDeque;

/// First address of the registers.
pub const BASE: u32 = 0x4000_4000;

#[derive(Default)]
pub struct Uart {
    ctrl: u32,
    baud_divider: u32,
    to_receive: VecDeque<u8>,
    sent: Vec<u8>,
    receive_at: u64,
    transmit_at: u64,
    overrun_after: Option<u32>,
    overrun: bool,
}

impl Uart {
    /// Puts bytes on the receive line.
    pub fn send(&mut self, now: u64, bytes: &[u8]) {
        if self.to_receive.is_empty() {
            self.receive_at = self.receive_at.max(now + self.byte_cycles());
        }
        self.to_receive.extend(bytes);
    }

    /// Loses the byte that comes after so many more, and sets the receiver's overrun flag then.
    pub fn overrun_after(&mut self, bytes: u32) {
        self.overrun_after = Some(bytes);
    }

    /// Takes what the firmware has written.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sent)
    }

    /// Bytes that wait on the receive line.
    pub fn pending(&self) -> usize {
        self.to_receive.len()
    }

    /// Cycles until the receiver has a byte, if one is under way.
    pub fn until_received(&self, now: u64) -> Option<u64> {
        (!self.to_receive.is_empty()).then(|| self.receive_at.saturating_sub(now))
    }

    /// Start, eight data bits, stop.
    fn byte_cycles(&self) -> u64 {
        10 * u64::from(self.baud_divider)
    }

    pub(crate) fn read(&mut self, offset: u32, now: u64) -> u32 {
        let received = self.until_received(now) == Some(0);
        match offset {
            0 if received => {
                self.receive_at = now + self.byte_cycles();
                self.receive().into()
            }
            4 => u32::from(now < self.transmit_at) | u32::from(received) << 1 | u32::from(self.overrun) << 3,
            8 => self.ctrl,
            0x10 => self.baud_divider,
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32, now: u64) {
        match offset {
            0 => {
                self.sent.push(value as u8);
                self.transmit_at = self.transmit_at.max(now) + self.byte_cycles();
            }
            4 => self.overrun &= value & 8 == 0,
            8 => self.ctrl = value,
            0x10 => self.baud_divider = value & 0xf_ffff,
            _ => {}
        }
    }

    fn receive(&mut self) -> u8 {
        let byte = self.to_receive.pop_front().unwrap_or(0);
        self.overrun_after = self.overrun_after.map(|bytes| bytes.saturating_sub(1));
        if self.overrun_after == Some(0) && self.to_receive.pop_front().is_some() {
            self.overrun = true;
            self.overrun_after = None;
        }
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::Uart;

    #[test]
    fn a_lost_byte_raises_a_flag_that_the_firmware_clears() {
        let mut uart = Uart::default();
        uart.write(0x10, 1, 0);
        uart.send(0, b"abcd");
        uart.overrun_after(2);
        assert_eq!((uart.read(0, 100), uart.read(4, 200) & 8), (b'a'.into(), 0));
        assert_eq!((uart.read(0, 200), uart.read(4, 300) & 8), (b'b'.into(), 8));
        uart.write(4, 8, 300);
        assert_eq!((uart.read(0, 300), uart.read(4, 400)), (b'd'.into(), 0));
    }

    #[test]
    fn bytes_arrive_one_after_the_other_and_wait_to_be_read() {
        let mut uart = Uart::default();
        uart.write(0x10, 16, 0);
        uart.send(1000, b"ab");
        assert_eq!((uart.read(4, 1159), uart.read(0, 1159)), (0, 0));
        assert_eq!((uart.read(4, 1160), uart.read(0, 1160)), (2, b'a'.into()));
        assert_eq!(uart.read(4, 1161), 0);
        assert_eq!((uart.read(0, 5000), uart.pending()), (b'b'.into(), 0));
    }

    #[test]
    fn the_transmitter_is_busy_for_ten_bits() {
        let mut uart = Uart::default();
        uart.write(0x10, 16, 0);
        uart.write(0, b'x'.into(), 100);
        assert_eq!((uart.read(4, 259), uart.read(4, 260)), (1, 0));
        assert_eq!(uart.take(), b"x");
    }
}
