use super::{MAX_RESUMPTIONS, TICKET_LEN};
use crate::{
    Error, Established,
    identity::DeviceId,
    message::{Fields, Writer},
    schedule::Rms,
    suite::{Suite, SuiteId},
};

/// A ticket as its client keeps it. Secret, hence no `Debug`.
pub struct Ticket {
    sealed: [u8; TICKET_LEN],
    rms: Rms,
    suite: SuiteId,
    device: Option<DeviceId>,
    expires: u64,
    resumptions: u8,
}

impl Ticket {
    /// The ticket of a session, from its TICKET message. `device` is the id the session was made with, `last` the ticket
    /// that it used, if any.
    pub fn new<S: Suite>(
        session: &Established<S>,
        device: Option<DeviceId>,
        last: Option<&Self>,
        lifetime_s: u32,
        sealed: &[u8; TICKET_LEN],
    ) -> Self {
        let (suite, clock) = (session.suite.id(), session.broker_time);
        Self::from_parts(suite, &session.rms, clock, device, last, lifetime_s, sealed)
    }

    /// The same for a session that has been taken apart: its suite, its rms and the broker's clock when it wrote M2.
    pub fn from_parts(
        suite: SuiteId,
        rms: &Rms,
        broker_time: u64,
        device: Option<DeviceId>,
        last: Option<&Self>,
        lifetime_s: u32,
        sealed: &[u8; TICKET_LEN],
    ) -> Self {
        Self {
            sealed: *sealed,
            rms: Rms::from_bytes(*rms.expose()),
            suite,
            device,
            expires: broker_time.saturating_add(lifetime_s.into()),
            resumptions: last.map_or(0, |last| last.resumptions.saturating_add(1)),
        }
    }

    /// Whether it is worth an attempt with this suite, `now` being the broker's clock in Unix seconds UTC, as far as the
    /// client knows it.
    pub fn is_usable(&self, suite: SuiteId, now: u64) -> bool {
        self.suite == suite && now < self.expires && self.resumptions < MAX_RESUMPTIONS
    }

    /// When it stops to open, by the broker's clock, in Unix seconds UTC.
    pub const fn expires(&self) -> u64 {
        self.expires
    }

    /// The bytes for a store; they hold a secret.
    ///
    /// # Errors
    /// None that arguments can cause.
    pub fn store(&self, out: &mut [u8; STORED_LEN]) -> Result<(), Error> {
        let mut fields = Writer::new(out, STORED_LEN)?;
        fields.put(&self.sealed)?;
        fields.put(self.rms.expose())?;
        fields.put(&self.suite.code().to_be_bytes())?;
        fields.put(DeviceId::padded_or_zeros(self.device.as_ref()))?;
        fields.put(&self.expires.to_be_bytes())?;
        fields.put(&[self.resumptions])
    }

    /// A ticket out of a store.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Unsupported`] for a suite that this build does not know.
    pub fn load(stored: &[u8; STORED_LEN]) -> Result<Self, Error> {
        let mut fields = Fields(stored);
        let sealed = fields.array()?;
        let rms = Rms::from_bytes(fields.array()?);
        let suite = SuiteId::from_wire(fields.array()?)?;
        let id = fields.array()?;
        let device = if id == *DeviceId::padded_or_zeros(None) {
            None
        } else {
            Some(DeviceId::from_padded(&id)?)
        };
        let expires = u64::from_be_bytes(fields.array()?);
        let [resumptions] = fields.array()?;
        fields.finish()?;
        Ok(Self {
            sealed,
            rms,
            suite,
            device,
            expires,
            resumptions,
        })
    }

    pub(crate) const fn sealed(&self) -> &[u8; TICKET_LEN] {
        &self.sealed
    }

    pub(crate) const fn rms(&self) -> &Rms {
        &self.rms
    }

    pub(crate) const fn suite(&self) -> SuiteId {
        self.suite
    }

    pub(crate) const fn device(&self) -> Option<&DeviceId> {
        self.device.as_ref()
    }
}

/// Length of a stored ticket in bytes.
pub const STORED_LEN: usize = TICKET_LEN + 32 + 2 + DeviceId::MAX_LEN + 8 + 1;
