//! A byte stream that takes its own time out of the measured regions.

use core::sync::atomic::{AtomicU32, Ordering};

use embedded_io::{ErrorType, Read, Write};
use kemqtt_node::link::{Overrun, Serial, SerialError};

use crate::{board, uart::Uart};

/// Ids of the measured regions, as far as they go those of the sensor firmware.
#[derive(Clone, Copy)]
pub(crate) enum Region {
    /// The ephemeral key and the ClientHello.
    Hello = 2,
    /// Reading and writing.
    Wait = 3,
    /// All that follows the ServerHello, up to the Finished of the client.
    Answer = 5,
    /// One message.
    Publish = 8,
}

/// The region that goes on behind a transfer.
static REGION: AtomicU32 = AtomicU32::new(Region::Hello as u32);

/// Transfers go on in this region from now on.
pub(crate) fn enter(region: Region) {
    REGION.store(region as u32, Ordering::Relaxed);
}

/// The serial link.
pub(crate) struct Metered<'s>(&'s mut Serial<Uart>);

impl<'s> Metered<'s> {
    pub(crate) fn new(serial: &'s mut Serial<Uart>) -> Self {
        Self(serial)
    }

    fn wait<T>(&mut self, transfer: impl FnOnce(&mut Serial<Uart>) -> T) -> T {
        board::mark(Region::Wait as u32);
        let done = transfer(self.0);
        board::mark(REGION.load(Ordering::Relaxed));
        done
    }
}

impl ErrorType for Metered<'_> {
    type Error = SerialError<Overrun>;
}

impl Read for Metered<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
        if REGION.load(Ordering::Relaxed) == Region::Hello as u32 {
            enter(Region::Answer);
        }
        self.wait(|serial| serial.read(buf))
    }
}

impl Write for Metered<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        self.wait(|serial| serial.write(bytes))
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.wait(Write::flush)
    }
}
