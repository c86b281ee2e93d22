//! Bytes that arrived and were not consumed yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use zeroize::{Zeroizing, optimization_barrier};

/// A buffer of fixed size between the transport and whoever parses packets and records where they lie.
///
/// A packet or record that would not fit is refused by its header, so that the front always holds the whole of it
/// sooner or later. Wiped on drop, because records are opened in place.
pub(crate) struct Incoming {
    buf: Zeroizing<Vec<u8>>,
    start: usize,
    end: usize,
}

impl Incoming {
    /// Room for `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            buf: Zeroizing::new(vec![0; len]),
            start: 0,
            end: 0,
        }
    }

    /// What has arrived.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buf[self.start..self.end]
    }

    /// The same, to be opened in place.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buf[self.start..self.end]
    }

    /// Drops the first `len` bytes.
    pub(crate) fn consume(&mut self, len: usize) {
        self.start = self.end.min(self.start + len);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Wipes and drops the first `len` bytes.
    pub(crate) fn wipe(&mut self, len: usize) {
        if let Some(bytes) = self.bytes_mut().get_mut(..len) {
            // `Zeroize` goes byte by byte, which takes a third of the time of opening a record.
            bytes.fill(0);
            optimization_barrier(bytes);
        }
        self.consume(len);
    }

    /// Reads once. Gives the number of new bytes; 0 is the end of the stream.
    pub(crate) fn poll_fill(
        &mut self,
        transport: Pin<&mut (impl AsyncRead + ?Sized)>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        // Moved only when the tail is full: a record is moved at most once, and most are never.
        if self.end == self.buf.len() {
            self.buf.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let mut tail = ReadBuf::new(&mut self.buf[self.end..]);
        debug_assert!(tail.remaining() > 0, "whoever parses refuses what does not fit");
        ready!(transport.poll_read(cx, &mut tail))?;
        let read = tail.filled().len();
        self.end += read;
        Poll::Ready(Ok(read))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn what_was_not_consumed_survives_the_move_to_the_front() {
        let mut source: &[u8] = b"abcdefghij";
        let mut incoming = Incoming::new(4);
        let mut seen = Vec::new();
        while poll_fn(|cx| incoming.poll_fill(Pin::new(&mut source), cx))
            .await
            .expect("reads")
            > 0
        {
            let take = incoming.bytes().len().min(3);
            seen.extend_from_slice(&incoming.bytes()[..take]);
            incoming.consume(take);
        }
        seen.extend_from_slice(incoming.bytes());
        assert_eq!(seen, b"abcdefghij");
    }
}
