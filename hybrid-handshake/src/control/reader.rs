//! Collects messages from control records of any size.

use super::{HEADER_LEN, Kind, MAX_BODY_LEN, Message, PER_MINUTE, Rate, Reauth};
use crate::message::Capabilities;
use crate::mqtt::ReasonCode;
use crate::{Error, Malformed};

/// Which side reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Gets TICKET, NEXT-KEY, SUCCESSOR and REAUTH.
    Client,
    /// Gets REAUTH.
    Broker,
}

/// Reads the control stream of one direction. What a message may not be is refused from its header, before it is
/// collected.
#[derive(Clone, Debug)]
pub struct Reader {
    receiver: Receiver,
    options: Capabilities,
    rate: Rate,
    /// Bytes of the message under way, which lie in the caller's buffer.
    filled: u16,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No message yet: the place of a ticket.
    First,
    Later,
    Dead,
}

impl Reader {
    /// A reader at the start of a session with these options in use (those of M2).
    pub const fn new(receiver: Receiver, options: Capabilities) -> Self {
        Self {
            receiver,
            options,
            rate: Rate::new(PER_MINUTE),
            filled: 0,
            state: State::First,
        }
    }

    /// The messages that end in a control record with this plaintext, opened at `now_s` seconds of any clock that runs
    /// forward.
    ///
    /// # Errors
    /// [`Error::TooOften`] for an empty record too many. Any error of this type or of [`Messages`] is final and closes
    /// the connection.
    pub fn record<'r>(&'r mut self, text: &'r [u8], now_s: u32) -> Result<Messages<'r>, Error> {
        if text.is_empty() {
            self.rate.admit(now_s).inspect_err(|_| self.state = State::Dead)?;
        }
        Ok(Messages {
            reader: self,
            rest: text,
            now_s,
        })
    }

    /// Whether the stream stands between two messages.
    pub const fn at_boundary(&self) -> bool {
        self.filled == 0
    }

    /// Moves bytes from `input` until a whole message lies at the start of `buf`.
    fn collect(&mut self, input: &mut &[u8], buf: &mut [u8], now_s: u32) -> Result<Option<(Kind, usize)>, Error> {
        self.fill(input, buf, HEADER_LEN)?;
        let Some(&[kind, high, low]) = self.filled_part(buf).first_chunk() else {
            return Ok(None);
        };
        let kind = Kind::from_code(kind)
            .filter(|&kind| self.takes(kind))
            .ok_or(Malformed::Type)?;
        let body_len = u16::from_be_bytes([high, low]).into();
        if body_len > MAX_BODY_LEN || !kind.allows_len(body_len) {
            return Err(Malformed::Length.into());
        }
        let len = HEADER_LEN + body_len;
        self.fill(input, buf, len)?;
        if usize::from(self.filled) < len {
            return Ok(None);
        }
        // One ticket, before all else.
        if kind == Kind::Ticket && self.state != State::First {
            return Err(Error::UnexpectedPacket);
        }
        self.rate.admit(now_s)?;
        self.filled = 0;
        self.state = State::Later;
        Ok(Some((kind, len)))
    }

    /// Moves bytes from `input` until `buf` holds `len` of them.
    fn fill(&mut self, input: &mut &[u8], buf: &mut [u8], len: usize) -> Result<(), Error> {
        let needed = u16::try_from(len).unwrap_or(u16::MAX);
        let room = buf.get_mut(..len).ok_or(Error::Buffer { needed })?;
        let Some(room) = room.get_mut(self.filled.into()..) else {
            return Ok(()); // the header, again
        };
        let moved = room.len().min(input.len());
        let (head, rest) = input.split_at(moved);
        room.split_at_mut(moved).0.copy_from_slice(head);
        *input = rest;
        self.filled = self.filled.saturating_add(u16::try_from(moved).unwrap_or(u16::MAX));
        Ok(())
    }

    fn filled_part<'b>(&self, buf: &'b [u8]) -> &'b [u8] {
        buf.get(..self.filled.into()).unwrap_or_default()
    }

    fn takes(&self, kind: Kind) -> bool {
        self.options.has(kind.option()) && (self.receiver == Receiver::Client || kind == Kind::Reauth)
    }
}

/// The messages that end in one control record.
#[derive(Debug)]
pub struct Messages<'r> {
    reader: &'r mut Reader,
    rest: &'r [u8],
    now_s: u32,
}

impl Messages<'_> {
    /// The next one, collected in `buf`; `None` when the record is used up. A message that goes on in the next record
    /// stays in `buf`, so the caller hands in the same buffer each time. It has [`HEADER_LEN`] bytes and room for the
    /// longest body that the options allow.
    ///
    /// # Errors
    /// [`Malformed::Type`] for a type unknown, not in the options or not for this side; [`Malformed::Length`];
    /// [`Malformed::Trailing`] behind the end of a re-authentication; [`Error::UnexpectedPacket`] for a ticket that is
    /// not first; [`Error::TooOften`]; [`Error::Buffer`].
    pub fn next<'b>(&mut self, buf: &'b mut [u8]) -> Result<Option<Message<'b>>, Error> {
        if self.reader.state == State::Dead {
            return Err(Error::Rejected);
        }
        let message = self.try_next(buf);
        if message.is_err() {
            self.reader.state = State::Dead;
        }
        message
    }

    fn try_next<'b>(&mut self, buf: &'b mut [u8]) -> Result<Option<Message<'b>>, Error> {
        let Some((kind, len)) = self.reader.collect(&mut self.rest, buf, self.now_s)? else {
            return Ok(None);
        };
        let message = Message::parse(kind, buf.get(..len).unwrap_or_default())?;
        // The next record has another key, so whoever writes on in this one has not understood.
        let done = matches!(
            message,
            Message::Reauth(Reauth {
                reason: ReasonCode::Success,
                ..
            })
        );
        if done && !self.rest.is_empty() {
            return Err(Malformed::Trailing.into());
        }
        Ok(Some(message))
    }
}
