//! Everything a connection needs to know beforehand.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hybrid_handshake::suite::{AnySuite, SuiteId};

use crate::error::{ConfigError, Error};
use crate::store::{Credential, Pins, Tickets};
use crate::stream::handshake;
use crate::stream::prepared::Shelf;
use crate::wire::Observer;

/// How to connect: to whom, as whom, with which suite. Cheap to clone; clones share pins, tickets and the first message
/// of a handshake that is prepared.
#[derive(Clone)]
pub struct Config {
    pub(crate) pins: Pins,
    pub(crate) credential: Credential,
    pub(crate) suite: SuiteId,
    pub(crate) floor: Option<SuiteId>,
    pub(crate) record_limit: u16,
    pub(crate) packet_limit: u16,
    pub(crate) timeouts: Timeouts,
    pub(crate) tickets: Option<Tickets>,
    pub(crate) reauthenticate: Reauthenticate,
    pub(crate) shelf: Shelf,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// How long to wait for the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the TCP connection, name resolution included.
    pub dial: Duration,
    /// For each answer of the handshake, from the moment the question was sent.
    pub step: Duration,
}

/// When a session proves anew who this device is and takes new keys, besides on request. A broker ends a session that has
/// not done so for seven days, and takes one a minute at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reauthenticate {
    /// After this time; `None` leaves it to the other limits and to requests.
    pub every: Option<Duration>,
    /// After this many records, both directions together.
    pub records: Option<u64>,
    /// After this many bytes of records, both directions together.
    pub bytes: Option<u64>,
}

impl Config {
    /// The default suite, no floor, records and packets of up to 16 KiB, ten seconds for each step.
    ///
    /// [`Credential::Anonymous`] has to be asked for by its name: nothing falls back to it.
    pub fn new(pins: Pins, credential: Credential) -> Self {
        Self {
            pins,
            credential,
            suite: SuiteId::HOST_DEFAULT,
            floor: None,
            record_limit: 16_384,
            packet_limit: 16_384,
            timeouts: Timeouts::default(),
            tickets: Some(Tickets::in_memory()),
            reauthenticate: Reauthenticate::default(),
            shelf: Shelf::default(),
            observer: None,
        }
    }

    /// Uses `suite`, and no other, whatever a broker answers.
    #[must_use]
    pub fn suite(mut self, suite: SuiteId) -> Self {
        self.suite = suite;
        self
    }

    /// Refuses to connect with a suite weaker than `floor`.
    #[must_use]
    pub fn floor(mut self, floor: SuiteId) -> Self {
        self.floor = Some(floor);
        self
    }

    /// The largest record plaintext (64..=16384 bytes) and the largest packet of the handshake (128..=16384 bytes) that
    /// the broker may send. A smaller packet limit makes it cut M2 in pieces.
    #[must_use]
    pub fn limits(mut self, record: u16, packet: u16) -> Self {
        (self.record_limit, self.packet_limit) = (record, packet);
        self
    }

    /// Waits no longer than this.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Where the session ticket is kept: in memory unless set. `None` asks for no tickets: every handshake is a full one.
    #[must_use]
    pub fn tickets(mut self, tickets: Option<Tickets>) -> Self {
        self.tickets = tickets;
        self
    }

    /// When sessions re-authenticate: every 24 hours unless set.
    #[must_use]
    pub fn reauthenticate(mut self, when: Reauthenticate) -> Self {
        self.reauthenticate = when;
        self
    }

    /// Tells `observer` of every packet and record.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Makes the first message of the next handshake now, while there is time: a key encapsulation and a key pair. It
    /// stays in memory for a day at most, is used once and, like any first message, sent again unchanged if nobody has
    /// answered it. A [`Bridge`](crate::Bridge) does this by itself whenever a connection has ended.
    ///
    /// # Errors
    /// As [`Config::check`], and [`Error::Random`].
    pub fn prepare(&self) -> Result<(), Error> {
        handshake::prepare(self)
    }

    /// Finds settings that cannot work, before anything is sent.
    ///
    /// # Errors
    /// Says which setting and what to do.
    pub fn check(&self) -> Result<(), ConfigError> {
        AnySuite::new(self.suite).ok_or(ConfigError::Suite)?;
        if self.floor.is_some_and(|floor| !self.suite.meets(floor)) {
            return Err(ConfigError::Floor);
        }
        if self.suite.group() != self.pins.group() {
            return Err(ConfigError::Group);
        }
        if !self.credential.mode().allowed_in(self.suite.profile()) {
            return Err(ConfigError::Mode);
        }
        if let Credential::Kem { key, .. } = &self.credential
            && key.kind() != Some((self.suite.kem(), self.suite.group()))
        {
            return Err(ConfigError::DeviceKey);
        }
        if !(64..=16_384).contains(&self.record_limit) || !(128..=16_384).contains(&self.packet_limit) {
            return Err(ConfigError::Limits);
        }
        Ok(())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("pins", &self.pins)
            .field("credential", &self.credential)
            .field("suite", &self.suite)
            .field("floor", &self.floor)
            .finish_non_exhaustive()
    }
}

impl Default for Reauthenticate {
    /// Every 24 hours. Records need no limit of their own: their keys are replaced every 65536 of them anyway.
    fn default() -> Self {
        Self {
            every: Some(Duration::from_secs(24 * 60 * 60)),
            records: None,
            bytes: None,
        }
    }
}

impl Default for Timeouts {
    /// Ten seconds for each.
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(10),
            step: Duration::from_secs(10),
        }
    }
}
