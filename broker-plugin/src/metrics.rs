//! Every counter of a front, named in one place.

use hybrid_handshake::mqtt::ReasonCode;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

/// The counters, gauges and histograms of one front. Gauges go back to their start value when nothing is connected.
pub struct Metrics {
    /// `kemqtt_connections_total`: connections accepted from the listener.
    pub connections: Counter,
    /// `kemqtt_open`: connections open now, half-open ones included.
    pub open: Gauge,
    /// `kemqtt_half_open`: connections whose handshake is not finished.
    pub half_open: Gauge,
    /// `kemqtt_half_open_bytes`: memory that half-open connections hold.
    pub half_open_bytes: Gauge,
    /// `kemqtt_sessions`: connections that carry MQTT records now.
    pub sessions: Gauge,
    /// `kemqtt_handshakes_total` by suite and mode: finished handshakes.
    pub handshakes: Family<Handshake, Counter>,
    /// `kemqtt_handshake_seconds` by suite and mode: from the whole outer CONNECT to M4 sent.
    pub handshake_seconds: Family<Handshake, Histogram>,
    /// `kemqtt_refusals_total` by cause and reason code: refused before the end of the handshake.
    pub refusals: Family<Refused, Counter>,
    /// `kemqtt_closed_total` by cause: sessions ended after the handshake.
    pub closed: Family<Closed, Counter>,
    /// `kemqtt_guard_refusals_total` by what the guard found: sessions that it ended.
    pub violations: Family<Violation, Counter>,
    /// `kemqtt_backend_up`: 1 if the last connection to the back end came about.
    pub backend_up: Gauge,
    /// `kemqtt_registry_up`: 1 if the registry's last answer came.
    pub registry_up: Gauge,
    /// `kemqtt_registry_errors_total` by what was wanted of it: the registry failed, or did not answer in time.
    pub registry_errors: Family<RegistryError, Counter>,
    /// `kemqtt_records_total` by direction.
    pub records: Family<Direction, Counter>,
    /// `kemqtt_bytes_total` by direction: plaintext MQTT bytes.
    pub bytes: Family<Direction, Counter>,
    /// `kemqtt_reauthentications_total`: finished, up to the first record under the new keys.
    pub reauthentications: Counter,
    /// `kemqtt_tickets_total`: session tickets given out.
    pub tickets: Counter,
    /// `kemqtt_key_news_total` by kind: successors announced to clients, and next keys sent to those under a retiring key.
    pub key_news: Family<KeyNewsLabel, Counter>,
    /// `kemqtt_key_changes_total`: how often the broker keys of the registry have changed.
    pub key_changes: Counter,
    /// `kemqtt_retiring_key_handshakes_total`: clients that still came with a key that retires.
    pub retiring_key_handshakes: Counter,
    /// `kemqtt_router_restarts_total`: embedded routers replaced because they died.
    pub router_restarts: Counter,
    /// `kemqtt_router_links`: links into the embedded router.
    pub router_links: Gauge,
    registry: Registry,
}

/// Labels of a finished handshake. There are as many as suites and modes: neither is text of a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Handshake {
    /// Suite name.
    pub suite: String,
    /// Mode number.
    pub mode: u32,
}

/// Labels of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Refused {
    /// Short name of the cause.
    pub cause: &'static str,
    /// The reason code as on the wire, in decimal.
    pub code: u32,
}

/// Label of a failure of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RegistryError {
    /// `device`, `client-id`, `last-seen`, `ticket-keys`, `broker-keys` or `revocations`.
    pub wanted: &'static str,
}

/// Label of a closed session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Closed {
    /// Short name of the cause.
    pub cause: &'static str,
}

/// Label of news about broker keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KeyNewsLabel {
    /// `successor` or `next-key`.
    pub kind: &'static str,
}

/// Label of a session that the guard ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Violation {
    /// What it found.
    pub what: &'static str,
}

