extern crate std;

use std::{collections::VecDeque, vec::Vec};

use super::*;

#[derive(Default)]
struct Uart {
    to_device: VecDeque<u8>,
    from_device: Vec<u8>,
}

impl ErrorType for Uart {
    type Error = ErrorKind;
}

impl Read for Uart {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        let byte = self.to_device.pop_front().ok_or(ErrorKind::TimedOut)?;
        buf[0] = byte;
        Ok(1)
    }
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, ErrorKind> {
        Ok(!self.to_device.is_empty())
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.from_device.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

fn serial(to_device: &[u8]) -> Serial<Uart> {
    Serial::new(Uart {
        to_device: to_device.iter().copied().collect(),
        ..Uart::default()
    })
}

#[test]
fn bytes_before_up_belong_to_nobody() {
    let mut link = serial(b"old\xdbDstuff\xdbUnew\xdbD!");
    link.open().unwrap();
    assert_eq!(link.uart.from_device, b"\xdbO");
    let mut buf = [0; 16];
    assert_eq!(link.read(&mut buf), Ok(5));
    assert_eq!(&buf[..5], b"new\xdb!");
    assert_eq!(link.read_ready(), Ok(false));
}

#[test]
fn a_closed_connection_reads_as_the_end() {
    let mut link = serial(b"\xdbUab\xdbX");
    link.open().unwrap();
    let mut buf = [0; 16];
    assert_eq!(link.read(&mut buf), Ok(2));
    assert_eq!((link.read_ready(), link.read(&mut buf)), (Ok(true), Ok(0)));
    link.uart.to_device.extend(b"\xdbUghost");
    assert_eq!(link.read(&mut buf), Ok(0), "nobody dialed");
}

#[test]
fn a_lost_byte_behind_an_escape_is_noticed() {
    let mut link = serial(b"\xdbUab\xdb\x00");
    link.open().unwrap();
    assert_eq!(link.read(&mut [0; 16]), Err(SerialError::Escape));
}

#[test]
fn what_is_written_is_escaped_and_logs_cannot_break_out() {
    let mut link = serial(b"");
    link.write_all(b"a\xdb\xdbb").unwrap();
    link.log(&["one\ntwo", "3"]);
    link.close();
    assert_eq!(link.uart.from_device, b"a\xdbD\xdbDb\xdbLonetwo 3\n\xdbC");
}

#[test]
fn the_self_test_is_asked_for_between_connections() {
    let mut link = serial(b"noise\xdbTnoise");
    assert!(link.self_test_requested());
    assert!(!link.self_test_requested());
}
