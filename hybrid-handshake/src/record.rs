//! The record layer: AEAD records in place, with a counter nonce, a ratchet and a key phase.
//!
//! ```text
//! record   0000 00cp | varint n | ciphertext | tag(16)        c = 1: control, p: key phase; n = ciphertext and tag
//! nonce    iv XOR counter, AD = first byte | varint, key and iv = Expand(secret, "key" / "iv", "")
//! ratchet  after counter 65535: secret = Expand(secret, "up", ""), counter 0
//! ```
//!
//! Type 0 is reserved in MQTT, so a record never looks like a packet. A counter is not sent: a record that is lost,
//! repeated or out of order does not open, and after the first that does not, nothing does.

mod direction;
mod header;

pub use header::{Content, Header};

use direction::Direction;

use crate::aead::{Aead, TAG_LEN, Tag};
use crate::{Error, Malformed};

/// Bytes that a caller leaves free before a plaintext: first byte and a varint of at most three (16 KiB and a tag).
pub const HEADROOM: usize = 4;

/// Length of the shortest record, an empty control record: as much can always be read before the header is known.
pub const MIN_LEN: usize = 2 + TAG_LEN;

/// Seals one direction's records.
pub struct Sealer<A: Aead> {
    direction: Direction<A>,
    phase: bool,
    limit: u16,
}

impl<A: Aead> Sealer<A> {
    /// Seals under the direction's secret (c or b), key phase 0, with plaintexts of at most `limit` bytes: the record
    /// limit that the peer has announced.
    pub fn new(aead: A, secret: &[u8; 32], limit: u16) -> Self {
        Self {
            direction: Direction::new(aead, secret),
            phase: false,
            limit,
        }
    }

    /// The longest plaintext of a record, in bytes.
    pub const fn limit(&self) -> u16 {
        self.limit
    }

    /// Bytes that `buf` of [`Sealer::seal`] needs for `len` bytes of plaintext.
    pub const fn buffer_len(len: u16) -> usize {
        HEADROOM + len as usize + TAG_LEN
    }

    /// Seals `buf[HEADROOM..][..len]` where it lies and returns the whole record, header included.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above the limit, [`Error::Misuse`] for a data record without data, [`Error::Buffer`]. All
    /// three leave the sealer as it was.
    pub fn seal<'b>(&mut self, content: Content, buf: &'b mut [u8], len: u16) -> Result<&'b [u8], Error> {
        if len > self.limit {
            return Err(Error::TooLarge { limit: self.limit });
        }
        if len == 0 && content == Content::Data {
            return Err(Error::Misuse);
        }
        let needed = Self::buffer_len(len);
        let buf = buf.get_mut(..needed).ok_or_else(|| Error::Buffer {
            needed: u16::try_from(needed).unwrap_or(u16::MAX),
        })?;
        let header = Header::new(content, self.phase, len);
        let start = HEADROOM.saturating_sub(header.len());
        let (head, body) = buf.split_at_mut(HEADROOM);
        let head = head.split_at_mut(start).1; // right-aligned: its length varies, its end does not
        header.write(head);
        let (text, tag) = body.split_at_mut(len.into());
        tag.copy_from_slice(&self.direction.seal(head, text)?);
        Ok(buf.split_at_mut(start).1)
    }

    /// Seals box4 in place: counter 0 of the broker's direction, empty AD.
    ///
    /// # Errors
    /// [`Error::Misuse`] unless it is the first thing that is sealed, or if `text` is empty.
    pub fn seal_box4(&mut self, text: &mut [u8]) -> Result<Tag, Error> {
        if self.phase || !self.direction.is_fresh() || text.is_empty() {
            return Err(Error::Misuse);
        }
        self.direction.seal(&[], text)
    }

    /// Goes over to the next secret after a re-authentication: counter 0, other key phase, from the next record on.
    pub fn rekey(&mut self, secret: &[u8; 32]) {
        self.direction.replace(secret);
        self.phase = !self.phase;
    }
}

/// Opens one direction's records.
pub struct Opener<A: Aead> {
    /// `None` after a failure: the keys are gone and nothing opens any more.
    direction: Option<Direction<A>>,
    /// What the peer's next change of the key phase brings.
    next: Option<Direction<A>>,
    phase: bool,
    limit: u16,
}

/// An opened record.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened<'b> {
    /// What it carries.
    pub content: Content,
    /// The plaintext: MQTT bytes, or bytes of the control stream. Empty only in a control record.
    pub text: &'b mut [u8],
}

