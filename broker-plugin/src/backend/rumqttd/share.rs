//! Shared subscriptions, each on a link of its own.
//!
//! The router keeps one cursor per group name, whatever the filters, forgets all groups of a client when it leaves
//! one, and dies when the last member of a group leaves a persistent session with an unacknowledged message. A link
//! without a session for each shared subscription, a group name per filter and QoS 0 avoid all three.

use std::sync::Arc;

use rumqttd::{
    Notification,
    local::LinkRx,
    protocol::{Filter, Packet, QoS, RetainForwardRule, Subscribe, SubscribeProperties},
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    Broker,
    router::{Link, NoLink},
};
use crate::guard::rumqttd::to_router;

/// A shared subscription; dropping it leaves the group soon.
pub(super) struct Share {
    forward: JoinHandle<()>,
    stop: CancellationToken,
}

impl Share {
    /// Joins group `name` of `filter`; messages go to `out`.
    pub(super) async fn join(
        broker: &Arc<Broker>,
        (name, filter): (&str, &str),
        identifier: Option<u32>,
        out: mpsc::Sender<Notification>,
    ) -> Result<Self, NoLink> {
        let mut unique = [0; 8];
        // Without randomness there is no handshake either; equal names would only replace each other.
        let _ = getrandom::fill(&mut unique);
        let (mut link, rx, _) = broker.hub.link(format!("%share-{}", hex::encode(unique)), true).await?;
        let group = hex::encode([name.as_bytes(), b"\0", filter.as_bytes()].concat());
        let filter = Filter {
            path: format!("$share/{group}/{}", to_router(filter)),
            qos: QoS::AtMostOnce,
            nolocal: false,
            preserve_retain: false,
            retain_forward_rule: RetainForwardRule::Never,
        };
        let properties = identifier.map(|id| SubscribeProperties {
            id: Some(id as usize),
            user_properties: Vec::new(),
        });
        link.send([Packet::Subscribe(
            Subscribe {
                pkid: 1,
                filters: vec![filter],
            },
            properties,
        )])
        .await?;
        let stop = CancellationToken::new();
        Ok(Self {
            forward: broker.tasks.spawn(forward(link, rx, out, stop.clone())),
            stop,
        })
    }

    /// Leaves the group: no message that is published from now on goes to this member.
    pub(super) async fn leave(&mut self) {
        self.stop.cancel();
        // Its only other end is a panic, which leaves the group as well.
        let _ = (&mut self.forward).await;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn forward(link: Link, mut rx: LinkRx, out: mpsc::Sender<Notification>, stop: CancellationToken) {
    let pump = async {
        while let Ok(next) = rx.next().await {
            let goes_on = match next {
                Some(forward @ Notification::Forward(_)) => out.send(forward).await.is_ok(),
                Some(Notification::Unschedule) => rx.wake().await.is_ok(),
                _ => true,
            };
            if !goes_on {
                return;
            }
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = pump => {}
    }
    link.close().await;
}
