//! The sessions of this front, so that a revocation, new topic rules or a new policy can end them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hybrid_handshake::{mqtt::ReasonCode, suite::SuiteId};
use tokio::{sync::oneshot, time::sleep};

use super::Shared;
use crate::{
    policy::{Policy, TopicRules, Topics},
    registry::{Changed, Device},
};

/// Sessions by connection.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<HashMap<u64, Session>>>);

struct Session {
    admitted: Admitted,
    /// Gone once it was used.
    end: Option<oneshot::Sender<Ended>>,
}

/// What a session was let in with.
pub(super) struct Admitted {
    pub(super) suite: SuiteId,
    /// As the back end sees it.
    pub(super) client_id: String,
    /// `None` for an anonymous client.
    pub(super) device: Option<AdmittedDevice>,
    /// That of an anonymous client.
    pub(super) user_name: Option<String>,
    /// What the guard allows; `None` for everything.
    pub(super) topics: Option<Arc<Topics>>,
}

/// The part of a registry's row by which its sessions are judged.
pub(super) struct AdmittedDevice {
    id: String,
    generation: u32,
    client_ids: Vec<String>,
    topics: TopicRules,
    rules: u32,
}

/// Why a session has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Its device is revoked, or has another credential.
    Revoked,
    /// The client may do something else than when it was let in.
    Topics,
    /// The policy would not let it in any more.
    Policy,
}

impl Ended {
    /// Name in log and metrics, and what the client is told.
    pub(super) const fn parts(self) -> (&'static str, ReasonCode) {
        match self {
            Self::Revoked => ("revoked", ReasonCode::NotAuthorized),
            Self::Topics => ("topics", ReasonCode::AdministrativeAction),
            Self::Policy => ("policy", ReasonCode::AdministrativeAction),
        }
    }
}

impl AdmittedDevice {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            id: device.id.clone(),
            generation: device.generation,
            client_ids: device.client_ids.clone(),
            topics: device.topics.clone(),
            rules: device.rules,
        }
    }
}

impl Admitted {
    /// Whether `policy` would let it in, and with the same rules.
    fn judge(&self, policy: &Policy) -> Result<(), Ended> {
        let allowed = match &self.device {
            Some(device) => policy.client_id.allows(&device.id, &device.client_ids, &self.client_id),
            None => {
                let reserved = |name: &String| policy.user_form.is_reserved(&policy.user_prefix, name);
                policy.allow_anonymous && !self.user_name.as_ref().is_some_and(reserved)
            }
        };
        if !(allowed && policy.allows_suite(self.suite)) {
            return Err(Ended::Policy);
        }
        let device = self.device.as_ref();
        let topics = policy.topics(device.map(|device| (device.id.as_str(), &device.topics)));
        if topics.as_ref() == self.topics.as_deref() {
            Ok(())
        } else {
            Err(Ended::Topics)
        }
    }

    fn check(&self, changed: &HashMap<&str, &Changed>) -> Result<(), Ended> {
        let Some(device) = &self.device else { return Ok(()) };
        match changed.get(device.id.as_str()) {
            Some(now) if device.generation < now.valid => Err(Ended::Revoked),
            Some(now) if device.rules != now.rules => Err(Ended::Topics),
            _ => Ok(()),
        }
    }
}

impl Live {
    /// Ends the sessions that fail `check`.
    fn retain(&self, check: impl Fn(&Admitted) -> Result<(), Ended>) {
        self.lock().values_mut().for_each(|session| session.keep_if(&check));
    }

    fn has_devices(&self) -> bool {
        self.lock().values().any(|session| session.admitted.device.is_some())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn keep_if(&mut self, check: impl Fn(&Admitted) -> Result<(), Ended>) {
        if let Err(why) = check(&self.admitted)
            && let Some(end) = self.end.take()
        {
            // It may be ending by itself.
            let _ = end.send(why);
        }
    }
}

/// One listed session.
pub(super) struct Entry {
    live: Live,
    connection: u64,
    ended: oneshot::Receiver<Ended>,
}

impl Entry {
    /// Waits until the session has to end.
    pub(super) async fn ended(&mut self) -> Ended {
        match (&mut self.ended).await {
            Ok(why) => why,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.live.lock().remove(&self.connection);
    }
}

/// Lists a session for as long as the entry lives.
pub(super) fn enter(shared: &Shared, connection: u64, admitted: Admitted) -> Entry {
    let (end, ended) = oneshot::channel();
    let session = Session {
        admitted,
        end: Some(end),
    };
    let mut live = shared.live.lock();
    // A policy that came before the session was listed has not judged it.
    live.entry(connection)
        .insert_entry(session)
        .get_mut()
        .keep_if(|admitted| admitted.judge(&shared.policy()));
    Entry {
        live: shared.live.clone(),
        connection,
        ended,
    }
}

/// Ends the sessions that a new policy does not allow.
pub(super) fn judge(shared: &Shared) {
    let policy = shared.policy();
    shared.live.retain(|admitted| admitted.judge(&policy));
}

/// Ends the sessions of devices that were revoked or have other rules, by this process or another: as soon as the registry
/// tells, and at least at every poll.
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
            if shared.live.has_devices() {
                devices(&shared).await;
            }
        }
    }
}

/// Loads everything again that the registry may have changed.
pub(super) async fn refresh(shared: &Shared) {
    shared.tickets.refresh(&shared.registry, &shared.metrics).await;
    keys(shared).await;
    devices(shared).await;
}

async fn keys(shared: &Shared) {
    if shared.keys.refresh(&shared.registry, &shared.metrics).await {
        shared.metrics.key_changes.inc();
    }
}

async fn devices(shared: &Shared) {
    let changed = shared.registry.changed().await;
    shared.metrics.registry_up.set(changed.is_ok().into());
    match changed {
        Ok(changed) => {
            let changed: HashMap<&str, &Changed> = changed.iter().map(|row| (row.id.as_str(), row)).collect();
            shared.live.retain(|admitted| admitted.check(&changed));
        }
        Err(error) => {
            tracing::warn!(%error, "cannot look for revocations");
            shared.metrics.registry_failed("revocations");
        }
    }
}
