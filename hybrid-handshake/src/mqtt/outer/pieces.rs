//! M2 in pieces, for a client whose packet limit is below it.

use core::ops::Range;

use super::AUTH_OVERHEAD;
use crate::{Error, Malformed};

/// How M2 is cut: whole if it fits into the client's packet limit less 18, else pieces of exactly that size and the
/// rest.
///
/// Both sides follow the same cut. The broker takes ranges from [`Pieces::send`]; the client asks [`Pieces::receive`]
/// where a piece goes, before it stores it, and answers each piece but the last with
/// [`write_next_piece`](super::write_next_piece).
#[derive(Clone, Debug)]
pub struct Pieces {
    total: u16,
    piece: u16,
    done: u16,
}

impl Pieces {
    /// The cut of an M2 of `total` bytes for a client with this packet limit (128 to 16384, as M1 carries it).
    pub const fn new(total: u16, packet_limit: u16) -> Self {
        let piece = packet_limit.saturating_sub(AUTH_OVERHEAD);
        Self {
            total,
            piece: if piece == 0 { 1 } else { piece },
            done: 0,
        }
    }

    /// Whether the last piece has passed.
    pub const fn is_complete(&self) -> bool {
        self.done == self.total
    }

    /// Broker: the part of M2 that the next AUTH carries; `None` behind the last.
    pub fn send(&mut self) -> Option<Range<usize>> {
        if self.is_complete() { None } else { Some(self.advance()) }
    }

    /// Client: where in M2 a piece of `len` bytes goes.
    ///
    /// # Errors
    /// [`Malformed::Length`] unless it has exactly the size that is due, [`Error::UnexpectedPacket`] behind the last
    /// piece.
    pub fn receive(&mut self, len: usize) -> Result<Range<usize>, Error> {
        if self.is_complete() {
            return Err(Error::UnexpectedPacket);
        }
        if len != usize::from(self.due()) {
            return Err(Malformed::Length.into());
        }
        Ok(self.advance())
    }

    fn due(&self) -> u16 {
        self.piece.min(self.total - self.done)
    }

    fn advance(&mut self) -> Range<usize> {
        let start = self.done;
        self.done += self.due();
        start.into()..self.done.into()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn cut(total: u16, packet_limit: u16) -> Vec<Range<usize>> {
        let mut pieces = Pieces::new(total, packet_limit);
        core::iter::from_fn(|| pieces.send()).collect()
    }

    #[test]
    fn m2_goes_whole_up_to_the_packet_limit_less_18() {
        assert_eq!(cut(238, 256).len(), 1);
        assert_eq!(cut(239, 256), [0..238, 238..239]);
        assert_eq!(cut(714, 256), [0..238, 238..476, 476..714]);
        assert_eq!(cut(111, 128), [0..110, 110..111]);
    }

    #[test]
    fn a_piece_of_another_length_is_refused_before_it_is_stored() {
        for wrong in [0, 1, 237, 239, 65_536 + 238] {
            assert_eq!(Pieces::new(500, 256).receive(wrong), Err(Malformed::Length.into()));
        }
        let mut pieces = Pieces::new(500, 256);
        assert_eq!((pieces.receive(238), pieces.receive(238)), (Ok(0..238), Ok(238..476)));
        assert_eq!(
            pieces.clone().receive(238),
            Err(Malformed::Length.into()),
            "the last piece is the rest"
        );
        assert_eq!(pieces.receive(24), Ok(476..500));
        assert!(pieces.is_complete());
        assert_eq!(pieces.receive(0), Err(Error::UnexpectedPacket));
    }

    proptest::proptest! {
        #[test]
        fn the_pieces_are_m2_and_each_packet_keeps_the_limit(total in 1_u16.., packet_limit in 128_u16..=16_384) {
            let ranges = cut(total, packet_limit);
            let mut client = Pieces::new(total, packet_limit);
            let mut end = 0;
            for range in ranges {
                assert_eq!(range.start, end);
                end = range.end;
                assert!(super::super::auth_len(range.len() as u16) <= packet_limit.into());
                assert_eq!(client.receive(range.len()), Ok(range));
            }
            assert_eq!(end, usize::from(total));
            assert!(client.is_complete());
        }
    }
}
