//! M1..M3 as bytes: lengths that follow from suite, mode and broker key, and where each field lies. M4 is one box.

mod cursor;
mod limits;

pub use limits::{BrokerLimits, Capabilities, ClientLimits};

pub use crate::resume::TICKET_LEN;

pub(crate) use cursor::{Fields, Writer};

use crate::{
    Error, Malformed,
    aead::TAG_LEN,
    exchange::Offer,
    identity::{DeviceId, KID_LEN, Kid},
    suite::{KemId, Mode, SuiteId},
};

/// The only version of M1.
pub const VERSION: u8 = 1;

/// Length of the nonces n_P and n_B in bytes.
pub const NONCE_LEN: usize = 16;

/// Length of box1: padded id, capabilities, tag.
pub const BOX1_LEN: usize = DeviceId::MAX_LEN + 2 + TAG_LEN;

/// Length of M1 in bytes; `broker_kem` does not count in mode 4.
pub const fn m1_len(suite: SuiteId, mode: Mode, broker_kem: KemId) -> usize {
    let ct = match mode {
        Mode::Resume => TICKET_LEN,
        Mode::Kem | Mode::Psk | Mode::Anonymous => broker_kem.ct_len(),
    };
    M1_FIXED_LEN + suite.group().share_len() + ct + BOX1_LEN
}

/// Length of M2 in bytes.
pub const fn m2_len(suite: SuiteId, mode: Mode) -> usize {
    M2_FIXED_LEN + Offer::len(suite, mode) + TAG_LEN
}

/// Length of M3 in bytes around an inner CONNECT of `connect` bytes.
pub const fn m3_len(suite: SuiteId, connect: usize) -> usize {
    suite.kem().ct_len() + connect + TAG_LEN
}

/// Length of M4 in bytes around an inner CONNACK of `connack` bytes.
pub const fn m4_len(connack: usize) -> usize {
    connack + TAG_LEN
}

/// ver, suite, mode, flags, two limits, kid, n_P.
const M1_FIXED_LEN: usize = 1 + 2 + 1 + 1 + 2 + 2 + KID_LEN + NONCE_LEN;

/// n_B, time, two limits, options.
const M2_FIXED_LEN: usize = NONCE_LEN + 8 + 2 + 2 + 2;

/// The fields of M1 that need no key, parsed in the order in which a broker checks them.
#[derive(Clone, Copy, Debug)]
pub struct M1Header {
    suite: SuiteId,
    mode: Mode,
    flags: u8,
    record: u16,
    packet: u16,
    kid: Kid,
    len: usize,
}

impl M1Header {
    /// Parses the start of an M1 and checks version, suite and mode. The caller then finds the broker key of
    /// [`M1Header::kid`] (none: [`Error::Unsupported`]) and goes on with `broker::AwaitM1::new`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a version, suite or mode that HKM1 does not have; [`Error::Malformed`] if `m1` ends
    /// before them.
    pub fn parse(m1: &[u8]) -> Result<Self, Error> {
        let mut fields = Fields(m1);
        let [VERSION] = fields.array()? else {
            return Err(Error::Unsupported);
        };
        let suite = SuiteId::from_wire(fields.array()?)?;
        let [mode] = fields.array()?;
        let mode = Mode::from_code(mode)
            .filter(|mode| mode.allowed_in(suite.profile()))
            .ok_or(Error::Unsupported)?;
        let [flags] = fields.array()?;
        let (record, packet) = (fields.u16()?, fields.u16()?);
        Ok(Self {
            suite,
            mode,
            flags,
            record,
            packet,
            kid: fields.array()?,
            len: m1.len(),
        })
    }

    /// The suite the client wants.
    pub const fn suite(&self) -> SuiteId {
        self.suite
    }

    /// How the client means to prove who it is.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The broker key the client holds. A key of another group than the suite's does not count as known.
    pub const fn kid(&self) -> Kid {
        self.kid
    }

    /// Checks length, flags and limits, in this order.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub(crate) fn limits(&self, broker_kem: KemId) -> Result<ClientLimits, Error> {
        if self.len != m1_len(self.suite, self.mode, broker_kem) {
            return Err(Malformed::Length.into());
        }
        if self.flags != 0 {
            return Err(Malformed::Reserved.into());
        }
        Ok(ClientLimits::new(self.record, self.packet)?)
    }

    pub(crate) fn write(
        suite: SuiteId,
        mode: Mode,
        limits: ClientLimits,
        kid: &Kid,
        out: &mut Writer<'_>,
    ) -> Result<(), Error> {
        let ([s0, s1], [r0, r1]) = (suite.code().to_be_bytes(), limits.record().to_be_bytes());
        let [p0, p1] = limits.packet().to_be_bytes();
        out.put(&[VERSION, s0, s1, mode.code(), 0, r0, r1, p0, p1])?;
        out.put(kid)
    }
}

/// M1 behind its header.
pub(crate) struct M1<'a> {
    pub(crate) before_box: &'a [u8],
    pub(crate) share: &'a [u8],
    /// ct_B, or the ticket in mode 4.
    pub(crate) ct: &'a [u8],
    pub(crate) sealed: &'a mut [u8],
}

impl<'a> M1<'a> {
    pub(crate) fn split(m1: &'a mut [u8], suite: SuiteId) -> Result<Self, Error> {
        let before_box = m1.len().checked_sub(BOX1_LEN).ok_or(Malformed::Length)?;
        let (before_box, sealed) = m1.split_at_mut(before_box);
        let before_box = &*before_box;
        let mut fields = Fields(before_box);
        fields.take(M1_FIXED_LEN)?;
        let share = fields.take(suite.group().share_len())?;
        Ok(Self {
            before_box,
            share,
            ct: fields.0,
            sealed,
        })
    }
}

/// M2 in its fields. Limits and options are not checked yet.
pub(crate) struct M2<'a> {
    pub(crate) before_box: &'a [u8],
    pub(crate) time: u64,
    pub(crate) record: u16,
    pub(crate) connect: u16,
    pub(crate) options: u16,
    pub(crate) offer: Offer<'a>,
    pub(crate) sealed: &'a [u8; TAG_LEN],
}

impl<'a> M2<'a> {
    pub(crate) fn split(m2: &'a [u8], suite: SuiteId, mode: Mode) -> Result<Self, Error> {
        if m2.len() != m2_len(suite, mode) {
            return Err(Malformed::Length.into());
        }
        let (before_box, sealed) = m2.split_last_chunk().ok_or(Malformed::Length)?;
        let mut fields = Fields(before_box);
        fields.take(NONCE_LEN)?;
        let time = u64::from_be_bytes(fields.array()?);
        let (record, connect, options) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let offer = Offer::parse(fields, suite, mode)?;
        Ok(Self {
            before_box,
            time,
            record,
            connect,
            options,
            offer,
            sealed,
        })
    }
}
