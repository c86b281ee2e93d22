//! Who holds a client id, what is kept for it between connections, and take-over.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// All client ids that are connected or have a session.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Slot>>);

struct Slot {
    epoch: u64,
    holder: Option<Holder>,
    kept: Option<Kept>,
}

/// How to end the connection that holds an id.
struct Holder {
    take_over: Option<oneshot::Sender<TakeOver>>,
    done: CancellationToken,
}

/// What a session leaves behind.
pub(super) struct Kept {
    /// Packet ids of QoS 2 messages that are published but not released.
    pub(super) unreleased: HashSet<u16>,
    /// Filters with their granted QoS.
    pub(super) filters: HashMap<String, u8>,
    /// Shared filters with their Subscription Identifiers: the router forgets them with their links.
    pub(super) shares: HashMap<String, Option<u32>>,
    /// Ends the task that waits for will delay and session expiry.
    pub(super) afterlife: CancellationToken,
}

/// Another connection uses the client id now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TakeOver {
    /// Whether it starts clean, which ends the old session.
    pub(super) clean: bool,
}

/// The right to use a client id; [`Sessions::release`] it.
pub(super) struct Claim {
    pub(super) client_id: String,
    epoch: u64,
    done: CancellationToken,
    /// Fires when another connection claims the id.
    pub(super) taken_over: oneshot::Receiver<TakeOver>,
    /// What the previous session left.
    pub(super) kept: Option<Kept>,
}

impl Sessions {
    /// Takes over a client id: ends its current connection and waits until that has left the router.
    pub(super) async fn claim(&self, client_id: String, clean: bool) -> Claim {
        let (take_over, taken_over) = oneshot::channel();
        let done = CancellationToken::new();
        let holder = Holder {
            take_over: Some(take_over),
            done: done.clone(),
        };
        let (epoch, previous) = {
            let mut slots = self.lock();
            let slot = slots.entry(client_id.clone()).or_insert(Slot {
                epoch: 0,
                holder: None,
                kept: None,
            });
            slot.epoch += 1;
            (slot.epoch, slot.holder.replace(holder))
        };
        if let Some(mut previous) = previous {
            if let Some(take_over) = previous.take_over.take() {
                // It may be ending on its own.
                let _ = take_over.send(TakeOver { clean });
            }
            previous.done.cancelled().await;
        }
        let kept = self.lock().get_mut(&client_id).and_then(|slot| slot.kept.take());
        if let Some(kept) = &kept {
            kept.afterlife.cancel();
        }
        Claim {
            client_id,
            epoch,
            done,
            taken_over,
            kept,
        }
    }

    /// Gives the id back, with what is to be kept for the next connection.
    pub(super) fn release(&self, claim: Claim, kept: Option<Kept>) {
        let mut slots = self.lock();
        if let Some(slot) = slots.get_mut(&claim.client_id) {
            slot.kept = kept;
            if slot.epoch == claim.epoch {
                slot.holder = None;
                if slot.kept.is_none() {
                    slots.remove(&claim.client_id);
                }
            }
        }
        claim.done.cancel();
    }

    /// Forgets a session that has expired, unless somebody uses it again.
    pub(super) fn forget(&self, client_id: &str, afterlife: &CancellationToken) {
        let mut slots = self.lock();
        if let Some(slot) = slots.get(client_id)
            && slot.holder.is_none()
            && !afterlife.is_cancelled()
        {
            slots.remove(client_id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
