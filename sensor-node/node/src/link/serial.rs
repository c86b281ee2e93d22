//! A connection, a log and a request for the self-test on one UART, told apart by an escape byte.
//!
//! ```text
//! device -> host   DB 4F open   DB 43 close   DB 4C text 0A log line   DB 44 a DB of the stream
//! host -> device   DB 55 up     DB 58 closed  DB 54 run the self-test  DB 44 a DB of the stream
//!                  DB 52 re-authenticate, to an image that can
//! ```
//!
//! Everything else is the stream. The device forgets what comes between its 4F and the host's 55.

use core::fmt;

use embedded_io::{ErrorKind, ErrorType, Read, ReadReady, Write};

use super::Link;

/// The escape byte.
pub const ESCAPE: u8 = 0xdb;

/// What follows the escape byte on its way from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FromDevice {
    /// Dial; an older connection is dropped.
    Open = b'O',
    /// Hang up.
    Close = b'C',
    /// A line of text follows, up to 0x0A.
    Log = b'L',
    /// 0xDB itself.
    Literal = b'D',
}

/// What follows the escape byte on its way to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ToDevice {
    /// The connection is up; its bytes follow.
    Up = b'U',
    /// The connection is closed, or could not be made.
    Closed = b'X',
    /// Run the self-test when idle.
    SelfTest = b'T',
    /// Re-authenticate; an image without the feature `reauth` knows no such request.
    Reauthenticate = b'R',
    /// 0xDB itself.
    Literal = b'D',
}

/// A [`Link`] through a UART.
#[derive(Debug)]
pub struct Serial<U> {
    uart: U,
    state: State,
    /// The next byte of the stream, if `read_ready` came across it.
    peeked: Option<u8>,
    escaped: bool,
    self_test: bool,
    #[cfg(feature = "reauth")]
    reauth: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Down,
    /// Open is sent, Up has not come.
    Dialing,
    Up,
}

impl<U: Read + ReadReady + Write> Serial<U> {
    /// Without a connection.
    pub const fn new(uart: U) -> Self {
        Self {
            uart,
            state: State::Down,
            peeked: None,
            escaped: false,
            self_test: false,
            #[cfg(feature = "reauth")]
            reauth: false,
        }
    }

    /// Writes a log line of these words. One that cannot be sent is lost.
    ///
    /// No `core::fmt`: its arguments mark themselves in the lowest bit of a pointer, which is not free where everything may
    /// lie at an odd address, as on AVR.
    #[inline(never)]
    pub fn log(&mut self, words: &[&str]) {
        let _ = self.uart.write_all(&[ESCAPE, FromDevice::Log as u8]);
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                let _ = self.uart.write_all(b" ");
            }
            let plain = |byte: &u8| *byte != b'\n' && *byte != ESCAPE;
            for byte in word.as_bytes().iter().filter(|byte| plain(byte)) {
                let _ = self.uart.write_all(&[*byte]);
            }
        }
        let _ = self.uart.write_all(b"\n");
    }

    /// Reads what there is while no connection is up, and tells whether the host has asked for the self-test since the
    /// last call.
    pub fn self_test_requested(&mut self) -> bool {
        if self.state == State::Down {
            while self.uart.read_ready().unwrap_or(false) {
                if self.next().is_err() {
                    break;
                }
            }
        }
        core::mem::take(&mut self.self_test)
    }

    /// Whether the host has asked for a re-authentication since the last call.
    #[cfg(feature = "reauth")]
    pub const fn reauthentication_requested(&mut self) -> bool {
        core::mem::replace(&mut self.reauth, false)
    }

    /// The UART.
    pub const fn uart(&mut self) -> &mut U {
        &mut self.uart
    }

    /// Reads one byte of the UART; gives it if it is one of the stream.
    fn next(&mut self) -> Result<Option<u8>, SerialError<U::Error>> {
        let mut byte = [0];
        self.uart.read(&mut byte).map_err(SerialError::Uart)?;
        let [byte] = byte;
        if !core::mem::take(&mut self.escaped) {
            self.escaped = byte == ESCAPE;
            return Ok((self.state == State::Up && !self.escaped).then_some(byte));
        }
        match byte {
            UP if self.state == State::Dialing => self.state = State::Up,
            CLOSED => self.state = State::Down,
            SELF_TEST => self.self_test = true,
            #[cfg(feature = "reauth")]
            REAUTHENTICATE => self.reauth = true,
            LITERAL if self.state == State::Up => return Ok(Some(ESCAPE)),
            UP | LITERAL => {}
            _ => return Err(SerialError::Escape),
        }
        Ok(None)
    }
}

const UP: u8 = ToDevice::Up as u8;
const CLOSED: u8 = ToDevice::Closed as u8;
const SELF_TEST: u8 = ToDevice::SelfTest as u8;
#[cfg(feature = "reauth")]
const REAUTHENTICATE: u8 = ToDevice::Reauthenticate as u8;
const LITERAL: u8 = ToDevice::Literal as u8;

impl<U: Read + ReadReady + Write> Link for Serial<U> {
    fn open(&mut self) -> Result<(), Self::Error> {
        self.state = State::Dialing;
        self.peeked = None;
        self.command(FromDevice::Open)
    }

    fn close(&mut self) {
        self.state = State::Down;
        self.peeked = None;
        let _ = self.command(FromDevice::Close);
    }
}

impl<U: Read + ReadReady + Write> Serial<U> {
    fn command(&mut self, command: FromDevice) -> Result<(), SerialError<U::Error>> {
        self.uart.write_all(&[ESCAPE, command as u8]).map_err(SerialError::Uart)
    }
}

impl<U: ErrorType> ErrorType for Serial<U> {
    type Error = SerialError<U::Error>;
}

impl<U: Read + ReadReady + Write> ReadReady for Serial<U> {
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        while self.peeked.is_none() && self.state != State::Down {
            if !self.uart.read_ready().map_err(SerialError::Uart)? {
                return Ok(false);
            }
            self.peeked = self.next()?;
        }
        Ok(true)
    }
}

impl<U: Read + ReadReady + Write> Read for Serial<U> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
        let mut len = 0;
        for place in buf {
            // Waits for the first byte only.
            if len > 0 && !self.read_ready()? {
                break;
            }
            while self.peeked.is_none() && self.state != State::Down {
                self.peeked = self.next()?;
            }
            let Some(byte) = self.peeked.take() else { break };
            *place = byte;
            len += 1;
        }
        Ok(len)
    }
}

impl<U: Read + ReadReady + Write> Write for Serial<U> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        for part in bytes.split_inclusive(|&byte| byte == ESCAPE) {
            self.uart.write_all(part).map_err(SerialError::Uart)?;
            if part.ends_with(&[ESCAPE]) {
                self.uart
                    .write_all(&[FromDevice::Literal as u8])
                    .map_err(SerialError::Uart)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.uart.flush().map_err(SerialError::Uart)
    }
}

/// What goes wrong on a [`Serial`] link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialError<E> {
    /// The UART failed, or lost a byte.
    Uart(E),
    /// An escape byte with nothing that means anything behind it: a byte was lost.
    Escape,
}

impl<E: fmt::Display> fmt::Display for SerialError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uart(error) => error.fmt(f),
            Self::Escape => f.write_str("unknown escape"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for SerialError<E> {}

impl<E: embedded_io::Error> embedded_io::Error for SerialError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Uart(error) => error.kind(),
            Self::Escape => ErrorKind::InvalidData,
        }
    }
}

#[cfg(test)]
mod tests;
