use crate::Malformed;

/// What a client is ready to take, told in M1. Both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    record: u16,
    packet: u16,
}

impl ClientLimits {
    /// `record`: the largest record plaintext, 64..=16384. `packet`: the largest outer packet, fixed header included,
    /// 128..=16384.
    ///
    /// # Errors
    /// [`Malformed::Value`].
    pub const fn new(record: u16, packet: u16) -> Result<Self, Malformed> {
        match (record, packet) {
            (64..=16384, 128..=16384) => Ok(Self { record, packet }),
            _ => Err(Malformed::Value),
        }
    }

    /// The largest record plaintext in bytes.
    pub const fn record(self) -> u16 {
        self.record
    }

    /// The largest outer packet in bytes.
    pub const fn packet(self) -> u16 {
        self.packet
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            record: 16384,
            packet: 16384,
        }
    }
}

/// What a broker is ready to take, told in M2. Both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerLimits {
    record: u16,
    connect: u16,
}

impl BrokerLimits {
    /// `record`: the largest record plaintext, 64..=16384. `connect`: the largest inner CONNECT, 1024..=61440.
    ///
    /// # Errors
    /// [`Malformed::Value`].
    pub const fn new(record: u16, connect: u16) -> Result<Self, Malformed> {
        match (record, connect) {
            (64..=16384, 1024..=61440) => Ok(Self { record, connect }),
            _ => Err(Malformed::Value),
        }
    }

    /// The largest record plaintext in bytes.
    pub const fn record(self) -> u16 {
        self.record
    }

    /// The largest inner CONNECT in bytes.
    pub const fn connect(self) -> u16 {
        self.connect
    }
}

impl Default for BrokerLimits {
    fn default() -> Self {
        Self {
            record: 16384,
            connect: 16384,
        }
    }
}

/// A set of optional features: the capabilities of M1, the options of M2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(u16);

impl Capabilities {
    /// None.
    pub const NONE: Self = Self(0);
    /// Session tickets.
    pub const TICKETS: Self = Self(1);
    /// News of the next broker key and of its successor.
    pub const KEY_NEWS: Self = Self(2);
    /// Re-authentication.
    pub const REAUTH: Self = Self(4);
    /// All of them.
    pub const ALL: Self = Self(7);

    /// # Errors
    /// [`Malformed::Reserved`] for a bit without a meaning.
    pub const fn from_bits(bits: u16) -> Result<Self, Malformed> {
        if bits & !Self::ALL.0 == 0 {
            Ok(Self(bits))
        } else {
            Err(Malformed::Reserved)
        }
    }

    /// As on the wire.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// This set but for `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether every feature of `other` is in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
