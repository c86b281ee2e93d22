//! What a client learns of the broker keys after its own: the fingerprint of the successor, and the successor itself once
//! its own key retires.

use std::{collections::VecDeque, sync::Arc};

use hybrid_handshake::{
    control::{self, HEADER_LEN, Kind},
    identity::{Fingerprint, Kid},
};
use tokio::sync::watch::Receiver;

use super::Say;
use crate::{
    keys::{Entry, KeyRing},
    metrics::{KeyNewsLabel, Metrics},
    registry::KeyState,
};

/// The news of one session.
pub(super) struct KeyNews<'a> {
    keys: Receiver<Arc<KeyRing>>,
    kid: Kid,
    /// Whether there is still something to tell.
    successor: bool,
    next: bool,
    metrics: &'a Metrics,
}

impl<'a> KeyNews<'a> {
    /// For a session under the key `kid`. `wanted` is the option of the session, `full` tells a full handshake from a
    /// resumption.
    pub(super) fn new(keys: Receiver<Arc<KeyRing>>, kid: Kid, wanted: bool, full: bool, metrics: &'a Metrics) -> Self {
        Self {
            keys,
            kid,
            successor: wanted && full,
            next: wanted,
            metrics,
        }
    }

    /// What the client should know by now and has not been told.
    pub(super) fn take(&mut self) -> VecDeque<Say> {
        let ring = self.keys.borrow_and_update().clone();
        // A key that is gone has said all it had to say.
        let Some(entry) = ring.get(&self.kid) else {
            return VecDeque::new();
        };
        let mut news = VecDeque::new();
        if let Some(successor) = entry.successor {
            if std::mem::take(&mut self.successor) {
                self.metrics
                    .key_news
                    .get_or_create(&KeyNewsLabel { kind: "successor" })
                    .inc();
                news.extend(message(Kind::Successor, successor.as_bytes()));
            }
            if let Some(public) = self.next_key(entry, &ring, &successor) {
                self.next = false;
                self.metrics
                    .key_news
                    .get_or_create(&KeyNewsLabel { kind: "next-key" })
                    .inc();
                news.extend(message(Kind::NextKey, public));
            }
        }
        news
    }

    /// Whether the client's key is on its way out.
    pub(super) fn key_retires(&self) -> bool {
        let state = self.keys.borrow().get(&self.kid).map(|entry| entry.state);
        state == Some(KeyState::Retiring)
    }

    /// Completes when there may be news.
    pub(super) async fn changed(&mut self) {
        if !self.next || self.keys.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn next_key<'r>(&self, entry: &Entry, ring: &'r KeyRing, successor: &Fingerprint) -> Option<&'r [u8]> {
        let due = self.next && entry.state == KeyState::Retiring;
        due.then(|| ring.public(successor)).flatten()
    }
}

fn message(kind: Kind, body: &[u8]) -> Option<Say> {
    let mut message = vec![0; HEADER_LEN + body.len()];
    control::write(kind, &[body], &mut message).ok()?;
    Some(Say::Message(message))
}
