//! Packet boundaries in a byte stream, without buffering.

use super::FixedHeader;
use super::header::check_first_byte;
use crate::{Error, Malformed};

/// Follows the packets of an MQTT byte stream that arrives in pieces of any size. Keeps a few bytes of state and never
/// the stream.
///
/// ```
/// # use hybrid_handshake::mqtt::{Event, PacketType, Tracker};
/// let mut tracker = Tracker::new(1000);
/// let mut piece = &b"\xc0\x00\x30\x05\x00\x01"[..]; // PINGREQ, then the first half of a PUBLISH
/// while let Some(event) = tracker.next(&mut piece)? {
///     match event {
///         Event::Start(header) => assert!(matches!(header.packet, PacketType::Pingreq | PacketType::Publish)),
///         Event::Body(bytes) => assert_eq!(bytes, b"\x00\x01"),
///         Event::End => assert_eq!(piece.len(), 4), // of the PINGREQ
///     }
/// }
/// assert!(!tracker.at_boundary());
/// # Ok::<(), hybrid_handshake::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tracker {
    state: State,
    limit: u32,
}

/// What [`Tracker::next`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A packet begins; its fixed header is complete.
    Start(FixedHeader),
    /// Some bytes of its body, as they arrived. Never empty.
    Body(&'a [u8]),
    /// The packet is complete.
    End,
}

impl Tracker {
    /// A tracker at a packet boundary that refuses packets with a Remaining Length above `limit`.
    pub const fn new(limit: u32) -> Self {
        Self {
            state: State::Boundary,
            limit,
        }
    }

    /// Changes the limit, from the next fixed header on.
    pub const fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Whether the bytes so far end exactly behind a packet: the only place where a packet may be injected.
    pub const fn at_boundary(&self) -> bool {
        matches!(self.state, State::Boundary)
    }

    /// The next event in `input`, which is shortened by what was read; `None` when `input` is used up and nothing is
    /// due.
    ///
    /// # Errors
    /// [`Malformed::Type`], [`Malformed::Reserved`] or [`Malformed::Varint`] in a fixed header; [`Error::TooLarge`] for
    /// a Remaining Length above the limit. The stream is then lost for good: every later call gives
    /// [`Malformed::Type`].
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Event<'a>>, Error> {
        loop {
            match self.state {
                State::Body { left: 0 } => {
                    self.state = State::Boundary;
                    return Ok(Some(Event::End));
                }
                State::Body { left } => {
                    let len = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let (body, rest) = input.split_at(len);
                    if body.is_empty() {
                        return Ok(None);
                    }
                    *input = rest;
                    self.state = State::Body {
                        left: left - len as u32,
                    };
                    return Ok(Some(Event::Body(body)));
                }
                State::Lost => return Err(Malformed::Type.into()),
                State::Boundary | State::Length { .. } => {
                    let Some((&byte, rest)) = input.split_first() else {
                        return Ok(None);
                    };
                    *input = rest;
                    let step = self.header_byte(byte);
                    if step.is_err() {
                        self.state = State::Lost;
                    }
                    if let Some(header) = step? {
                        return Ok(Some(Event::Start(header)));
                    }
                }
            }
        }
    }

    fn header_byte(&mut self, byte: u8) -> Result<Option<FixedHeader>, Error> {
        let State::Length { first, value, shift } = self.state else {
            check_first_byte(byte)?;
            self.state = State::Length {
                first: byte,
                value: 0,
                shift: 0,
            };
            return Ok(None);
        };
        let value = value | u32::from(byte & 0x7f) << shift;
        if byte >= 0x80 {
            if shift == LAST_SHIFT {
                return Err(Malformed::Varint.into());
            }
            self.state = State::Length {
                first,
                value,
                shift: shift + 7,
            };
            return Ok(None);
        }
        if byte == 0 && shift > 0 {
            return Err(Malformed::Varint.into());
        }
        if value > self.limit {
            return Err(Error::TooLarge {
                limit: u16::try_from(self.limit).unwrap_or(u16::MAX),
            });
        }
        let (packet, flags) = check_first_byte(first)?;
        self.state = State::Body { left: value };
        Ok(Some(FixedHeader {
            packet,
            flags,
            remaining: value,
        }))
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Boundary,
    /// Behind the first byte, in the Remaining Length.
    Length {
        first: u8,
        value: u32,
        shift: u8,
    },
    Body {
        left: u32,
    },
    Lost,
}

