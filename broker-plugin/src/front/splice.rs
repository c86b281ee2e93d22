//! A session: records from the client to packets for the back end, and back. Each direction holds one buffer and
//! reads no further before that is gone, so a slow reader on one side slows the writer on the other.

mod inward;
mod key_news;
mod outward;
mod queue;
mod renewal;

use std::{collections::VecDeque, pin::Pin, sync::Arc};

use hybrid_handshake::{
    Established,
    message::Capabilities,
    mqtt::{Level, ReasonCode},
    suite::Suite as _,
};
use tokio::{io::split, net::TcpStream};

use super::{Shared, flights::Records, live::Entry};
use crate::{
    backend::BoxedStream,
    guard::{Guard, Version},
    keys::KeyPair,
    metrics::{Held, Violation as ViolationLabel},
    policy::Topics,
};
use inward::{Inward, InwardEnd};
use key_news::KeyNews;
use outward::Outward;
use renewal::{Exchange, Renewal};

pub(super) use renewal::Say;

/// What a finished handshake leaves.
pub(super) struct Session {
    pub(super) records: Records,
    pub(super) backend: BoxedStream,
    pub(super) level: Level,
    /// The broker key of the handshake.
    pub(super) key: Arc<KeyPair>,
    /// `None` for an anonymous client.
    pub(super) device: Option<String>,
    /// Whether the handshake was a full one.
    pub(super) full: bool,
    /// `None` where every topic is allowed.
    pub(super) topics: Option<Arc<Topics>>,
    /// What the client gets first.
    pub(super) news: VecDeque<Say>,
    /// Its place among the sessions.
    pub(super) live: Entry,
}

/// A session until its end; says why it ended.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = &'static str> + Send + 'a>>;

/// Makes the parts of the session, and what runs them. Not an `async fn`: its state would keep room for everything that was
/// moved into those parts.
pub(super) fn run<'a>(shared: &'a Arc<Shared>, client: &'a mut TcpStream, session: Session) -> Running<'a> {
    let Session {
        records,
        backend,
        level,
        key,
        device,
        full,
        topics,
        mut news,
        mut live,
    } = session;
    let Established {
        suite,
        sealer,
        opener,
        options,
        reauth,
        ..
    } = records;
    let version = if level.is_v5() { Version::V5 } else { Version::V3 };
    let (client_rx, client_tx) = client.split();
    let (mut backend_rx, backend_tx) = split(backend);
    let exchange = Arc::new(Exchange::new());
    let control = inward::Control::new(suite, options, reauth, exchange.clone());
    // Rules of a device count also where nothing else is guarded.
    let max_packet = shared.guard.or(topics.is_some().then_some(u32::MAX));
    let guard = max_packet.map(|max| Guard::new(version, max).with_topics(topics));
    let kid = key.fingerprint().kid();
    let wants_news = options.has(Capabilities::KEY_NEWS);
    let mut key_news = KeyNews::new(shared.keys.watch(), kid, wants_news, full, &shared.metrics);
    news.extend(key_news.take());
    if key_news.key_retires() {
        shared.metrics.retiring_key_handshakes.inc();
    }
    let mut inward = Inward::new(client_rx, backend_tx, opener, control, guard, &shared.metrics);
    let mut outward = Outward::new(client_tx, sealer, news, exchange.clone(), version, &shared.metrics);
    let mut renewal = Renewal::new(shared, suite.id(), key, device, exchange, key_news);
    let gauge = Held::new(&shared.metrics.sessions, 1);
    Box::pin(async move {
        let _gauge = gauge;
        let end = tokio::select! {
            end = inward.run() => End::Inward(end),
            lost = outward.run(&mut backend_rx) => if lost { End::ClientLost } else { End::BackendClosed },
            why = live.ended() => {
                let (cause, code) = why.parts();
                End::Told(cause, code)
            }
            end = renewal.run() => end,
            () = shared.stop.cancelled() => End::Told("shutdown", ReasonCode::ServerShuttingDown),
        };
        match end {
            End::ClientLost | End::Inward(InwardEnd::Lost) => "client-lost",
            End::BackendClosed if inward.has_disconnected() => "client-closed",
            End::BackendClosed => "backend-closed",
            End::Told(cause, code) => {
                outward.disconnect(&mut backend_rx, code).await;
                cause
            }
            End::Inward(InwardEnd::Closed) => {
                inward.close_backend(&mut backend_rx).await;
                "client-closed"
            }
            End::Inward(InwardEnd::BackendLost) => {
                // What it said last may still be on its way.
                outward.drain(&mut backend_rx).await;
                "backend-closed"
            }
            End::Broken | End::Inward(InwardEnd::Broken) => BROKEN,
            End::Inward(InwardEnd::Violation(violation)) => {
                tracing::info!(
                    device = renewal.device(), code = %violation.code, what = violation.what,
                    name = inward.refused().map(tracing::field::debug), "client stopped by the guard"
                );
                let label = ViolationLabel { what: violation.what };
                shared.metrics.violations.get_or_create(&label).inc();
                outward.disconnect(&mut backend_rx, violation.code).await;
                "guard"
            }
        }
    })
}

enum End {
    Inward(InwardEnd),
    BackendClosed,
    ClientLost,
    /// The client broke the rules of a re-authentication.
    Broken,
    /// We end it, and the client is told.
    Told(&'static str, ReasonCode),
}

/// The client's records no longer open: nothing can be said any more.
pub(super) const BROKEN: &str = "record";
