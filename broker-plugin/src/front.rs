//! The front: a listener whose connections carry MQTT through HKM1 to a back end.

mod builder;
mod connection;
mod decoys;
mod flights;
mod inner;
mod live;
mod outer;
mod seen;
mod splice;

use std::{
    net::SocketAddr,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hybrid_handshake::identity::DecoySecret;
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use builder::advice;
pub use builder::{BuildError, FrontBuilder};

use crate::{
    Limits, Metrics, Registry,
    admin::Admin,
    admission::{Admission, Workers},
    backend::Connector,
    clock::Clock,
    keys::Keys,
    policy::Policy,
    tickets::Tickets,
    wire::Observer,
};
use decoys::Decoys;
use live::Live;
use seen::Seen;

/// A running front. Dropping it stops it without waiting; [`Front::shutdown`] waits.
pub struct Front {
    shared: Arc<Shared>,
    local_addr: SocketAddr,
    admin: Option<Admin>,
}

impl Front {
    /// Starts with defaults: any free loopback port, no back end and no registry yet.
    #[must_use]
    pub fn builder() -> FrontBuilder {
        FrontBuilder::default()
    }

    /// The address of the listener.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The address of the metrics page, if there is one.
    #[must_use]
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Admin::local_addr)
    }

    /// The counters.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// The counters, for longer than the front lives.
    #[must_use]
    pub fn metrics_handle(&self) -> Arc<Metrics> {
        self.shared.metrics.clone()
    }

    /// The line that clients pin, `hkm1-broker ...`, for each current key.
    ///
    /// # Errors
    /// The registry's.
    pub async fn broker_lines(&self) -> Result<Vec<String>, crate::RegistryError> {
        self.shared.registry.broker_lines().await
    }

    /// Takes over the policy of `settings` (anonymous clients, client ids, lowest suite, user prefix, password, topics,
    /// Server Reference) and loads ticket keys, broker keys, revocations and topic rules from the registry again. Sessions
    /// that the new policy would not let in, or with other topic rules, are told 0x98 and end; all others go on.
    /// Everything else in `settings` is ignored.
    pub async fn reload(&self, settings: FrontBuilder) {
        let policy = Arc::new(settings.into_policy());
        *self.shared.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
        live::judge(&self.shared);
        live::refresh(&self.shared).await;
    }

    /// Stops listening, tells every client, waits until all connections are gone.
    pub async fn shutdown(mut self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.backend.shutdown().await;
        if let Some(admin) = self.admin.take() {
            admin.stopped().await;
        }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Front")
            .field("local_addr", &self.local_addr)
            .finish_non_exhaustive()
    }
}

/// What all connections share.
struct Shared {
    registry: Registry,
    keys: Keys,
    decoy: DecoySecret,
    decoys: Decoys,
    policy: RwLock<Arc<Policy>>,
    limits: Limits,
    backend: Arc<dyn Connector>,
    /// Largest Remaining Length that the guard lets through; `None` without a guard.
    guard: Option<u32>,
    admission: Admission,
    workers: Workers,
    live: Live,
    seen: Seen,
    tickets: Tickets,
    clock: Clock,
    metrics: Arc<Metrics>,
    observer: Option<Observer>,
    tasks: TaskTracker,
    stop: CancellationToken,
    connections: AtomicU64,
}

impl Shared {
    fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Accepts until the front stops.
async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => start(&shared, stream, peer),
            Err(error) => {
                // Mostly no file descriptors: they come back when connections end.
                tracing::warn!(%error, "accept");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

fn start(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    shared.metrics.connections.inc();
    let permit = shared.admission.admit(peer.ip(), Instant::now());
    if permit.is_err() && shared.tasks.len() > shared.limits.connections + MAX_REFUSALS {
        // Even saying no costs a task.
        return;
    }
    let id = shared.connections.fetch_add(1, Ordering::Relaxed) + 1;
    shared
        .tasks
        .spawn(connection::run(shared.clone(), stream, peer, id, permit));
}

/// Connections over the limit that get an answer at the same time.
const MAX_REFUSALS: usize = 64;
