//! How a connection ends, and what comes after it: the will, the session's expiry.

use std::{sync::Arc, time::Duration};

use hybrid_handshake::mqtt::ReasonCode;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        Broker,
        sessions::{Kept, TakeOver},
        will::Will,
    },
    Client, Session,
};
use crate::guard::{Version, Violation, rumqttd::client_id};

/// Why a connection ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The client said so.
    Disconnected { code: ReasonCode, expiry: Option<u32> },
    /// The stream broke.
    Lost,
    /// The client broke a rule, or was silent for too long.
    Violation(Violation),
    /// Another connection has its client id.
    TakenOver(TakeOver),
    /// The router died.
    RouterDied,
    /// The broker stops.
    Stopped,
}

impl From<Violation> for End {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}

impl End {
    /// Appends the DISCONNECT that tells the client; says whether there is anything to flush.
    pub(super) fn tells(self, version: Version, out: &mut Vec<u8>) -> bool {
        let code = match self {
            Self::Disconnected { .. } | Self::Lost => return false,
            Self::Violation(violation) => violation.code,
            Self::TakenOver(_) => ReasonCode::SessionTakenOver,
            Self::RouterDied => ReasonCode::ServerBusy,
            Self::Stopped => ReasonCode::ServerShuttingDown,
        };
        if version == Version::V5 {
            out.extend_from_slice(&[0xe0, 1, code as u8]);
        }
        true
    }
}

impl Session {
    /// Leaves the router, sees to the will and gives the client id back.
    pub(super) async fn finish(self, client: Client, end: End) {
        let Self {
            broker,
            claim,
            link,
            inbound,
            subscriptions,
            ..
        } = self;
        if let End::Violation(violation) = end {
            tracing::debug!(code = %violation.code, what = violation.what, "client disconnected");
        }
        let shares = subscriptions.close();
        link.close().await;
        let expiry = match end {
            // A session that was to end with its connection cannot be prolonged (MQTT 5.0 section 3.14.2.2.2).
            End::Disconnected {
                expiry: Some(expiry), ..
            } if client.is_persistent() => expiry,
            _ => client.session_expiry,
        };
        let will = client.will.filter(|_| {
            !matches!(
                end,
                End::Disconnected {
                    code: ReasonCode::Success,
                    ..
                }
            )
        });
        let ends = match end {
            End::TakenOver(by) => by.clean || expiry == 0,
            End::RouterDied => true,
            _ => expiry == 0,
        };
        if ends {
            if let Some(will) = will {
                will.publish(&broker).await;
            }
            if client.session_expiry > 0 && !matches!(end, End::RouterDied | End::TakenOver(_)) {
                forget(&broker, &claim.client_id).await;
            }
            broker.sessions.release(claim, None);
            return;
        }
        let afterlife = CancellationToken::new();
        let (filters, shares) = shares;
        let kept = Kept {
            unreleased: inbound.into_unreleased(),
            filters,
            shares,
            afterlife: afterlife.clone(),
        };
        let id = claim.client_id.clone();
        let taken_over = matches!(end, End::TakenOver(_));
        // A will without delay is due at every loss; a new connection in time stops any other.
        let (now, later) = match will {
            Some(will) if will.delay == 0 => (Some(will), None),
            will => (None, will.filter(|_| !taken_over)),
        };
        if let Some(will) = now {
            will.publish(&broker).await;
        }
        broker.sessions.release(claim, Some(kept));
        if !taken_over {
            let tasks = broker.tasks.clone();
            tasks.spawn(live_on(broker, id, later, expiry, afterlife));
        }
    }
}

/// Waits for will delay and session expiry, whichever comes first, until somebody uses the session again.
async fn live_on(broker: Arc<Broker>, id: String, will: Option<Will>, expiry: u32, afterlife: CancellationToken) {
    let life = async {
        let delay = will.as_ref().map_or(0, |will| will.delay.min(expiry));
        sleep(Duration::from_secs(delay.into())).await;
        if let Some(will) = will {
            will.publish(&broker).await;
        }
        if expiry == u32::MAX {
            return;
        }
        sleep(Duration::from_secs((expiry - delay).into())).await;
        // From here on nobody may cancel half-way: a claim waits for the router in any case.
        if !afterlife.is_cancelled() {
            broker.sessions.forget(&id, &afterlife);
            forget(&broker, &id).await;
        }
    };
    tokio::select! {
        () = afterlife.cancelled() => {}
        () = broker.stop.cancelled() => {}
        () = life => {}
    }
}

/// Makes the router forget a session: a clean registration under its name.
async fn forget(broker: &Broker, id: &str) {
    if let Ok((link, _rx, _)) = broker.hub.link(client_id(id), true).await {
        link.close().await;
    }
}
