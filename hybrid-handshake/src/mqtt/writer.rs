//! A cursor that writes, or only counts.

use crate::Error;

/// Writes fields one behind the other into the caller's buffer.
///
/// Writing never fails on the spot: what does not fit is counted and not written, so [`Writer::finish`] can say how
/// many bytes were needed, and a writer over an empty buffer measures.
#[derive(Debug)]
pub struct Writer<'a> {
    buf: &'a mut [u8],
    len: usize,
    misuse: bool,
}

impl<'a> Writer<'a> {
    /// A cursor at the start of `buf`.
    pub const fn new(buf: &'a mut [u8]) -> Self {
        Self {
            buf,
            len: 0,
            misuse: false,
        }
    }

    /// How many bytes `write` writes.
    pub fn measure(write: impl FnOnce(&mut Writer<'_>)) -> usize {
        let mut counter = Writer::new(&mut []);
        write(&mut counter);
        counter.len
    }

    /// Bytes written or counted so far.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let room = self
            .buf
            .get_mut(self.len..)
            .and_then(|free| free.get_mut(..bytes.len()));
        if let Some(room) = room {
            room.copy_from_slice(bytes);
        }
        self.skip(bytes.len());
    }

    /// Leaves `len` bytes as they are, for the caller to fill in.
    pub const fn skip(&mut self, len: usize) {
        self.len = self.len.saturating_add(len);
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }

    /// Two Byte Integer (MQTT 5.0 section 1.5.2).
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    /// Four Byte Integer (MQTT 5.0 section 1.5.3).
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    /// Eight bytes, big-endian (HKM1 times and counters).
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    /// Variable Byte Integer in its shortest form (MQTT 5.0 section 1.5.5). A value above 268,435,455 has none.
    pub fn varint(&mut self, value: u32) {
        self.misuse |= value > VARINT_MAX;
        let mut rest = value;
        while rest >= 0x80 {
            let [low, ..] = rest.to_le_bytes();
            self.u8(low | 0x80);
            rest >>= 7;
        }
        let [low, ..] = rest.to_le_bytes();
        self.u8(low);
    }

    /// A length as a Variable Byte Integer.
    pub fn varint_len(&mut self, len: usize) {
        self.varint(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Binary Data (MQTT 5.0 section 1.5.6). More than 65,535 bytes have no encoding.
    pub fn binary(&mut self, data: &[u8]) {
        match u16::try_from(data.len()) {
            Ok(len) => self.u16(len),
            Err(_) => self.misuse = true,
        }
        self.bytes(data);
    }

    /// UTF-8 Encoded String (MQTT 5.0 section 1.5.4). More than 65,535 bytes or a U+0000 have no encoding.
    pub fn string(&mut self, text: &str) {
        self.misuse |= text.bytes().any(|byte| byte == 0);
        self.binary(text.as_bytes());
    }

    /// The number of bytes written.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a value had no encoding, [`Error::Buffer`] if the buffer was too short.
    pub fn finish(self) -> Result<usize, Error> {
        if self.misuse {
            Err(Error::Misuse)
        } else if self.len > self.buf.len() {
            Err(Error::Buffer {
                needed: u16::try_from(self.len).unwrap_or(u16::MAX),
            })
        } else {
            Ok(self.len)
        }
    }
}

/// Largest value of a Variable Byte Integer.
const VARINT_MAX: u32 = 268_435_455;

/// Length of the shortest form of a Variable Byte Integer, in bytes.
pub(crate) const fn varint_len(value: u32) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000.. => 4,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use super::*;
    use crate::mqtt::Reader;

    #[test]
    fn varints_come_back_and_have_the_length_they_claim() {
        for value in [0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, VARINT_MAX] {
            let mut buf = [0; 4];
            let mut w = Writer::new(&mut buf);
            w.varint(value);
            let len = w.finish().unwrap();
            assert_eq!(len, varint_len(value));
            assert_eq!(Reader::new(&buf[..len]).varint(), Ok(value));
        }
    }

    #[test]
    fn a_short_buffer_is_told_how_much_was_needed() {
        let mut buf = [0; 7];
        let mut w = Writer::new(&mut buf);
        w.u8(1);
        w.string("abc");
        w.u32(9);
        assert_eq!(w.finish(), Err(Error::Buffer { needed: 10 }));
        assert_eq!(Writer::measure(|w| w.binary(&[0; 300])), 302);
        let mut w = Writer::new(&mut []);
        w.bytes(&vec![0; 70_000]);
        assert_eq!(w.finish(), Err(Error::Buffer { needed: 65_535 }));
    }

    #[test]
    fn values_without_an_encoding_are_misuse() {
        let mut buf = vec![0; 70_000];
        let mut refused = |write: &dyn Fn(&mut Writer<'_>)| {
            let mut w = Writer::new(&mut buf);
            write(&mut w);
            assert_eq!(w.finish(), Err(Error::Misuse));
        };
        refused(&|w| w.varint(VARINT_MAX + 1));
        refused(&|w| w.binary(&[0; 65_536]));
        refused(&|w| w.string("a\0b"));
    }
}
