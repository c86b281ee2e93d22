//! A session: records from the client to packets for the back end, and back. Each direction holds one buffer and
//! reads no further before that is gone, so a slow reader on one side slows the writer on the other.

mod inward;
mod outward;

use std::{collections::VecDeque, time::Duration};

use hybrid_handshake::mqtt::{Level, ReasonCode};
use tokio::{io::split, net::TcpStream, time::sleep};

use super::{Shared, flights::Records, live::Entry};
use crate::{
    backend::BoxedStream,
    guard::{Guard, Version},
};
use inward::{Inward, InwardEnd};
use outward::Outward;

/// What a finished handshake leaves.
pub(super) struct Session {
    pub(super) records: Records,
    pub(super) backend: BoxedStream,
    pub(super) level: Level,
    /// Control messages that the client gets first.
    pub(super) news: VecDeque<Vec<u8>>,
}

/// Runs the session to its end and says why it ended.
pub(super) async fn run(
    shared: &Shared,
    client: &mut TcpStream,
    session: Session,
    live: Option<&Entry>,
) -> &'static str {
    let Session {
        records,
        backend,
        level,
        news,
    } = session;
    let version = if level.is_v5() { Version::V5 } else { Version::V3 };
    let (client_rx, client_tx) = client.split();
    let (mut backend_rx, backend_tx) = split(backend);
    let guard = shared.guard.map(|max| Guard::new(version, max));
    let mut inward = Inward::new(
        client_rx,
        backend_tx,
        records.opener,
        records.options,
        guard,
        &shared.metrics,
    );
    let mut outward = Outward::new(client_tx, records.sealer, news, version, &shared.metrics);
    let revoked = async {
        match live {
            Some(entry) => entry.revoked.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        end = inward.run() => End::Inward(end),
        lost = outward.run(&mut backend_rx) => if lost { End::ClientLost } else { End::BackendClosed },
        () = revoked => End::Told("revoked", ReasonCode::NotAuthorized),
        () = sleep(MAX_AGE) => End::Told("age", ReasonCode::MaximumConnectTime),
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
        End::Inward(InwardEnd::Broken) => BROKEN,
        End::Inward(InwardEnd::Violation(violation)) => {
            tracing::info!(code = %violation.code, what = violation.what, "client stopped by the guard");
            outward.disconnect(&mut backend_rx, violation.code).await;
            "guard"
        }
    }
}

enum End {
    Inward(InwardEnd),
    BackendClosed,
    ClientLost,
    /// We end it, and the client is told.
    Told(&'static str, ReasonCode),
}

/// The client's records no longer open: nothing can be said any more.
pub(super) const BROKEN: &str = "record";

/// Without re-authentication.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