/// Of the fourth and last byte of a Remaining Length.
const LAST_SHIFT: u8 = 21;

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::mqtt::PacketType;

    #[test]
    fn an_empty_packet_starts_and_ends_without_a_body() {
        let mut t = Tracker::new(0);
        let mut input = &[0xd0, 0][..];
        assert_eq!(
            t.next(&mut input),
            Ok(Some(Event::Start(FixedHeader::new(PacketType::Pingresp, 0))))
        );
        assert!(!t.at_boundary(), "End is still due");
        assert_eq!(t.next(&mut input), Ok(Some(Event::End)));
        assert_eq!(t.next(&mut input), Ok(None));
        assert!(t.at_boundary());
    }

    #[test]
    fn a_packet_above_the_limit_is_refused_before_its_body() {
        let mut t = Tracker::new(127);
        let mut input = &[0x30, 0x7f][..];
        assert!(matches!(t.next(&mut input), Ok(Some(Event::Start(_)))));
        let mut t = Tracker::new(127);
        let mut input = &[0x30, 0x80, 0x01][..];
        assert_eq!(t.next(&mut input), Err(Error::TooLarge { limit: 127 }));
    }

    #[test]
    fn a_lost_stream_stays_lost() {
        for bad in [
            &[0x00][..],
            &[0xff],
            &[0x36],
            &[0x30, 0x80, 0x00],
            &[0x30, 0xff, 0xff, 0xff, 0x80],
        ] {
            let mut t = Tracker::new(u32::MAX);
            let mut input = bad;
            assert!(matches!(t.next(&mut input), Err(Error::Malformed(_))), "{bad:?}");
            let mut input = &[0xc0, 0][..];
            assert_eq!(t.next(&mut input), Err(Malformed::Type.into()));
        }
    }

    /// Joins neighbouring bodies, so that streams cut differently compare equal.
    fn events(t: &mut Tracker, mut input: &[u8], out: &mut Vec<(Option<FixedHeader>, Vec<u8>)>) {
        while let Some(event) = t.next(&mut input).unwrap() {
            match event {
                Event::Start(header) => out.push((Some(header), vec![])),
                Event::Body(bytes) => out.last_mut().unwrap().1.extend_from_slice(bytes),
                Event::End => out.push((None, vec![])),
            }
        }
        assert!(input.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_cut_of_a_stream_gives_the_same_events(
            bodies in proptest::collection::vec((0_usize..15, proptest::collection::vec(0_u8.., 0..300)), 1..6),
            cuts in proptest::collection::vec(0_usize..600, 0..12),
        ) {
            let firsts = [0x10, 0x20, 0x30, 0x3d, 0x40, 0x50, 0x62, 0x70, 0x82, 0x90, 0xa2, 0xb0, 0xc0, 0xe0, 0xf0];
            let mut stream = vec![];
            for (first, body) in &bodies {
                stream.push(firsts[*first]);
                if body.len() < 128 {
                    stream.push(body.len() as u8);
                } else {
                    stream.extend([body.len() as u8 | 0x80, (body.len() >> 7) as u8]);
                }
                stream.extend(body);
            }
            let mut whole = vec![];
            events(&mut Tracker::new(300), &stream, &mut whole);
            assert_eq!(whole.len(), 2 * bodies.len());
            for (pair, (first, body)) in whole.chunks(2).zip(&bodies) {
                assert_eq!(pair[0].0.unwrap().first_byte(), firsts[*first]);
                assert_eq!(&pair[0].1, body);
                assert_eq!(pair[1], (None, vec![]));
            }
            let mut ends: Vec<usize> = cuts.into_iter().map(|c| c.min(stream.len())).chain([stream.len()]).collect();
            ends.sort();
            let (mut t, mut start, mut cut) = (Tracker::new(300), 0, vec![]);
            for end in ends {
                events(&mut t, &stream[start..end], &mut cut);
                start = end;
            }
            assert_eq!(cut, whole);
            assert!(t.at_boundary());
        }
    }
}
