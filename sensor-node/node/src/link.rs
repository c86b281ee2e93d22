//! The byte stream to the broker, and how it goes through a UART.

mod overrun;
mod serial;

pub use overrun::Overrun;
pub use serial::{ESCAPE, FromDevice, Serial, SerialError, ToDevice};

/// A byte stream that can be opened and closed. `read` gives 0 once the peer has closed; `read_ready` is true when `read`
/// will not wait, also then.
pub trait Link: embedded_io::Read + embedded_io::ReadReady + embedded_io::Write {
    /// Starts a fresh connection to the broker. Bytes of an earlier one, in both directions, are gone. What is written
    /// next goes out as soon as the connection is up.
    ///
    /// # Errors
    /// Of the link.
    fn open(&mut self) -> Result<(), Self::Error>;

    /// Ends the connection, if there is one.
    fn close(&mut self);
}
