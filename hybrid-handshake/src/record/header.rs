//! The record header, read from a stream as it comes.

use crate::aead::TAG_LEN;
use crate::mqtt::{Reader, Writer, varint_len};
use crate::{Error, Malformed};

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A slice of the MQTT stream, cut anywhere.
    Data,
    /// A slice of the control stream, cut anywhere, or nothing.
    Control,
}

/// First byte and varint of a record, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the record carries.
    pub content: Content,
    /// The key phase: number of re-authentications modulo 2.
    pub phase: bool,
    /// Length of ciphertext and tag, in bytes.
    body: u16,
}

impl Header {
    /// The header of a record with `text_len` bytes of plaintext, at most 16384.
    pub(super) const fn new(content: Content, phase: bool, text_len: u16) -> Self {
        Self {
            content,
            phase,
            body: text_len.saturating_add(TAG_LEN as u16),
        }
    }

    /// Reads a header from bytes that may still be arriving: `None` asks for at least one more byte. `limit` is the
    /// largest plaintext.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] for an MQTT packet, [`Malformed::Reserved`], [`Malformed::Varint`],
    /// [`Error::TooLarge`] above the limit and [`Malformed::Length`] for less than a tag, or a data record without
    /// data.
    pub fn read(received: &[u8], limit: u16) -> Result<Option<Self>, Error> {
        let mut r = Reader::new(received);
        let Ok(first) = r.u8() else { return Ok(None) };
        match first {
            ..0x04 => {}
            0x04..0x10 => return Err(Malformed::Reserved.into()),
            0x10.. => return Err(Error::UnexpectedPacket),
        }
        let content = if first & CONTROL == 0 {
            Content::Data
        } else {
            Content::Control
        };
        let body = match r.varint() {
            Ok(body) => body,
            Err(Malformed::Truncated) => return Ok(None),
            Err(other) => return Err(other.into()),
        };
        let tag = TAG_LEN as u32;
        if body > u32::from(limit) + tag {
            return Err(Error::TooLarge { limit });
        }
        let least = if content == Content::Data { tag + 1 } else { tag };
        match u16::try_from(body) {
            Ok(body) if u32::from(body) >= least => Ok(Some(Self {
                content,
                phase: first & PHASE != 0,
                body,
            })),
            _ => Err(Malformed::Length.into()),
        }
    }

    /// Length of the header, in bytes: 2 to 4.
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub const fn len(&self) -> usize {
        1 + varint_len(self.body as u32)
    }

    /// Length of ciphertext and tag, in bytes.
    pub fn body_len(&self) -> usize {
        self.body.into()
    }

    /// Length of the whole record, in bytes.
    pub fn record_len(&self) -> usize {
        self.len() + self.body_len()
    }

    /// Writes the header into exactly [`Header::len`] bytes.
    pub(super) fn write(&self, out: &mut [u8]) {
        let mut w = Writer::new(out);
        let control = if self.content == Content::Control { CONTROL } else { 0 };
        w.u8(control | u8::from(self.phase));
        w.varint(self.body.into());
    }
}

const PHASE: u8 = 0b01;
const CONTROL: u8 = 0b10;
