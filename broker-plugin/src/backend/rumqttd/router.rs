//! The router thread behind a handle that can be renewed, and links into it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use rumqttd::{
    Notification, Router, RouterConfig,
    local::{LinkBuilder, LinkError, LinkRx, LinkTx},
    protocol::{Disconnect, DisconnectReasonCode, Packet},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::sleep,
};

use super::{Broker, RumqttdConfig};
use crate::metrics::{Held, Metrics};

/// Makes links into the current router.
pub(super) struct Hub {
    router: Mutex<Arc<Handle>>,
    slots: Arc<Semaphore>,
    config: RumqttdConfig,
    metrics: Arc<Metrics>,
}

/// One router. rumqttd keeps the type of its events to itself, so the channel lives inside closures.
struct Handle {
    wanted: mpsc::UnboundedSender<Wanted>,
    is_full: Box<dyn Fn() -> bool + Send + Sync>,
    is_dead: Box<dyn Fn() -> bool + Send + Sync>,
}

/// A link that somebody waits for.
struct Wanted {
    client_id: String,
    clean: bool,
    reply: oneshot::Sender<Result<Registered, NoLink>>,
}

/// Both halves of a link and the router's CONNACK.
type Registered = (LinkTx, LinkRx, Notification);

/// Why there is no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLink {
    /// All links that the configuration allows are in use.
    Full,
    /// The router is dead; a new one comes.
    Dead,
}

impl Hub {
    pub(super) fn new(config: &RumqttdConfig, metrics: Arc<Metrics>) -> Self {
        Self {
            router: Mutex::new(Handle::spawn(config)),
            slots: Arc::new(Semaphore::new(config.max_connections)),
            config: config.clone(),
            metrics,
        }
    }

    /// Opens a link for a client. Returns it with its receiver and the router's CONNACK.
    pub(super) async fn link(&self, client_id: String, clean: bool) -> Result<(Link, LinkRx, Notification), NoLink> {
        let slot = self.slots.clone().try_acquire_owned().map_err(|_| NoLink::Full)?;
        self.open(client_id, clean, Some(slot)).await
    }

    /// Opens a link of our own.
    pub(super) async fn private_link(&self, client_id: &str) -> Result<(Link, LinkRx, Notification), NoLink> {
        self.open(client_id.to_owned(), true, None).await
    }

    async fn open(
        &self,
        client_id: String,
        clean: bool,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<(Link, LinkRx, Notification), NoLink> {
        let handle = self.current();
        let gauge = Held::new(&self.metrics.router_links, 1);
        let (tx, rx, hello) = handle.register(client_id, clean).await?;
        Ok((
            Link {
                tx,
                handle,
                _slot: slot,
                _gauge: gauge,
            },
            rx,
            hello,
        ))
    }

    fn current(&self) -> Arc<Handle> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn renew(&self) {
        *self.router.lock().unwrap_or_else(PoisonError::into_inner) = Handle::spawn(&self.config);
        self.metrics.router_restarts.inc();
    }
}

impl Handle {
    fn spawn(config: &RumqttdConfig) -> Arc<Self> {
        let events = Router::new(
            0,
            RouterConfig {
                max_connections: config.max_connections + PRIVATE_LINKS,
                max_outgoing_packet_count: 200,
                max_segment_size: config.segment_len.max(1 << 10),
                max_segment_count: config.segments.max(1),
                ..RouterConfig::default()
            },
        )
        .spawn();
        let (full, dead) = (events.clone(), events.clone());
        let (wanted, mut requests) = mpsc::unbounded_channel::<Wanted>();
        // A thread of its own: rumqttd blocks until the router answers, and for ever if it dies just then.
        thread::spawn(move || {
            while let Some(Wanted {
                client_id,
                clean,
                reply,
            }) = requests.blocking_recv()
            {
                let link = LinkBuilder::new(&client_id, events.clone());
                let made = link.clean_session(clean).dynamic_filters(true).build();
                let made = made.map_err(|error| match error {
                    LinkError::Send(_) => NoLink::Dead,
                    // The router drops a registration that it refuses, and all of them when it dies.
                    _ if events.is_disconnected() => NoLink::Dead,
                    _ => NoLink::Full,
                });
                // Nobody stops waiting but for a dead router.
                let _ = reply.send(made);
            }
        });
        Arc::new(Self {
            wanted,
            is_full: Box::new(move || full.is_full()),
            is_dead: Box::new(move || dead.is_disconnected()),
        })
    }

