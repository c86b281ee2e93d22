//! Tickets: what lets a client come back without the broker key's KEM, and without any state on the broker's side.

mod key;
mod ticket;

pub use key::{TicketKey, TicketKeys};
pub use ticket::{STORED_LEN, Ticket};

use crate::{
    Error,
    broker::Claim,
    identity::DeviceId,
    message::{Fields, Writer},
    schedule::Rms,
    suite::{Mode, SuiteId},
};

/// Length of a sealed ticket in bytes.
pub const TICKET_LEN: usize = 124;

/// Seconds after the full handshake past which no ticket of its line opens.
pub const MAX_AGE_S: u64 = 24 * 60 * 60;

/// Resumptions after the full handshake past which no ticket of its line opens.
pub const MAX_RESUMPTIONS: u8 = 16;

/// Length of what a ticket seals.
const CONTENT_LEN: usize = 88;

/// What a ticket says about the session that it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The suite of the full handshake, and of every session that continues it.
    pub suite: SuiteId,
    /// How the client proved who it is in the full handshake; never [`Mode::Resume`].
    pub mode: Mode,
    /// The device; `None` after an anonymous handshake.
    pub device: Option<DeviceId>,
    /// Generation of the credential when the ticket was sealed. If the registry has another one now, the session is
    /// refused in M4.
    pub generation: u32,
    /// When the ticket was sealed, in Unix seconds UTC.
    pub issued: u64,
    /// When the full handshake was, in Unix seconds UTC.
    pub full_handshake: u64,
    /// Resumptions since the full handshake, when the ticket was sealed.
    pub resumptions: u8,
}

impl Resumption {
    /// What the ticket of a session says that began with `claim`. `generation` is that of the credential in the registry,
    /// 0 for an anonymous client; `now` is in Unix seconds UTC.
    pub fn after(claim: &Claim, generation: u32, now: u64) -> Self {
        let Claim {
            suite, mode, device, ..
        } = *claim;
        let (mode, full_handshake, resumptions) = match &claim.resumed {
            Some(last) => (last.mode, last.full_handshake, last.resumptions.saturating_add(1)),
            None => (mode, now, 0),
        };
        Self {
            suite,
            mode,
            device,
            generation,
            issued: now,
            full_handshake,
            resumptions,
        }
    }

    /// How much longer the ticket opens, in seconds: what the TICKET message says.
    pub fn lifetime_s(&self, now: u64) -> u32 {
        if self.resumptions >= MAX_RESUMPTIONS {
            return 0;
        }
        let left = MAX_AGE_S.saturating_sub(now.saturating_sub(self.full_handshake));
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn write(&self, rms: &Rms, out: &mut [u8]) -> Result<(), Error> {
        let mut content = Writer::new(out, CONTENT_LEN)?;
        content.put(&self.suite.code().to_be_bytes())?;
        content.put(&[self.mode.code()])?;
        content.put(DeviceId::padded_or_zeros(self.device.as_ref()))?;
        content.put(&self.generation.to_be_bytes())?;
        content.put(&self.issued.to_be_bytes())?;
        content.put(&self.full_handshake.to_be_bytes())?;
        content.put(&[self.resumptions])?;
        content.put(rms.expose())
    }

    fn read(content: &[u8]) -> Result<(Self, Rms), Error> {
        let mut fields = Fields(content);
        let suite = SuiteId::from_wire(fields.array()?)?;
        let [mode] = fields.array()?;
        let mode = Mode::from_code(mode).ok_or(Error::Rejected)?;
        let id = fields.array()?;
        let device = match mode {
            Mode::Kem | Mode::Psk => Some(DeviceId::from_padded(&id)?),
            Mode::Anonymous if id == *DeviceId::padded_or_zeros(None) => None,
            Mode::Anonymous | Mode::Resume => return Err(Error::Rejected),
        };
        let generation = u32::from_be_bytes(fields.array()?);
        let issued = u64::from_be_bytes(fields.array()?);
        let full_handshake = u64::from_be_bytes(fields.array()?);
        let [resumptions] = fields.array()?;
        let rms = Rms::from_bytes(fields.array()?);
        fields.finish()?;
        Ok((
            Self {
                suite,
                mode,
                device,
                generation,
                issued,
                full_handshake,
                resumptions,
            },
            rms,
        ))
    }
}

/// When a client that holds a ticket stops trying it: after two attempts in a row without an M4 it makes a full handshake
/// in its configured mode, with the same key and floor, and keeps the ticket until a new one comes or it expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayOut {
    failures: u8,
}

impl WayOut {
    /// Whether the next attempt may use the ticket.
    pub const fn allows_ticket(self) -> bool {
        self.failures < 2
    }

    /// An attempt with the ticket has ended without an M4, for whatever reason.
    pub const fn ticket_failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// An M4 has opened.
    pub const fn m4_opened(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests;
