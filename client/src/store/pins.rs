//! The broker key a client trusts, and how it moves on to the next one.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hybrid_handshake::identity::{BrokerKey, Fingerprint};
use hybrid_handshake::suite::Group;

use super::file::{self, Privacy};
use super::text;
use crate::error::Error;

/// The pinned key of a broker. Clones share it, so that what one connection learns holds for all.
///
/// A pin is the key and, once known, the fingerprint of its successor. The broker announces the successor in a session
/// under the key itself, and the first announcement counts. When the operator rotates the key, the new one comes in such
/// a session too, and is believed only if it has that fingerprint; the old key goes when the new one has proved itself.
#[derive(Clone)]
pub struct Pins(Arc<Shared>);

struct Shared {
    file: Option<Box<Path>>,
    state: Mutex<State>,
}

struct State {
    current: Pin,
    /// A key that has the successor's fingerprint and has not proved itself yet.
    next: Option<Pin>,
    attempts: u32,
    /// Announcements and offers that contradicted the pin.
    ignored: u32,
}

/// A broker key in its encoding, and what is known of its successor.
#[derive(Clone)]
pub(super) struct Pin {
    pub(super) key: Arc<[u8]>,
    pub(super) fingerprint: Fingerprint,
    pub(super) group: Group,
    pub(super) successor: Option<Fingerprint>,
}

impl Pins {
    /// Reads a pin file: a line `hkm1-broker <base64> [successor fingerprint]`, and a second one while a new key has not
    /// been used yet. What connections learn is written back to the file.
    ///
    /// # Errors
    /// [`Error::File`], also if others than the owner may write the file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = file::read(path, Privacy::Pinned)?;
        let (current, next) = text::parse_pins(&text).map_err(|what| super::format_error(path, what))?;
        Ok(Self::new(Some(path.into()), current, next))
    }

    /// Takes the lines of a pin file from elsewhere; what connections learn is kept in memory only.
    ///
    /// # Errors
    /// [`Error::File`] with the path `pin`.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let (current, next) = text::parse_pins(text).map_err(|what| super::format_error(Path::new("pin"), what))?;
        Ok(Self::new(None, current, next))
    }

    /// The fingerprint of the current key, to be compared with the one that the broker shows.
    pub fn fingerprint(&self) -> Fingerprint {
        self.state().current.fingerprint
    }

    /// The fingerprint of the key that comes next, if it is known.
    pub fn successor(&self) -> Option<Fingerprint> {
        self.state().current.successor
    }

    /// How many successors and next keys were ignored because they were not the ones that count. More than 0 means that a
    /// broker key was stolen, or that its operator made a mistake.
    pub fn ignored_news(&self) -> u32 {
        self.state().ignored
    }

    pub(crate) fn group(&self) -> Group {
        self.state().current.group
    }

    /// The key for the next attempt: the only one, or the new and the old in turn, because the broker may not have gone
    /// over to the new one everywhere.
    pub(crate) fn for_attempt(&self) -> Arc<[u8]> {
        let state = &mut *self.state();
        let key = state.turn();
        state.attempts = state.attempts.wrapping_add(1);
        key
    }

    /// The key that the next attempt will have, as far as it can be told now.
    pub(crate) fn next_attempt(&self) -> Arc<[u8]> {
        self.state().turn()
    }

    /// The broker has proved `key`: if it is the new one, the old one goes.
    pub(crate) fn proved(&self, key: &Fingerprint) {
        let mut state = self.state();
        state.attempts = 0;
        if let Some(next) = state.next.take_if(|next| next.fingerprint == *key) {
            tracing::info!(fingerprint = %next.fingerprint, "the broker's new key is in use, the old one is forgotten");
            state.current = next;
            self.save(state);
        }
    }

    /// A session under `key` announced the fingerprint of its successor.
    pub(crate) fn announced(&self, key: &Fingerprint, successor: &Fingerprint) {
        let mut state = self.state();
        if state.current.fingerprint != *key {
            return;
        }
        match state.current.successor {
            Some(known) if known == *successor => {}
            Some(known) => {
                state.ignored = state.ignored.saturating_add(1);
                tracing::warn!(%known, announced = %successor, "another successor was announced and ignored");
            }
            None => {
                state.current.successor = Some(*successor);
                self.save(state);
            }
        }
    }

    /// A session under `key` brought a new broker key in its encoding.
    pub(crate) fn offered(&self, key: &Fingerprint, next: &[u8]) {
        let mut state = self.state();
        let Some(next) = BrokerKey::parse(next).ok().map(|parsed| Pin::new(next, &parsed, None)) else {
            tracing::warn!("a new broker key was malformed and ignored");
            return;
        };
        if state.current.fingerprint != *key || state.next.as_ref().is_some_and(|n| n.fingerprint == next.fingerprint) {
            return;
        }
        if state.current.successor == Some(next.fingerprint) {
            state.next = Some(next);
            self.save(state);
        } else {
            state.ignored = state.ignored.saturating_add(1);
            tracing::warn!(fingerprint = %next.fingerprint, "a new broker key is not the announced successor and was ignored");
        }
    }

    fn new(file: Option<Box<Path>>, current: Pin, next: Option<Pin>) -> Self {
        Self(Arc::new(Shared {
            file,
            state: Mutex::new(State {
                current,
                next,
                attempts: 0,
                ignored: 0,
            }),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the file while the state is held, so that two changes cannot overtake each other. A few kilobytes, at most
    /// three times in the life of a key.
    fn save(&self, state: MutexGuard<'_, State>) {
        let Some(path) = &self.0.file else { return };
        let pins = [Some(&state.current), state.next.as_ref()];
        if let Err(error) = file::replace(path, &text::format_pins(pins.into_iter().flatten())) {
            tracing::warn!(%error, "what was learned of the broker's next key lasts until this program ends");
        }
    }
}

impl State {
    fn turn(&self) -> Arc<[u8]> {
        match &self.next {
            Some(next) if self.attempts.is_multiple_of(2) => next.key.clone(),
            _ => self.current.key.clone(),
        }
    }
}

impl Pin {
    pub(super) fn new(encoded: &[u8], key: &BrokerKey<'_>, successor: Option<Fingerprint>) -> Self {
        Self {
            key: encoded.into(),
            fingerprint: *key.fingerprint(),
            group: key.public().group(),
            successor,
        }
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Pins")
            .field("current", &state.current.fingerprint)
            .field("successor", &state.current.successor)
            .field("next", &state.next.as_ref().map(|next| next.fingerprint))
            .finish()
    }
}
