//! M1 made while there is time, and kept until a broker has answered it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hybrid_handshake::client::AwaitM2;
use hybrid_handshake::identity::{DeviceId, Fingerprint};
use hybrid_handshake::message::{Capabilities, ClientLimits};
use hybrid_handshake::resume::Ticket;
use hybrid_handshake::suite::{AnySuite, SuiteId};
use tokio::time::Instant;

/// Place for one M1, in memory only.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<Option<Prepared>>>);

/// An M1 in its packet, and what reads the answer. It may go out on any number of connections, unchanged, until one M2
/// verifies.
pub(super) struct Prepared {
    pub(super) packet: Vec<u8>,
    pub(super) state: AwaitM2<AnySuite>,
    made_of: MadeOf,
    made_at: Instant,
}

/// What an M1 depends on, besides randomness.
#[derive(Clone)]
pub(super) struct MadeOf {
    pub(super) broker: Fingerprint,
    pub(super) device: Option<DeviceId>,
    pub(super) ticket: Option<Arc<Ticket>>,
    pub(super) suite: SuiteId,
    pub(super) limits: ClientLimits,
    pub(super) capabilities: Capabilities,
}

impl Shelf {
    /// Takes the M1 that was made of this, if it is not too old. Any other is thrown away.
    pub(super) fn take(&self, wanted: &MadeOf) -> Option<Prepared> {
        self.lock().take().filter(|prepared| prepared.fits(wanted))
    }

    /// Whether there is such an M1.
    pub(super) fn has(&self, wanted: &MadeOf) -> bool {
        self.lock().as_ref().is_some_and(|prepared| prepared.fits(wanted))
    }

    /// Keeps an M1 that no M2 has answered.
    pub(super) fn put(&self, prepared: Prepared) {
        *self.lock() = Some(prepared);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Prepared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prepared {
    pub(super) fn new(packet: Vec<u8>, state: AwaitM2<AnySuite>, made_of: MadeOf) -> Self {
        Self {
            packet,
            state,
            made_of,
            made_at: Instant::now(),
        }
    }

    fn fits(&self, wanted: &MadeOf) -> bool {
        self.made_of.is(wanted) && self.made_at.elapsed() < LIFE
    }
}

impl MadeOf {
    fn is(&self, other: &Self) -> bool {
        let same_ticket = match (&self.ticket, &other.ticket) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        same_ticket
            && self.broker == other.broker
            && self.device == other.device
            && self.suite == other.suite
            && self.limits == other.limits
            && self.capabilities == other.capabilities
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shelf").field(&self.lock().is_some()).finish()
    }
}

/// An M1 that waits longer is thrown away.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
