//! What passes on the wire, for people who want to watch: an observer hook and events of target `kemqtt::wire`.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use hybrid_handshake::suite::SuiteId;

/// One step of a connection. Carries no secrets and no peer bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WireEvent {
    /// Number of the connection since the front started.
    pub connection: u64,
    /// The client's address.
    pub peer: SocketAddr,
    /// Since the connection was accepted.
    pub elapsed: Duration,
    /// The suite, as soon as M1 has named it.
    pub suite: Option<SuiteId>,
    /// What happened.
    pub step: Step,
}

/// What happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An outer packet passed.
    Packet {
        /// Which way.
        direction: Direction,
        /// The packet's name in MQTT.
        name: &'static str,
        /// Its length in bytes, fixed header included.
        len: usize,
    },
    /// M4 is sent and the session stands.
    Established {
        /// From the whole CONNECT to M4.
        handshake: Duration,
    },
    /// The connection is over.
    Closed {
        /// Why.
        cause: &'static str,
    },
}

/// The way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    In,
    /// To the client.
    Out,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::In => "in",
            Self::Out => "out",
        })
    }
}

/// `CONNECT in 1263 B` and the like.
impl fmt::Display for WireEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Step::Packet { direction, name, len } => write!(f, "{name} {direction} {len} B")?,
            Step::Established { handshake } => write!(f, "established in {handshake:?}")?,
            Step::Closed { cause } => write!(f, "closed: {cause}")?,
        }
        match self.suite {
            Some(suite) => write!(f, " ({suite})"),
            None => Ok(()),
        }
    }
}

/// Gets every event.
pub(crate) type Observer = Arc<dyn Fn(&WireEvent) + Send + Sync>;

/// Hands an event to the log and the observer.
pub(crate) fn emit(observer: Option<&Observer>, event: &WireEvent) {
    let suite = event.suite.map(|s| s.to_string());
    let (connection, suite) = (event.connection, suite.as_deref());
    match event.step {
        Step::Packet { direction, name, len } => {
            tracing::debug!(target: TARGET, connection, suite, %direction, packet = name, len);
        }
        Step::Established { handshake } => {
            let handshake_us = u64::try_from(handshake.as_micros()).unwrap_or(u64::MAX);
            tracing::debug!(target: TARGET, connection, suite, handshake_us, "established");
        }
        Step::Closed { cause } => tracing::debug!(target: TARGET, connection, suite, cause, "closed"),
    }
    if let Some(observer) = observer {
        observer(event);
    }
}

const TARGET: &str = "kemqtt::wire";
