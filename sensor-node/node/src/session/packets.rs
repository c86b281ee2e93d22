//! Inner packets out of and into records, in the flight buffer: record out, record in, inner packet.

use hybrid_handshake::{
    Error as Handshake,
    aead::TAG_LEN,
    mqtt::{FixedHeader, Level},
    record::{Content, HEADROOM},
    suite::{KemScheme, Suite},
};

use super::Session;
use crate::{
    Clock, Error, Link, Nv, Outcome, Phase,
    arena::{IN, INNER, INNER_LIMIT, OUT},
    clock::Deadline,
    wire::Wire,
};

impl<S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Session<'_, '_, S, B, L, C, N> {
    /// Writes one packet, seals it and sends it, in as many records as the peer's limit asks for. A packet that cannot be
    /// written leaves the session as it was.
    pub(super) fn write(
        &mut self,
        packet: impl FnOnce(Level, &mut [u8]) -> Result<usize, Handshake>,
    ) -> Outcome<(), L, N> {
        let level = self.level();
        let place = self
            .node
            .buffers
            .flight
            .get_mut(OUT + HEADROOM..OUT + HEADROOM + INNER_LIMIT);
        let len = packet(level, place.unwrap_or_default())?;
        self.send(Content::Data, len).map_err(|error| self.ended(error))
    }

    /// Seals and sends the `len` bytes behind the headroom of the record out; an empty record if there are none.
    #[inline(never)]
    pub(super) fn send(&mut self, content: Content, len: usize) -> Outcome<(), L, N> {
        let node = &mut *self.node;
        let out = node.buffers.flight.get_mut(OUT..).unwrap_or_default();
        let sealer = &mut node.established.as_mut().ok_or(Error::Closed)?.sealer;
        let limit = usize::from(sealer.limit());
        let mut start = 0;
        loop {
            let piece = limit.min(len - start);
            let place = out.get_mut(start..).unwrap_or_default();
            // The tag covers the beginning of the next piece, and the header the end of the last one, which is sent.
            let behind = place
                .get(HEADROOM + piece..)
                .and_then(|rest| rest.first_chunk::<TAG_LEN>())
                .copied();
            let record = sealer.seal(content, place, piece as u16)?;
            let mut wire = Wire {
                link: &mut node.board.link,
                clock: &mut node.board.clock,
            };
            wire.send(record)?;
            let covered = place
                .get_mut(HEADROOM + piece..)
                .and_then(|rest| rest.first_chunk_mut());
            if let (Some(covered), Some(behind)) = (covered, behind) {
                *covered = behind;
            }
            node.reauth.count();
            start += piece;
            if start >= len {
                break;
            }
        }
        self.sent_ms = self.node.board.clock.now_ms();
        Ok(())
    }

    /// The first bytes of the inner packet's place.
    pub(super) fn inner(&self, len: usize) -> &[u8] {
        let place = self.node.buffers.flight.get(INNER..).unwrap_or_default();
        place.get(..len).unwrap_or_default()
    }

    /// Collects the next whole packet; gives its length, or nothing if the time is over.
    #[inline(never)]
    pub(super) fn packet(&mut self, deadline: Deadline) -> Outcome<Option<usize>, L, N> {
        if core::mem::take(&mut self.used) {
            self.inner_len = 0;
        }
        loop {
            if let Some(len) = self.collect()? {
                self.used = true;
                return Ok(Some(len));
            }
            self.renew()?;
            if !self.wait(deadline)? {
                return Ok(None);
            }
            self.record()?;
        }
    }

    /// Moves plaintext behind the packet that is being collected, until it is whole.
    #[inline(never)]
    fn collect(&mut self) -> Result<Option<usize>, Handshake> {
        loop {
            let header = FixedHeader::read(self.inner(self.inner_len))?;
            let needed = match header {
                Some(header) => usize::try_from(header.packet_len()).unwrap_or(usize::MAX),
                None => self.inner_len + 1,
            };
            if needed > INNER_LIMIT {
                return Err(Handshake::TooLarge {
                    limit: INNER_LIMIT as u16,
                });
            }
            if header.is_some() && needed == self.inner_len {
                return Ok(Some(needed));
            }
            let (from, to) = self.text;
            let moved = (needed - self.inner_len).min(to - from);
            if moved == 0 {
                return Ok(None);
            }
            let place = INNER + self.inner_len;
            self.node.buffers.flight.copy_within(from..from + moved, place);
            self.inner_len += moved;
            self.text = (from + moved, to);
        }
    }

    /// Waits for the first byte of a record, and keeps the connection alive meanwhile. False if the time is over.
    #[inline(never)]
    fn wait(&mut self, deadline: Deadline) -> Outcome<bool, L, N> {
        while !self.node.board.link.read_ready().map_err(Error::Link)? {
            if deadline.has_passed(&mut self.node.board.clock) {
                return Ok(false);
            }
            self.renew()?;
            self.keep_alive()?;
            self.node.board.clock.idle();
        }
        Ok(true)
    }

    fn keep_alive(&mut self) -> Outcome<(), L, N> {
        if self.keep_alive_ms == 0 {
            return Ok(());
        }
        let now_ms = self.node.board.clock.now_ms();
        match self.ping_ms {
            Some(ping_ms) if now_ms.wrapping_sub(ping_ms) >= self.keep_alive_ms => Err(Error::Timeout),
            None if now_ms.wrapping_sub(self.sent_ms) >= self.keep_alive_ms / 4 * 3 => self.ping(),
            _ => Ok(()),
        }
    }

    /// Reads and opens one record. Data becomes the text that [`Session::packet`] goes on with, control messages are
    /// handled.
    #[inline(never)]
    fn record(&mut self) -> Outcome<(), L, N> {
        let node = &mut *self.node;
        let place = node.buffers.flight.get_mut(IN..INNER).unwrap_or_default();
        let opener = &mut node.established.as_mut().ok_or(Error::Closed)?.opener;
        let mut wire = Wire {
            link: &mut node.board.link,
            clock: &mut node.board.clock,
        };
        let deadline = Deadline::after(wire.clock, RECORD_MS);
        let mut have = 0;
        loop {
            let needed = opener.needed(place.get(..have).unwrap_or_default())?;
            if needed <= have {
                break;
            }
            wire.fill(place, have, needed, deadline)?;
            have = needed;
        }
        node.board.clock.mark(Some(Phase::Record));
        let record = place.get_mut(..have).unwrap_or_default();
        let start = record.as_ptr().addr();
        let opened = opener.open(record)?;
        let from = IN + (opened.text.as_ptr().addr() - start);
        let text = (from, from + opened.text.len());
        let content = opened.content;
        node.board.clock.mark(None);
        self.node.reauth.count();
        match content {
            Content::Data => self.text = text,
            Content::Control => self.control_record(text)?,
        }
        Ok(())
    }
}

/// How long a record may take from its first byte to its last.
const RECORD_MS: u32 = 30_000;
