//! A cursor over bytes from the wire.

use super::text;
use crate::Malformed;

/// A cursor over bytes from the wire. It cannot panic, and what was not read is visible at the end.
///
/// After an error its position is unspecified; every method is safe to call all the same.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A cursor at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether everything has been read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|&[byte]| byte)
    }

    /// Two Byte Integer (MQTT 5.0 section 1.5.2).
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(|b| u16::from_be_bytes(*b))
    }

    /// Four Byte Integer (MQTT 5.0 section 1.5.3).
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(|b| u32::from_be_bytes(*b))
    }

    /// Eight bytes, big-endian (HKM1 times and counters).
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(|b| u64::from_be_bytes(*b))
    }

    /// Variable Byte Integer (MQTT 5.0 section 1.5.5): at most four bytes, shortest form only.
    pub fn varint(&mut self) -> Result<u32, Malformed> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let byte = self.u8()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if byte == 0 && shift > 0 {
                    Err(Malformed::Varint)
                } else {
                    Ok(value)
                };
            }
        }
        Err(Malformed::Varint)
    }

    /// As many bytes as a Variable Byte Integer in front of them says.
    pub fn block(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.varint()?;
        self.bytes(usize::try_from(len).map_err(|_| Malformed::Truncated)?)
    }

    /// Binary Data (MQTT 5.0 section 1.5.6): length (2), then the bytes.
    pub fn binary(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.u16()?;
        self.bytes(len.into())
    }

    /// UTF-8 Encoded String (MQTT 5.0 section 1.5.4): length (2), then UTF-8 without U+0000.
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        text(self.binary()?).ok_or(Malformed::Utf8)
    }

    /// Call last: bytes behind the last field are an error, not slack.
    pub const fn finish(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed::Trailing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(bytes: &[u8]) -> Result<u32, Malformed> {
        Reader::new(bytes).varint()
    }

    /// The borders of MQTT 5.0 table 1-1.
    #[test]
    fn varint_borders_of_table_1_1() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7f], 127),
            (&[0x80, 0x01], 128),
            (&[0xff, 0x7f], 16_383),
            (&[0x80, 0x80, 0x01], 16_384),
            (&[0xff, 0xff, 0x7f], 2_097_151),
            (&[0x80, 0x80, 0x80, 0x01], 2_097_152),
            (&[0xff, 0xff, 0xff, 0x7f], 268_435_455),
        ] {
            assert_eq!(varint(bytes), Ok(value));
        }
    }

    #[test]
    fn varint_longer_than_needed_or_than_four_bytes_is_refused() {
        for bytes in [
            &[0x80, 0x00][..],
            &[0xff, 0x00],
            &[0x80, 0x80, 0x00],
            &[0xff, 0xff, 0xff, 0x00],
            &[0x80, 0x80, 0x80, 0x80, 0x01],
            &[0xff; 5],
        ] {
            assert_eq!(varint(bytes), Err(Malformed::Varint));
        }
        assert_eq!(varint(&[0x80, 0x80]), Err(Malformed::Truncated));
        assert_eq!(varint(&[]), Err(Malformed::Truncated));
    }

    #[test]
    fn integers_are_big_endian_and_advance() {
        let mut r = Reader::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!((r.u8(), r.u16(), r.u32()), (Ok(1), Ok(0x0203), Ok(0x0405_0607)));
        assert_eq!(r.u64(), Ok(0x0809_0a0b_0c0d_0e0f));
        assert!(r.is_empty());
        assert_eq!(r.u8(), Err(Malformed::Truncated));
    }

    #[test]
    fn strings_without_utf_8_or_with_nul_are_refused() {
        assert_eq!(Reader::new(b"\0\x03a\xc3\xa9").string(), Ok("aé"));
        assert_eq!(Reader::new(b"\0\0").string(), Ok(""));
        assert_eq!(Reader::new(b"\0\x03a\0b").string(), Err(Malformed::Utf8));
        assert_eq!(Reader::new(b"\0\x02\xc3\x28").string(), Err(Malformed::Utf8));
        assert_eq!(
            Reader::new(b"\0\x03\xed\xa0\x80").string(),
            Err(Malformed::Utf8),
            "UTF-16 surrogate"
        );
        assert_eq!(Reader::new(b"\0\x03ab").string(), Err(Malformed::Truncated));
    }

    #[test]
    fn finish_sees_what_was_left() {
        let mut r = Reader::new(&[2, 7, 8, 9]);
        assert_eq!(r.block(), Ok(&[7, 8][..]));
        assert_eq!(r.rest(), [9]);
        assert_eq!(r.clone().finish(), Err(Malformed::Trailing));
        assert_eq!(r.u8(), Ok(9));
        assert_eq!(r.finish(), Ok(()));
    }
}
