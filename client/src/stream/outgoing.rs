//! Plaintext that was written and records that wait for the transport, in one buffer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hybrid_handshake::Error;
use hybrid_handshake::aead::{AnyAead, TAG_LEN};
use hybrid_handshake::record::{Content, HEADROOM, Sealer as AnySealer};
use tokio::io::AsyncWrite;
use zeroize::Zeroizing;

type Sealer = AnySealer<AnyAead>;

/// Gathers writes into records and keeps a few of them until the transport takes them.
///
/// ```text
/// | sent | sealed records | headroom | plaintext | free |
/// ```
pub(crate) struct Outgoing {
    buf: Zeroizing<Vec<u8>>,
    /// End of what the transport has taken.
    sent: usize,
    /// End of the records.
    sealed: usize,
    /// Bytes of plaintext that are not sealed yet.
    plain: u16,
    /// Records that were sealed so far, and their bytes.
    total: (u64, u64),
}

impl Outgoing {
    /// Room for a few records with plaintexts of up to `limit` bytes.
    pub(crate) fn new(limit: u16) -> Self {
        let len = RECORDS * Sealer::buffer_len(limit);
        Self {
            buf: Zeroizing::new(vec![0; len]),
            sent: 0,
            sealed: 0,
            plain: 0,
            total: (0, 0),
        }
    }

    /// Takes as much of `bytes` as there is room for; 0 asks to drain first. Tells `note` of each record it seals.
    pub(crate) fn write(
        &mut self,
        sealer: &mut Sealer,
        bytes: &[u8],
        mut note: impl FnMut(Content, usize),
    ) -> Result<usize, Error> {
        let limit = sealer.limit();
        let mut rest = bytes;
        while !rest.is_empty() && self.has_room(limit) {
            let start = self.sealed + HEADROOM + usize::from(self.plain);
            let take = rest.len().min((limit - self.plain).into());
            let (now, later) = rest.split_at(take);
            self.buf[start..][..take].copy_from_slice(now);
            // `take` is at most the limit, which is a u16.
            self.plain += take as u16;
            rest = later;
            if self.plain == limit {
                self.seal(sealer, Content::Data, &mut note)?;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Makes a record of the plaintext gathered so far, if there is any.
    pub(crate) fn finish_record(&mut self, sealer: &mut Sealer, note: impl FnMut(Content, usize)) -> Result<(), Error> {
        if self.plain == 0 {
            Ok(())
        } else {
            self.seal(sealer, Content::Data, note)
        }
    }

    /// Appends a control message in records of its own, behind everything written so far. Control messages are few and
    /// short, so they find room even where data has to wait.
    pub(crate) fn control(
        &mut self,
        sealer: &mut Sealer,
        message: &[u8],
        mut note: impl FnMut(Content, usize),
    ) -> Result<(), Error> {
        self.finish_record(sealer, &mut note)?;
        for piece in message.chunks(sealer.limit().into()) {
            self.control_record(sealer, piece, &mut note)?;
        }
        Ok(())
    }

    /// Shows the peer the sealer's new key: by the plaintext gathered so far, or by an empty control record if there is
    /// none.
    pub(crate) fn show_key(&mut self, sealer: &mut Sealer, note: impl FnMut(Content, usize)) -> Result<(), Error> {
        if self.plain == 0 {
            self.control_record(sealer, &[], note)
        } else {
            self.seal(sealer, Content::Data, note)
        }
    }

    /// Records that were sealed so far, and their bytes.
    pub(crate) fn total(&self) -> (u64, u64) {
        self.total
    }

    /// Nothing may be gathered when it is called.
    fn control_record(
        &mut self,
        sealer: &mut Sealer,
        text: &[u8],
        note: impl FnMut(Content, usize),
    ) -> Result<(), Error> {
        let end = self.sealed + Sealer::buffer_len(sealer.limit());
        // Nothing but records lies in the buffer now: what a growing vector leaves behind is ciphertext.
        let len = self.buf.len().max(end);
        self.buf.resize(len, 0);
        self.buf[self.sealed + HEADROOM..][..text.len()].copy_from_slice(text);
        self.plain = text.len() as u16;
        self.seal(sealer, Content::Control, note)
    }

    /// Hands records to the transport until all are gone.
    pub(crate) fn poll_drain(
        &mut self,
        mut transport: Pin<&mut (impl AsyncWrite + ?Sized)>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.sent < self.sealed {
            let written = ready!(transport.as_mut().poll_write(cx, &self.buf[self.sent..self.sealed]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += written;
        }
        // Starts over at the front; plaintext that is still being gathered moves along, behind its headroom.
        if self.sealed > 0 && self.plain > 0 {
            let start = self.sealed + HEADROOM;
            self.buf.copy_within(start..start + usize::from(self.plain), HEADROOM);
        }
        (self.sent, self.sealed) = (0, 0);
        Poll::Ready(Ok(()))
    }

    /// Whether the transport has taken every record.
    pub(crate) fn is_drained(&self) -> bool {
        self.sent == self.sealed
    }

    fn has_room(&self, limit: u16) -> bool {
        self.sealed + Sealer::buffer_len(limit) <= self.buf.len()
    }

    fn seal(
        &mut self,
        sealer: &mut Sealer,
        content: Content,
        mut note: impl FnMut(Content, usize),
    ) -> Result<(), Error> {
        let record = &mut self.buf[self.sealed..];
        let len = sealer.seal(content, record, self.plain)?.len();
        // The header is right-aligned in its headroom; short ones leave a gap in front.
        let gap = HEADROOM + usize::from(self.plain) + TAG_LEN - len;
        record.copy_within(gap..gap + len, 0);
        self.sealed += len;
        self.plain = 0;
        self.total = (self.total.0 + 1, self.total.1 + len as u64);
        note(content, len);
        Ok(())
    }
}

/// Records that may wait for the transport before a writer has to.
const RECORDS: usize = 4;
