//! Where the application's MQTT goes: one byte stream per client, to the embedded broker or to any other.

mod proxy;
pub(crate) mod reference;
pub mod rumqttd;
mod stream;

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

pub use rumqttd::RumqttdConfig;

use crate::metrics::Metrics;

/// A back end that speaks MQTT on a byte stream.
///
/// The front writes the inner CONNECT and reads the CONNACK. It closes the stream without a DISCONNECT whenever the
/// client did, so that the back end publishes the will.
#[async_trait]
pub trait Connector: Send + Sync + 'static {
    /// Opens the stream of one client.
    async fn connect(&self, origin: Origin) -> io::Result<BoxedStream>;

    /// Ends everything that outlives a stream.
    async fn shutdown(&self) {}
}

/// The two ends of a client's connection to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The client's address.
    pub client: SocketAddr,
    /// The address of the front that it connected to.
    pub listener: SocketAddr,
}

/// A stream to a back end.
pub type BoxedStream = Box<dyn Duplex>;

/// Both directions of a byte stream.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Duplex for T {}

/// A back end and how the front treats it.
#[derive(Clone)]
pub struct Backend {
    kind: Kind,
    guard: bool,
}

#[derive(Clone)]
enum Kind {
    Rumqttd(RumqttdConfig),
    Socket(stream::Socket),
    Connector(Arc<dyn Connector>),
}

impl Backend {
    /// The embedded broker. It always sits behind the packet guard.
    #[must_use]
    pub fn rumqttd(config: RumqttdConfig) -> Self {
        Self {
            kind: Kind::Rumqttd(config),
            guard: true,
        }
    }

    /// Any MQTT broker at `address` (`host:port`), behind the packet guard. MQTT travels there in clear: keep it on
    /// loopback or on a network of your own.
    #[must_use]
    pub fn tcp(address: impl Into<String>) -> Self {
        Self::socket(stream::Socket::tcp(address.into()))
    }

    /// Any MQTT broker behind a Unix socket, behind the packet guard.
    #[must_use]
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::socket(stream::Socket::unix(path.into()))
    }

    /// Any other back end, behind the packet guard.
    #[must_use]
    pub fn custom(connector: impl Connector) -> Self {
        Self {
            kind: Kind::Connector(Arc::new(connector)),
            guard: true,
        }
    }

    /// Lets client packets through unchecked. No effect on the embedded broker.
    #[must_use]
    pub fn without_guard(mut self) -> Self {
        self.guard = matches!(self.kind, Kind::Rumqttd(_));
        self
    }

    /// Tells the back end the address of each client by the PROXY protocol, version 2. No effect on the embedded broker
    /// and on custom back ends, which see it anyway.
    #[must_use]
    pub const fn with_proxy_protocol(mut self) -> Self {
        if let Kind::Socket(socket) = &mut self.kind {
            socket.proxy = true;
        }
        self
    }

    const fn socket(socket: stream::Socket) -> Self {
        Self {
            kind: Kind::Socket(socket),
            guard: true,
        }
    }

    pub(crate) const fn guard(&self) -> bool {
        self.guard
    }

    /// Largest packet that the back end takes from a client, where it has a limit of its own.
    pub(crate) const fn max_packet(&self) -> Option<usize> {
        match &self.kind {
            Kind::Rumqttd(config) => Some(config.max_packet),
            Kind::Socket(_) | Kind::Connector(_) => None,
        }
    }

    pub(crate) fn start(self, metrics: &Arc<Metrics>) -> Arc<dyn Connector> {
        match self.kind {
            Kind::Rumqttd(config) => Arc::new(rumqttd::Rumqttd::start(config, metrics.clone())),
            Kind::Socket(socket) => Arc::new(socket),
            Kind::Connector(connector) => connector,
        }
    }
}
