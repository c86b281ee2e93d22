use core::fmt;

use embedded_io::ErrorKind;

/// The error of a UART that has lost a byte: its ring was full, or its interrupt or its poll came late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun;

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("overrun")
    }
}

impl core::error::Error for Overrun {}

impl embedded_io::Error for Overrun {
    fn kind(&self) -> ErrorKind {
        ErrorKind::InvalidData
    }
}