    async fn register(&self, client_id: String, clean: bool) -> Result<Registered, NoLink> {
        let (reply, mut made) = oneshot::channel();
        let wanted = Wanted {
            client_id,
            clean,
            reply,
        };
        self.wanted.send(wanted).map_err(|_| NoLink::Dead)?;
        loop {
            tokio::select! {
                made = &mut made => return made.unwrap_or(Err(NoLink::Dead)),
                () = sleep(DEATH_CHECK) => {
                    if (self.is_dead)() {
                        return Err(NoLink::Dead);
                    }
                }
            }
        }
    }
}

/// A registration in the router. Only [`Link::close`] ends it.
pub(super) struct Link {
    tx: LinkTx,
    handle: Arc<Handle>,
    _slot: Option<OwnedSemaphorePermit>,
    _gauge: Held,
}

impl Link {
    /// Hands packets to the router as one batch. Waits while the router is behind.
    ///
    /// # Errors
    /// [`NoLink::Dead`].
    pub(super) async fn send(&mut self, packets: impl IntoIterator<Item = Packet>) -> Result<(), NoLink> {
        let mut packets = packets.into_iter();
        let Some(mut last) = packets.next() else { return Ok(()) };
        self.settled().await;
        for packet in packets {
            self.tx.buffer().push_back(std::mem::replace(&mut last, packet));
        }
        // A blocking send, but on a channel that had room a moment ago and that the router always drains.
        self.tx.send(last).await.map(drop).map_err(|_| NoLink::Dead)
    }

    /// Ends the registration; the router keeps the session if it is not clean. Nothing may follow on the receiver
    /// either: the router gives the slot to somebody else.
    pub(super) async fn close(mut self) {
        let bye = Disconnect {
            reason_code: DisconnectReasonCode::NormalDisconnection,
        };
        // A dead router has nothing to forget.
        let _ = self.send([Packet::Disconnect(bye, None)]).await;
    }

    async fn settled(&self) {
        while !(self.handle.is_dead)() && ((self.handle.is_full)() || self.tx.buffer().len() > MAX_WAITING) {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Renews the router as soon as it dies. Its end drops the sender of every link, also of one that nobody else uses.
pub(super) async fn watch(broker: Arc<Broker>) {
    while !broker.stop.is_cancelled() {
        tokio::select! {
            () = broker.stop.cancelled() => return,
            end = death(&broker.hub) => match end {
                NoLink::Full => sleep(Duration::from_millis(100)).await,
                NoLink::Dead => {
                    tracing::error!("embedded router died; starting a new one, its sessions are lost");
                    broker.hub.renew();
                }
            }
        }
    }
}

async fn death(hub: &Hub) -> NoLink {
    match hub.private_link(WATCHER).await {
        Ok((_link, mut rx, _)) => {
            while rx.next().await.is_ok() {}
            NoLink::Dead
        }
        Err(reason) => reason,
    }
}

/// The watcher and the publisher of wills.
const PRIVATE_LINKS: usize = 2;
/// No client has it: the names of [`client_id`](crate::guard::rumqttd::client_id) have hexadecimal digits behind `%`.
const WATCHER: &str = "%watch";
/// How long a dead router can keep somebody waiting.
const DEATH_CHECK: Duration = Duration::from_millis(50);
/// Packets of one link that the router has not looked at.
const MAX_WAITING: usize = 1_000;
