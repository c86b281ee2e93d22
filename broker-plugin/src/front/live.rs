//! Which devices have sessions here, so that a revocation can end them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Shared;

/// Sessions by device id.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<Sessions>>);

type Sessions = HashMap<String, HashMap<u64, Session>>;

struct Session {
    /// Of the credential that it began with.
    generation: u32,
    revoked: CancellationToken,
}

impl Live {
    /// Lists a session for as long as the entry lives.
    pub(super) fn enter(&self, device: &str, generation: u32, connection: u64) -> Entry {
        let revoked = CancellationToken::new();
        let session = Session {
            generation,
            revoked: revoked.clone(),
        };
        self.lock()
            .entry(device.to_owned())
            .or_default()
            .insert(connection, session);
        Entry {
            live: self.clone(),
            device: device.to_owned(),
            connection,
            revoked,
        }
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Ends the sessions of these devices whose credential is of an earlier generation.
    fn revoke(&self, withdrawn: &[(String, u32)]) {
        let live = self.lock();
        for (device, valid) in withdrawn {
            let sessions = live.get(device).into_iter().flat_map(HashMap::values);
            sessions
                .filter(|session| session.generation < *valid)
                .for_each(|session| session.revoked.cancel());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One listed session.
pub(super) struct Entry {
    live: Live,
    device: String,
    connection: u64,
    /// Fires when the device is revoked.
    pub(super) revoked: CancellationToken,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut live = self.live.lock();
        if let Some(sessions) = live.get_mut(&self.device) {
            sessions.remove(&self.connection);
            if sessions.is_empty() {
                live.remove(&self.device);
            }
        }
    }
}

/// Ends the sessions of devices that were revoked, here or by another process: as soon as the registry tells, and at
/// least at every poll.
pub(super) async fn watch(shared: Arc<Shared>) {
    let mut changes = shared.registry.changes();
    loop {
        let changed = tokio::select! {
            () = shared.stop.cancelled() => return,
            () = sleep(shared.limits.revocation_poll) => false,
            () = changes.next() => true,
        };
        if changed {
            refresh(&shared).await;
        } else {
            keys(&shared).await;
            if !shared.live.is_empty() {
                revoke(&shared).await;
            }
        }
    }
}

/// Loads everything again that the registry may have changed.
pub(super) async fn refresh(shared: &Shared) {
    shared.tickets.refresh(&shared.registry, &shared.metrics).await;
    keys(shared).await;
    revoke(shared).await;
}

async fn keys(shared: &Shared) {
    if shared.keys.refresh(&shared.registry, &shared.metrics).await {
        shared.metrics.key_changes.inc();
    }
}

async fn revoke(shared: &Shared) {
    let withdrawn = shared.registry.withdrawn().await;
    shared.metrics.registry_up.set(withdrawn.is_ok().into());
    match withdrawn {
        Ok(withdrawn) => shared.live.revoke(&withdrawn),
        Err(error) => {
            tracing::warn!(%error, "cannot look for revocations");
            shared.metrics.registry_failed("revocations");
        }
    }
}
