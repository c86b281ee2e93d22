//! Session tickets: what makes the next handshake cheaper.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hybrid_handshake::identity::{DeviceId, Fingerprint};
use hybrid_handshake::resume::{Ticket, WayOut};
use hybrid_handshake::suite::SuiteId;

use super::file::{self, Privacy};
use super::text;

/// The ticket of the last session, for the next one. Clones share it.
///
/// A ticket replaces the credential and the broker key's KEM in a handshake, for at most 24 hours and 16 sessions in a
/// row; then, and after two attempts with it that led nowhere, a full handshake is made. It is bound to the broker key,
/// the suite and the device, and never makes a connection weaker than the configuration asks for.
#[derive(Clone, Default)]
pub struct Tickets(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    held: Option<Held>,
    way_out: WayOut,
    file: Option<PathBuf>,
}

/// A ticket, and what it was given for.
pub(super) struct Held {
    pub(super) ticket: Arc<Ticket>,
    pub(super) owner: Owner,
    clock: Clock,
}

/// To whom a ticket belongs, and who gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The broker key of the session.
    pub(crate) broker: Fingerprint,
    /// The device of the session; `None` for an anonymous one.
    pub(crate) device: Option<DeviceId>,
}

/// The broker's clock, as far as it is known here.
#[derive(Clone, Copy)]
enum Clock {
    /// What it showed, and when.
    Broker { unix_s: u64, at: Instant },
    /// Not at all: a ticket of another process is judged by the system's clock. A wrong guess costs a failed attempt.
    System,
}

impl Tickets {
    /// Keeps the ticket in memory.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Keeps it in a file of mode 0600, for programs that live shorter than a ticket. The file is consumed by the first
    /// attempt that uses it, so that a ticket that does not work any more is in nobody's way.
    pub fn in_file(path: &Path) -> Self {
        Self(Arc::new(Mutex::new(State {
            file: Some(path.to_owned()),
            ..State::default()
        })))
    }

    /// A ticket that is worth an attempt of `owner` with `suite`.
    pub(crate) fn for_attempt(&self, owner: &Owner, suite: SuiteId) -> Option<Arc<Ticket>> {
        let mut state = self.state();
        if state.held.is_none() {
            state.held = state.file.as_deref().and_then(take);
        }
        let held = state.held.as_ref()?;
        let usable = held.owner == *owner && held.ticket.is_usable(suite, held.clock.now());
        (usable && state.way_out.allows_ticket()).then(|| held.ticket.clone())
    }

    /// An attempt with the ticket has ended without an M4.
    pub(crate) fn failed(&self) {
        self.state().way_out.ticket_failed();
    }

    /// An M4 has opened.
    pub(crate) fn m4_opened(&self) {
        let mut state = self.state();
        // A full handshake went where attempts with the ticket came to nothing: it is in the way from now on, also if
        // the session ends before it brings another.
        if !state.way_out.allows_ticket() {
            state.held = None;
        }
        state.way_out.m4_opened();
    }

    /// The broker has opened the ticket and refused the session all the same: what it stands for is gone.
    pub(crate) fn revoked(&self) {
        self.state().held = None;
    }

    /// A session has brought a new ticket, which replaces the old one. `broker_time` is when its M2 was written.
    pub(crate) fn received(&self, ticket: Ticket, owner: Owner, broker_time: u64) {
        let clock = Clock::Broker {
            unix_s: broker_time,
            at: Instant::now(),
        };
        let held = Held {
            ticket: Arc::new(ticket),
            owner,
            clock,
        };
        let mut state = self.state();
        if let (Some(path), Some(line)) = (&state.file, text::format_ticket(&held))
            && let Err(error) = file::replace(path, &line)
        {
            tracing::warn!(%error, "the session ticket is kept in memory only");
        }
        state.held = Some(held);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads and removes a ticket file. One that cannot be used is as good as none.
fn take(path: &Path) -> Option<Held> {
    let text = file::read(path, Privacy::Secret).ok()?;
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "cannot consume the session ticket, so it is not used");
        return None;
    }
    text::parse_ticket(&text)
}

impl Held {
    pub(super) fn from_file(ticket: Ticket, owner: Owner) -> Self {
        Self {
            ticket: Arc::new(ticket),
            owner,
            clock: Clock::System,
        }
    }
}

impl Clock {
    fn now(self) -> u64 {
        match self {
            Self::Broker { unix_s, at } => unix_s.saturating_add(at.elapsed().as_secs()),
            Self::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        }
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let owner = state.held.as_ref().map(|held| held.owner);
        f.debug_struct("Tickets")
            .field("held_for", &owner)
            .field("file", &state.file)
            .finish()
    }
}
