//! Plaintext that was written and records that wait for the transport, in one buffer of fixed size.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hybrid_handshake::Error;
use hybrid_handshake::aead::{AnyAead, TAG_LEN};
use hybrid_handshake::record::{Content, HEADROOM, Sealer};
use tokio::io::AsyncWrite;
use zeroize::Zeroizing;

/// Gathers writes into records and keeps a few of them until the transport takes them.
///
/// ```text
/// | sent | sealed records | headroom | plaintext | free |
/// ```
pub(crate) struct Outgoing {
    sealer: Sealer<AnyAead>,
    buf: Zeroizing<Vec<u8>>,
    /// End of what the transport has taken.
    sent: usize,
    /// End of the records.
    sealed: usize,
    /// Bytes of plaintext that are not sealed yet.
    plain: u16,
}

impl Outgoing {
    pub(crate) fn new(sealer: Sealer<AnyAead>) -> Self {
        let len = RECORDS * Sealer::<AnyAead>::buffer_len(sealer.limit());
        Self {
            sealer,
            buf: Zeroizing::new(vec![0; len]),
            sent: 0,
            sealed: 0,
            plain: 0,
        }
    }

    /// Takes as much of `bytes` as there is room for; 0 asks to drain first. Gives the lengths of records it sealed.
    pub(crate) fn write(&mut self, bytes: &[u8], mut sealed: impl FnMut(Content, usize)) -> Result<usize, Error> {
        let mut rest = bytes;
        while !rest.is_empty() && self.has_room() {
            let start = self.sealed + HEADROOM + usize::from(self.plain);
            let take = rest.len().min((self.sealer.limit() - self.plain).into());
            let (now, later) = rest.split_at(take);
            self.buf[start..][..take].copy_from_slice(now);
            // `take` is at most the limit, which is a u16.
            self.plain += take as u16;
            rest = later;
            if self.plain == self.sealer.limit() {
                self.seal(Content::Data, &mut sealed)?;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// Makes a record of the plaintext gathered so far, if there is any.
    pub(crate) fn finish_record(&mut self, sealed: impl FnMut(Content, usize)) -> Result<(), Error> {
        if self.plain == 0 {
            Ok(())
        } else {
            self.seal(Content::Data, sealed)
        }
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

    /// Whether records wait for the transport.
    pub(crate) fn is_drained(&self) -> bool {
        self.sent == self.sealed
    }

    fn has_room(&self) -> bool {
        self.sealed + Sealer::<AnyAead>::buffer_len(self.sealer.limit()) <= self.buf.len()
    }

    fn seal(&mut self, content: Content, mut sealed: impl FnMut(Content, usize)) -> Result<(), Error> {
        let len = self
            .sealer
            .seal(content, &mut self.buf[self.sealed..], self.plain)?
            .len();
        // The header is right-aligned in its headroom; short ones leave a gap in front.
        let gap = HEADROOM + usize::from(self.plain) + TAG_LEN - len;
        if gap > 0 {
            self.buf
                .copy_within(self.sealed + gap..self.sealed + gap + len, self.sealed);
        }
        self.sealed += len;
        self.plain = 0;
        sealed(content, len);
        Ok(())
    }
}

/// Records that may wait for the transport before a writer has to.
const RECORDS: usize = 4;
