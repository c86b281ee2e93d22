//! The control stream: what front and bridge tell each other in control records, behind the application's back.
//!
//! ```text
//! message     type(1) | len(2) <= 4096 | body             cut anywhere over the control records of a direction
//! 01 TICKET     b->c  lifetime(4, s) | ticket(124)        first in the session, once
//! 02 NEXT-KEY   b->c  kem | group | pk_B | gx_B
//! 03 SUCCESSOR  b->c  h0 of the successor(32)
//! 04 REAUTH     both  reason(1) | fields
//! ```

mod rate;
mod reader;

pub use rate::Rate;
pub use reader::{Messages, Reader, Receiver};

use crate::identity::Fingerprint;
use crate::message::Capabilities;
use crate::mqtt::{ReasonCode, Writer};
use crate::resume::TICKET_LEN;
use crate::{Error, Malformed};

/// Length of type and length in front of a body, in bytes.
pub const HEADER_LEN: usize = 3;

/// The longest body, in bytes.
pub const MAX_BODY_LEN: usize = 4096;

/// Messages and empty control records that a direction may carry in a minute.
pub const PER_MINUTE: u8 = 16;

/// Type of a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A session ticket.
    Ticket = 1,
    /// The broker key after the pinned one.
    NextKey,
    /// The fingerprint of the broker key after this one.
    Successor,
    /// A step of a re-authentication.
    Reauth,
}

impl Kind {
    const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Ticket),
            2 => Some(Self::NextKey),
            3 => Some(Self::Successor),
            4 => Some(Self::Reauth),
            _ => None,
        }
    }

    /// The option that both sides must have agreed on.
    pub const fn option(self) -> Capabilities {
        match self {
            Self::Ticket => Capabilities::TICKETS,
            Self::NextKey | Self::Successor => Capabilities::KEY_NEWS,
            Self::Reauth => Capabilities::REAUTH,
        }
    }

    const fn allows_len(self, body_len: usize) -> bool {
        match self {
            Self::Ticket => body_len == LIFETIME_LEN + TICKET_LEN,
            Self::NextKey | Self::Reauth => body_len >= 1 && body_len <= MAX_BODY_LEN,
            Self::Successor => body_len == Fingerprint::LEN,
        }
    }
}

/// A message that was read; borrows from the buffer it was collected in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'b> {
    /// TICKET. `Debug` shows it, but without the resumption secret it is worth nothing.
    Ticket {
        /// How long the broker will take it, in seconds.
        lifetime_s: u32,
        /// Opaque to the client.
        ticket: &'b [u8; TICKET_LEN],
    },
    /// NEXT-KEY: a broker key for [`BrokerKey::parse`](crate::identity::BrokerKey::parse). It counts only if its
    /// fingerprint is the pinned successor's.
    NextKey(&'b [u8]),
    /// SUCCESSOR: the first one under a key is kept, another value ignored and counted.
    Successor(Fingerprint),
    /// REAUTH.
    Reauth(Reauth<'b>),
}

/// A step of a re-authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reauth<'b> {
    /// 0x19 and 0x18 from the client, 0x18 and 0x00 from the broker.
    pub reason: ReasonCode,
    /// What follows the reason: nonces, shares, ciphertexts.
    pub fields: &'b [u8],
    /// The message with type and length, as it goes into hr.
    pub whole: &'b [u8],
}

/// Writes one message, its body given in parts, and returns its length. It then goes out in pieces of the peer's record
/// limit:
///
/// ```
/// # use hybrid_handshake::aead::AsconAead128;
/// # use hybrid_handshake::control::{self, Kind};
/// # use hybrid_handshake::record::{Content, HEADROOM, Sealer};
/// # let mut sealer = Sealer::new(AsconAead128, &[0; 32], 64);
/// # let (lifetime_s, ticket) = (3600_u32, [0; 124]);
/// let mut message = [0; control::HEADER_LEN + 128];
/// let len = control::write(Kind::Ticket, &[&lifetime_s.to_be_bytes(), &ticket], &mut message)?;
/// for piece in message[..len].chunks(sealer.limit().into()) {
///     let mut buf = [0; HEADROOM + 64 + 16];
///     buf[HEADROOM..][..piece.len()].copy_from_slice(piece);
///     let record = sealer.seal(Content::Control, &mut buf, piece.len() as u16)?;
///     // send it
/// #   assert!(record.len() <= 82);
/// }
/// # Ok::<(), hybrid_handshake::Error>(())
/// ```
///
/// # Errors
/// [`Error::Misuse`] for a body that this type does not have, [`Error::Buffer`].
pub fn write(kind: Kind, body: &[&[u8]], out: &mut [u8]) -> Result<usize, Error> {
    let body_len: usize = body.iter().map(|part| part.len()).sum();
    let wire_len = u16::try_from(body_len)
        .ok()
        .filter(|_| kind.allows_len(body_len))
        .ok_or(Error::Misuse)?;
    let mut w = Writer::new(out);
    w.u8(kind as u8);
    w.u16(wire_len);
    body.iter().for_each(|part| w.bytes(part));
    w.finish()
}

impl<'b> Message<'b> {
    fn parse(kind: Kind, whole: &'b [u8]) -> Result<Self, Malformed> {
        let (_, body) = whole.split_at_checked(HEADER_LEN).ok_or(Malformed::Truncated)?;
        Ok(match kind {
            Kind::Ticket => {
                let (lifetime, ticket) = body.split_first_chunk().ok_or(Malformed::Length)?;
                let ticket = ticket.try_into().map_err(|_| Malformed::Length)?;
                Self::Ticket {
                    lifetime_s: u32::from_be_bytes(*lifetime),
                    ticket,
                }
            }
            Kind::NextKey => Self::NextKey(body),
            Kind::Successor => {
                let h0 = body.try_into().map_err(|_| Malformed::Length)?;
                Self::Successor(Fingerprint::from_bytes(h0))
            }
            Kind::Reauth => {
                let (&reason, fields) = body.split_first().ok_or(Malformed::Length)?;
                let reason = ReasonCode::from_code(reason).ok_or(Malformed::Value)?;
                Self::Reauth(Reauth { reason, fields, whole })
            }
        })
    }
}

const LIFETIME_LEN: usize = 4;

#[cfg(test)]
mod tests;
