//! Settings of a front before it runs.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, RwLock, atomic::AtomicU64},
};

use hybrid_handshake::{
    identity::DecoySecret,
    message::BrokerLimits,
    suite::{AnySuite, Suite as _, SuiteId},
};
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Front, Shared, accept, decoys::Decoys, live, seen::Seen};
use crate::{
    Backend, Limits, Metrics, Registry, RegistryError,
    admin::Admin,
    admission::{Admission, Workers},
    clock::Clock,
    keys::{KeyError, Keys},
    policy::{ClientIdPolicy, Policy, TopicRules, UserForm},
    tickets::{Source, Tickets},
    wire::{Observer, WireEvent},
};

/// Collects the settings of a [`Front`].
#[derive(Default)]
pub struct FrontBuilder {
    listen: Option<String>,
    backend: Option<Backend>,
    registry: Option<Registry>,
    policy: Policy,
    limits: Limits,
    metrics: Option<SocketAddr>,
    observer: Option<Observer>,
    tickets: Source,
    clock: Clock,
}

impl FrontBuilder {
    /// The address to listen on, such as `0.0.0.0:1884`; port 0 takes a free one. Default: `127.0.0.1:0`.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = Some(address.into());
        self
    }

    /// Where MQTT goes. Required.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Devices and keys. Required, with at least one broker key in it.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Whether clients without an identity may connect. They get no user name from us and bring their own login.
    #[must_use]
    pub const fn allow_anonymous(mut self, allow: bool) -> Self {
        self.policy.allow_anonymous = allow;
        self
    }

    /// Which MQTT client ids a device may use.
    #[must_use]
    pub const fn client_id(mut self, policy: ClientIdPolicy) -> Self {
        self.policy.client_id = policy;
        self
    }

    /// The weakest suite that any client may use.
    #[must_use]
    pub const fn lowest_suite(mut self, suite: SuiteId) -> Self {
        self.policy.lowest_suite = Some(suite);
        self
    }

    /// Prefix of the user name that the back end sees for a device. Anonymous clients may not use it.
    #[must_use]
    pub fn user_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.policy.user_prefix = prefix.into();
        self
    }

    /// How the device id stands behind that prefix.
    #[must_use]
    pub const fn user_form(mut self, form: UserForm) -> Self {
        self.policy.user_form = form;
        self
    }

    /// The password that the back end sees for a device, so that it can tell the front from others.
    #[must_use]
    pub fn backend_password(mut self, password: impl Into<Vec<u8>>) -> Self {
        self.policy.password = Some(password.into());
        self
    }

    /// The topics that devices without rules of their own may use, and anonymous clients. What is not a rule (see
    /// [`TopicRules::invalid`]) matches nothing.
    #[must_use]
    pub fn topics(mut self, rules: TopicRules) -> Self {
        self.policy.topics = rules;
        self
    }

    /// The topics of anonymous clients, before those of [`FrontBuilder::topics`].
    #[must_use]
    pub fn anonymous_topics(mut self, rules: TopicRules) -> Self {
        self.policy.anonymous_topics = rules;
        self
    }

    /// What clients see where the back end names another server; without it the name is dropped.
    #[must_use]
    pub fn server_reference(mut self, reference: Option<String>) -> Self {
        self.policy.server_reference = reference;
        self
    }

    /// Budgets and time limits.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Takes the ticket keys from this file of mode 0600 instead of the registry: one or two lines of 64 hexadecimal
    /// digits, of which the first seals and both open.
    #[must_use]
    pub fn ticket_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tickets = Source::File(path.into());
        self
    }

    /// Serves the admin page, metrics and health on this address. It names every device and asks for no password: keep
    /// it on loopback or on a network of your own.
    #[must_use]
    pub const fn metrics(mut self, address: SocketAddr) -> Self {
        self.metrics = Some(address);
        self
    }

    /// Calls `observer` for each step on the wire. It runs on the network threads: it must not block.
    #[must_use]
    pub fn observer(mut self, observer: impl Fn(&WireEvent) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Takes the time of day, in Unix seconds, from `unix` instead of the system: tickets and their keys age by it.
    /// Time limits do not: they run on a clock that nobody sets.
    #[must_use]
    pub fn clock(mut self, unix: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(unix);
        self
    }

    pub(super) fn into_policy(self) -> Policy {
        self.policy
    }

    /// Loads the keys, binds the listener and starts.
    ///
    /// # Errors
    /// [`BuildError`].
    pub async fn build(self) -> Result<Front, BuildError> {
        let backend = self.backend.ok_or(BuildError::Missing("backend"))?;
        let registry = self.registry.ok_or(BuildError::Missing("registry"))?;
        BrokerLimits::new(self.limits.record, self.limits.connect).map_err(|_| BuildError::Limits)?;
        let keys = Keys::load(&registry).await?;
        let decoys = Decoys::load(&registry, AnySuite::all().map(|suite| suite.id())).await?;
        let decoy = DecoySecret::from_bytes(*registry.decoy_secret().await?);
        let metrics = Arc::new(Metrics::new());
        let tickets = Tickets::new(self.tickets, self.clock.clone());
        tickets.refresh(&registry, &metrics).await;
        let listener = bind(self.listen.as_deref().unwrap_or("127.0.0.1:0")).await?;
        let local_addr = listener.local_addr().map_err(BuildError::Listen)?;
        let stop = CancellationToken::new();
        let admin = match self.metrics {
            None => None,
            Some(address) => Some(Admin::start(address, metrics.clone(), registry.clone(), stop.clone()).await?),
        };
        let guard = backend.guard().then(|| {
            let max = backend.max_packet().unwrap_or(MAX_REMAINING);
            u32::try_from(max.min(MAX_REMAINING)).unwrap_or(u32::MAX)
        });
        let shared = Arc::new(Shared {
            registry,
            keys,
            decoy,
            decoys,
            policy: RwLock::new(Arc::new(self.policy)),
            admission: Admission::new(self.limits.clone(), metrics.clone()),
            workers: Workers::new(self.limits.workers, self.limits.queue),
            limits: self.limits,
            backend: backend.start(&metrics),
            guard,
            live: live::Live::default(),
            seen: Seen::default(),
            tickets,
            clock: self.clock,
            metrics,
            observer: self.observer,
            tasks: TaskTracker::new(),
            stop,
            connections: AtomicU64::new(0),
        });
        shared.tasks.spawn(accept(shared.clone(), listener));
        shared.tasks.spawn(live::watch(shared.clone()));
        shared.tasks.spawn({
            let shared = shared.clone();
            async move {
                shared
                    .tickets
                    .watch(&shared.registry, &shared.metrics, &shared.stop)
                    .await;
            }
        });
        shared.tasks.spawn({
            let shared = shared.clone();
            async move { shared.seen.watch(&shared.registry, &shared.metrics, &shared.stop).await }
        });
        tracing::info!(%local_addr, "listening");
        Ok(Front {
            shared,
            local_addr,
            admin,
        })
    }
}

