//! When devices were last seen: noted at once, written together, so that no handshake waits for a disk.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{Metrics, Registry};

/// Devices whose handshake finished and that are not written yet.
#[derive(Default)]
pub(super) struct Seen {
    devices: Mutex<HashMap<String, u64>>,
    some: Notify,
}

impl Seen {
    /// Notes a handshake that finished now, in Unix seconds.
    pub(super) fn note(&self, device: &str, now: u64) {
        self.lock().insert(device.to_owned(), now);
        self.some.notify_one();
    }

    /// Writes until the front stops, and then once more.
    pub(super) async fn watch(&self, registry: &Registry, metrics: &Metrics, stop: &CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.flush(registry, metrics).await,
                () = self.some.notified() => self.flush(registry, metrics).await,
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(PAUSE) => {}
            }
        }
    }

    async fn flush(&self, registry: &Registry, metrics: &Metrics) {
        let devices = mem::take(&mut *self.lock());
        // A statistic: no reason to refuse anybody.
        if let Err(error) = registry.seen(&devices).await {
            tracing::warn!(%error, "cannot note when devices were seen");
            metrics.registry_failed("last-seen");
            let mut waiting = self.lock();
            for (device, time) in devices {
                waiting.entry(device).or_insert(time);
            }
            drop(waiting);
            self.some.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const PAUSE: Duration = Duration::from_secs(1);
