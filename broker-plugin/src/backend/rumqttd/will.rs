//! The will: kept here, published on a private link when its client is lost.

use bytes::Bytes;
use hybrid_handshake::mqtt::{Properties, Property};
use rumqttd::protocol::{Packet, Publish, PublishProperties};

use super::{Broker, publish, router::NoLink};
use crate::guard::rumqttd::to_router;

/// A will message.
#[derive(Clone)]
pub(super) struct Will {
    publish: Publish,
    properties: Option<PublishProperties>,
    /// Seconds between the loss and the message.
    pub(super) delay: u32,
}

impl Will {
    pub(super) fn new(topic: &str, payload: Bytes, retain: bool, properties: Properties<'_>) -> Self {
        let delay = properties.into_iter().find_map(|p| match p {
            Property::WillDelayInterval(seconds) => Some(seconds),
            _ => None,
        });
        Self {
            // The router delivers with the subscriber's QoS, whatever the publisher's.
            publish: Publish::new(Bytes::copy_from_slice(to_router(topic).as_bytes()), payload, retain),
            properties: publish::properties(properties),
            delay: delay.unwrap_or(0),
        }
    }

    /// Publishes it. A router that dies meanwhile takes the message with it, as it does with every other.
    pub(super) async fn publish(self, broker: &Broker) {
        // One at a time: they share a name, and the router has one place for it.
        let _turn = broker.will_turn.lock().await;
        let sent = async {
            let (mut link, _rx, _) = broker.hub.private_link(PUBLISHER).await?;
            link.send([Packet::Publish(self.publish, self.properties)]).await?;
            link.close().await;
            Ok::<_, NoLink>(())
        };
        if sent.await.is_err() {
            tracing::warn!("a will was lost with the embedded router");
        }
    }
}

/// See the watcher's name.
const PUBLISHER: &str = "%will";