async fn bind(address: impl ToSocketAddrs + std::fmt::Display) -> Result<TcpListener, BuildError> {
    let name = address.to_string();
    let found = lookup_host(address)
        .await
        .map_err(|error| BuildError::Address(name.clone(), error))?;
    let addresses: Vec<SocketAddr> = found.collect();
    TcpListener::bind(addresses.as_slice())
        .await
        .map_err(|error| BuildError::Address(name, error))
}

/// Why a front does not start.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A required setting was left out.
    #[error("front without a {0}")]
    Missing(&'static str),
    /// `record` or `connect` of the limits is out of range.
    #[error("limits: `record` must be 64..=16384 and `connect` 1024..=61440")]
    Limits,
    /// No key to work with.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The listener's address cannot be used.
    #[error("cannot listen on {0}: {1}{advice}", advice = advice(.1))]
    Address(String, io::Error),
    /// The listener failed.
    #[error("listener: {0}")]
    Listen(io::Error),
    /// The metrics address is taken.
    #[error(transparent)]
    Metrics(#[from] crate::admin::AdminError),
}

/// What to do when an address cannot be used.
pub(crate) fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; another program has the port: stop it, or choose another port",
        io::ErrorKind::AddrNotAvailable => "; no interface of this machine has the address",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need the right to bind them",
        _ => "",
    }
}

/// The largest Remaining Length of MQTT.
const MAX_REMAINING: usize = 268_435_455;