/// Label of a direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Direction {
    /// `in` from the client, `out` to it.
    pub direction: &'static str,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            connections: Counter::default(),
            open: Gauge::default(),
            half_open: Gauge::default(),
            half_open_bytes: Gauge::default(),
            sessions: Gauge::default(),
            handshakes: Family::default(),
            handshake_seconds: Family::new_with_constructor(latency),
            refusals: Family::default(),
            closed: Family::default(),
            violations: Family::default(),
            backend_up: up(),
            registry_up: up(),
            registry_errors: Family::default(),
            records: Family::default(),
            bytes: Family::default(),
            reauthentications: Counter::default(),
            tickets: Counter::default(),
            key_news: Family::default(),
            key_changes: Counter::default(),
            retiring_key_handshakes: Counter::default(),
            router_restarts: Counter::default(),
            router_links: Gauge::default(),
            registry: Registry::with_prefix("kemqtt"),
        };
        metrics.register();
        metrics
    }

    /// All values in the OpenMetrics text format.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut out = String::new();
        // Writing to a `String` cannot fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }

    /// How often connections were refused for `cause`, a name from the log, with any code.
    #[must_use]
    pub fn refused(&self, cause: &'static str, code: ReasonCode) -> u64 {
        self.refusals
            .get_or_create(&Refused {
                cause,
                code: code as u32,
            })
            .get()
    }

    /// How often connections were refused for `cause` without an answer.
    #[must_use]
    pub fn refusals_of(&self, cause: &'static str) -> u64 {
        self.refusals.get_or_create(&Refused { cause, code: 0 }).get()
    }

    /// How often sessions were closed for `cause`.
    #[must_use]
    pub fn closed(&self, cause: &'static str) -> u64 {
        self.closed.get_or_create(&Closed { cause }).get()
    }

    /// How often the registry failed when this was `wanted` of it.
    #[must_use]
    pub fn registry_failures(&self, wanted: &'static str) -> u64 {
        self.registry_errors.get_or_create(&RegistryError { wanted }).get()
    }

    /// Counts a failure of the registry.
    pub(crate) fn registry_failed(&self, wanted: &'static str) {
        self.registry_errors.get_or_create(&RegistryError { wanted }).inc();
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("connections", "Connections accepted", self.connections.clone());
        r.register("open", "Connections open now", self.open.clone());
        r.register("half_open", "Connections in their handshake", self.half_open.clone());
        r.register(
            "half_open_bytes",
            "Memory held by connections in their handshake",
            self.half_open_bytes.clone(),
        );
        r.register("sessions", "Connections that carry MQTT", self.sessions.clone());
        r.register("handshakes", "Finished handshakes", self.handshakes.clone());
        r.register(
            "handshake_seconds",
            "From the outer CONNECT to M4",
            self.handshake_seconds.clone(),
        );
        r.register(
            "refusals",
            "Connections refused in the handshake",
            self.refusals.clone(),
        );
        r.register("closed", "Sessions ended after the handshake", self.closed.clone());
        r.register(
            "guard_refusals",
            "Sessions ended by the packet guard",
            self.violations.clone(),
        );
        r.register(
            "backend_up",
            "Whether the last connection to the back end came about",
            self.backend_up.clone(),
        );
        r.register(
            "registry_up",
            "Whether the registry answered when it was asked last",
            self.registry_up.clone(),
        );
        r.register(
            "registry_errors",
            "Failures of the registry",
            self.registry_errors.clone(),
        );
        r.register("records", "Records", self.records.clone());
        r.register("bytes", "MQTT bytes in records", self.bytes.clone());
        r.register(
            "reauthentications",
            "Sessions that proved themselves anew and took new keys",
            self.reauthentications.clone(),
        );
        r.register("tickets", "Session tickets given out", self.tickets.clone());
        r.register("key_news", "News of broker keys told to clients", self.key_news.clone());
        r.register(
            "key_changes",
            "Changes of the registry's broker keys",
            self.key_changes.clone(),
        );
        r.register(
            "retiring_key_handshakes",
            "Handshakes under a retiring broker key",
            self.retiring_key_handshakes.clone(),
        );
        r.register(
            "router_restarts",
            "Embedded routers replaced",
            self.router_restarts.clone(),
        );
        r.register(
            "router_links",
            "Links into the embedded router",
            self.router_links.clone(),
        );
    }
}

/// 0.25 ms to 8 s.
fn latency() -> Histogram {
    Histogram::new(exponential_buckets(0.000_25, 2.0, 16))
}

/// Nothing is known to be down before it was asked.
fn up() -> Gauge {
    let gauge = Gauge::default();
    gauge.set(1);
    gauge
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Raises a gauge for as long as it lives.
pub(crate) struct Held {
    gauge: Gauge,
    by: i64,
}

impl Held {
    pub(crate) fn new(gauge: &Gauge, by: i64) -> Self {
        gauge.inc_by(by);
        Self {
            gauge: gauge.clone(),
            by,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gauge.dec_by(self.by);
    }
}
