//! The board's time, and where its measuring points are.

/// The board's time.
pub trait Clock {
    /// Milliseconds of any clock that runs forward. May wrap, but not between two handshakes.
    fn now_ms(&mut self) -> u32;

    /// Called again and again while there is nothing to do but wait: feed the watchdog, sleep until the next interrupt.
    fn idle(&mut self);

    /// A phase begins, or with `None` the last one ends. Phases do not nest.
    fn mark(&mut self, phase: Option<Phase>) {
        let _ = phase;
    }
}

/// What a board may measure. The numbers are those of its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The seed's successor is stored and the generator started.
    Boot = 1,
    /// M1 is made.
    Prepare,
    /// M1 goes out, until M2 is complete.
    AwaitM2,
    /// box2 is checked: symmetric work only.
    VerifyM2,
    /// M3 is made: every operation of KEM and group that needs M2.
    M3,
    /// M3 goes out, until M4 is complete.
    AwaitM4,
    /// M4 is opened and the keys of the session are made.
    M4,
    /// A message is written, sealed and sent.
    Publish,
    /// A record is opened.
    Record,
    /// Nothing to do but wait: for an acknowledgement, the next sample or the next attempt.
    Idle,
    /// A step of a re-authentication is made.
    Reauth,
    /// Self-test: encapsulation of the suite's KEM.
    KatKem = 0x10,
    /// Self-test: encapsulation of the broker key's KEM.
    KatBrokerKem,
    /// Self-test: X25519 with any point.
    KatX25519,
    /// Self-test: X25519 with the base point.
    KatX25519Base,
    /// Self-test: HKDF-Expand of 48 bytes.
    KatHkdf,
    /// Self-test: the AEAD around nothing.
    KatAead,
}

/// A point in time that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    start_ms: u32,
    limit_ms: u32,
}

impl Deadline {
    pub(crate) fn after(clock: &mut impl Clock, limit_ms: u32) -> Self {
        Self {
            start_ms: clock.now_ms(),
            limit_ms,
        }
    }

    pub(crate) fn left_ms(&self, clock: &mut impl Clock) -> u32 {
        self.limit_ms.saturating_sub(clock.now_ms().wrapping_sub(self.start_ms))
    }

    pub(crate) fn has_passed(&self, clock: &mut impl Clock) -> bool {
        clock.now_ms().wrapping_sub(self.start_ms) >= self.limit_ms
    }
}