impl<A: Aead> Opener<A> {
    /// Opens under the direction's secret (b or c), key phase 0, plaintexts of at most `limit` bytes: the record limit
    /// that this side has announced.
    pub fn new(aead: A, secret: &[u8; 32], limit: u16) -> Self {
        Self {
            direction: Some(Direction::new(aead, secret)),
            next: None,
            phase: false,
            limit,
        }
    }

    /// Length of the record that begins with `received`, as far as it is known: read on until there are that many
    /// bytes. At first [`MIN_LEN`], and exact as soon as the header is complete.
    ///
    /// # Errors
    /// Of [`Header::read`], and [`Error::Rejected`] after a failure. An error here is final too.
    pub fn needed(&mut self, received: &[u8]) -> Result<usize, Error> {
        if self.direction.is_none() {
            return Err(Error::Rejected);
        }
        let header = Header::read(received, self.limit).inspect_err(|_| self.kill())?;
        Ok(header.map_or(MIN_LEN, |header| header.record_len()))
    }

    /// Opens one whole record in place. After any error the keys are wiped and every later call fails too.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not open, [`Error::UnexpectedPacket`] for a key phase that is not due, and those
    /// of [`Header::read`]; [`Malformed::Truncated`] and [`Malformed::Trailing`] if `record` is not exactly one record.
    pub fn open<'b>(&mut self, record: &'b mut [u8]) -> Result<Opened<'b>, Error> {
        let opened = self.try_open(record);
        if opened.is_err() {
            self.kill();
        }
        opened
    }

    /// Opens box4 in place: counter 0 of the broker's direction, empty AD.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not open, is empty or is not the first thing that is opened. Final as in
    /// [`Opener::open`].
    pub fn open_box4(&mut self, text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        let opened = match &mut self.direction {
            Some(direction) if direction.is_fresh() && !text.is_empty() => direction.open(&[], text, tag),
            _ => Err(Error::Rejected),
        };
        if opened.is_err() {
            self.kill();
        }
        opened
    }

    /// Client: the broker's re-authentication 0x00 has come, its next record has the next secret and the other key
    /// phase.
    ///
    /// # Errors
    /// [`Error::Rejected`] after a failure.
    pub fn rekey(&mut self, secret: &[u8; 32]) -> Result<(), Error> {
        let direction = self.direction.as_mut().ok_or(Error::Rejected)?;
        direction.replace(secret);
        self.phase = !self.phase;
        Ok(())
    }

    /// Broker: 0x00 is sent, and some record of the client will be the first with the next secret and the other key
    /// phase.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if the last change has not come yet, [`Error::Rejected`] after a failure.
    pub fn expect_rekey(&mut self, secret: &[u8; 32]) -> Result<(), Error> {
        let direction = self.direction.as_ref().ok_or(Error::Rejected)?;
        if self.next.is_some() {
            return Err(Error::UnexpectedPacket);
        }
        self.next = Some(direction.successor(secret));
        Ok(())
    }

    /// Whether the change after [`Opener::expect_rekey`] has yet to come; a new re-authentication may not begin before.
    pub const fn awaits_rekey(&self) -> bool {
        self.next.is_some()
    }

    fn try_open<'b>(&mut self, record: &'b mut [u8]) -> Result<Opened<'b>, Error> {
        let header = Header::read(record, self.limit)?.ok_or(Malformed::Truncated)?;
        if header.phase != self.phase {
            self.direction = Some(self.next.take().ok_or(Error::UnexpectedPacket)?);
            self.phase = header.phase;
        }
        let direction = self.direction.as_mut().ok_or(Error::Rejected)?;
        let (head, body) = record.split_at_mut_checked(header.len()).ok_or(Malformed::Truncated)?;
        match body.len().cmp(&header.body_len()) {
            core::cmp::Ordering::Less => return Err(Malformed::Truncated.into()),
            core::cmp::Ordering::Greater => return Err(Malformed::Trailing.into()),
            core::cmp::Ordering::Equal => {}
        }
        let (text, tag) = body.split_last_chunk_mut::<TAG_LEN>().ok_or(Malformed::Truncated)?;
        direction.open(head, text, tag)?;
        Ok(Opened {
            content: header.content,
            text,
        })
    }

    fn kill(&mut self) {
        self.direction = None;
        self.next = None;
    }
}

#[cfg(test)]
mod tests;
