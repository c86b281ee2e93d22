//! Whole packets and records from a link, with a limit in bytes and in time.

use hybrid_handshake::{Error as Handshake, mqtt::FixedHeader};

use crate::{Clock, Error, Link, clock::Deadline};

/// A link and the clock that limits how long it may take.
pub(crate) struct Wire<'a, L, C> {
    pub(crate) link: &'a mut L,
    pub(crate) clock: &'a mut C,
}

impl<L: Link, C: Clock> Wire<'_, L, C> {
    pub(crate) fn send<N>(&mut self, bytes: &[u8]) -> Result<(), Error<L::Error, N>> {
        self.link.write_all(bytes).map_err(Error::Link)?;
        self.link.flush().map_err(Error::Link)
    }

    /// Reads one packet to the start of `buf`; gives its length. What is longer than `limit` or `buf` is refused from its
    /// header.
    #[inline(never)]
    pub(crate) fn read_packet<N>(
        &mut self,
        buf: &mut [u8],
        limit: u16,
        deadline: Deadline,
    ) -> Result<usize, Error<L::Error, N>> {
        let mut have = 2;
        self.fill(buf, 0, have, deadline)?;
        let header = loop {
            match FixedHeader::read(buf.get(..have).unwrap_or_default())? {
                Some(header) => break header,
                None => self.fill(buf, have, have + 1, deadline)?,
            }
            have += 1;
        };
        let len = header.packet_len();
        let len = usize::try_from(len)
            .ok()
            .filter(|&fits| len <= limit.into() && fits <= buf.len())
            .ok_or(Handshake::TooLarge { limit })?;
        self.fill(buf, have, len, deadline)?;
        Ok(len)
    }

    /// Reads until `buf[from..to]` is filled.
    #[inline(never)]
    pub(crate) fn fill<N>(
        &mut self,
        buf: &mut [u8],
        from: usize,
        to: usize,
        deadline: Deadline,
    ) -> Result<(), Error<L::Error, N>> {
        let mut rest = buf.get_mut(from..to).ok_or(Handshake::Buffer { needed: to as u16 })?;
        while !rest.is_empty() {
            self.wait(deadline)?;
            match self.link.read(rest).map_err(Error::Link)? {
                0 => return Err(Error::Closed),
                len => rest = rest.get_mut(len..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    /// Waits until there is something to read.
    #[inline(never)]
    pub(crate) fn wait<N>(&mut self, deadline: Deadline) -> Result<(), Error<L::Error, N>> {
        while !self.link.read_ready().map_err(Error::Link)? {
            if deadline.has_passed(self.clock) {
                return Err(Error::Timeout);
            }
            self.clock.idle();
        }
        Ok(())
    }
}
