//! The embedded broker: rumqttd's router in this process, reached through its local links, without any port.
//!
//! The router keeps subscriptions, retained messages and queues. Everything a connection needs lives here: parsing,
//! acknowledgements, topic aliases, keep alive, the will, session expiry, take-over. So the router never sees a byte
//! from a client, only packets built from checked ones. A router that dies all the same is replaced at once: its
//! sessions are lost, the service is not.

mod connect;
mod inbound;
mod outbound;
mod publish;
mod router;
mod session;
mod sessions;
mod share;
mod will;

use std::{io, sync::Arc};

use async_trait::async_trait;
use tokio::{io::duplex, sync::Mutex};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{BoxedStream, Connector, Origin};
use crate::metrics::Metrics;
use router::Hub;
use sessions::Sessions;

/// Settings of the embedded broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RumqttdConfig {
    /// Largest MQTT packet from a client, in bytes.
    pub max_packet: usize,
    /// Largest number of links: one per connection and one per shared subscription.
    pub max_connections: usize,
    /// Bytes of one segment of a topic's log.
    pub segment_len: usize,
    /// Segments per log; the oldest goes when one more is needed.
    pub segments: usize,
    /// Keep alive for MQTT 5.0 clients that ask for none, in seconds.
    pub server_keep_alive: u16,
}

impl Default for RumqttdConfig {
    fn default() -> Self {
        Self {
            max_packet: 1 << 20,
            max_connections: 10_000,
            segment_len: 1 << 20,
            segments: 10,
            server_keep_alive: 600,
        }
    }
}

/// The running broker.
pub(super) struct Rumqttd(Arc<Broker>);

/// What all its sessions share.
struct Broker {
    config: RumqttdConfig,
    hub: Hub,
    sessions: Sessions,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Wills are published one at a time.
    will_turn: Mutex<()>,
}

impl Rumqttd {
    pub(super) fn start(config: RumqttdConfig, metrics: Arc<Metrics>) -> Self {
        let broker = Arc::new(Broker {
            hub: Hub::new(&config, metrics),
            sessions: Sessions::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            will_turn: Mutex::new(()),
            config,
        });
        broker.tasks.spawn(router::watch(broker.clone()));
        Self(broker)
    }
}

#[async_trait]
impl Connector for Rumqttd {
    async fn connect(&self, _origin: Origin) -> io::Result<BoxedStream> {
        let (near, far) = duplex(STREAM_BUFFER);
        self.0.tasks.spawn(session::run(self.0.clone(), far));
        Ok(Box::new(near))
    }

    async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

/// Bytes between front and session, each way.
const STREAM_BUFFER: usize = 64 << 10;

#[cfg(test)]
mod tests;
