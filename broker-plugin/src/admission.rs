//! Who may start a handshake: a bounded set of half-open connections, a rate per source, and a bounded queue for
//! the expensive operations.

mod rate;
mod workers;

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio_util::sync::CancellationToken;

pub(crate) use workers::{Busy, Urgency, Weight, Workers};

use crate::{Limits, metrics::Held, metrics::Metrics};
use rate::Rates;

/// Counts connections and their memory. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Shared>);

struct Shared {
    limits: Limits,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: usize,
    half_open: HashMap<u64, HalfOpen>,
    /// Half-open connections per source, so that finding the busiest one is cheap.
    per_source: HashMap<IpAddr, usize>,
    bytes: usize,
    next: u64,
    rates: Rates,
}

struct HalfOpen {
    source: IpAddr,
    bytes: usize,
    evict: CancellationToken,
}

/// Why a connection may not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No place for one more connection.
    Full,
    /// The source opens connections too fast.
    Rate,
}

impl Admission {
    pub(crate) fn new(limits: Limits, metrics: Arc<Metrics>) -> Self {
        Self(Arc::new(Shared {
            limits,
            metrics,
            state: Mutex::default(),
        }))
    }

    /// Admits a connection. May evict another one: the oldest half-open connection of the busiest source.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Result<Permit, Refused> {
        let source = source_of(address);
        let Shared { limits, metrics, .. } = &*self.0;
        let mut state = self.0.lock();
        if !state.rates.take(source, limits.source_rate, limits.source_burst, now) {
            return Err(Refused::Rate);
        }
        if state.open >= limits.connections {
            return Err(Refused::Full);
        }
        if state.half_open.len() >= limits.half_open {
            state.evict_one();
        }
        let (id, evict) = (state.next, CancellationToken::new());
        state.next += 1;
        state.open += 1;
        state.half_open.insert(
            id,
            HalfOpen {
                source,
                bytes: 0,
                evict: evict.clone(),
            },
        );
        *state.per_source.entry(source).or_default() += 1;
        Ok(Permit {
            admission: self.clone(),
            half_open: Some(Place {
                id,
                evict,
                _gauge: Held::new(&metrics.half_open, 1),
                bytes: Vec::new(),
            }),
            _gauge: Held::new(&metrics.open, 1),
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held; if something did, the counts are still the best there are.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Ends the oldest half-open connection of the source that has most of them.
    fn evict_one(&mut self) {
        let Some(busiest) = self
            .per_source
            .iter()
            .max_by_key(|(_, count)| **count)
            .map(|(source, _)| *source)
        else {
            return;
        };
        let oldest = self
            .half_open
            .iter()
            .filter(|(_, h)| h.source == busiest)
            .map(|(id, _)| *id)
            .min();
        if let Some(evicted) = oldest.and_then(|id| self.remove(id)) {
            evicted.evict.cancel();
        }
    }

    fn remove(&mut self, id: u64) -> Option<HalfOpen> {
        let gone = self.half_open.remove(&id)?;
        self.bytes -= gone.bytes;
        if let Some(count) = self.per_source.get_mut(&gone.source) {
            *count -= 1;
            if *count == 0 {
                self.per_source.remove(&gone.source);
            }
        }
        Some(gone)
    }
}

/// An admitted connection; gives everything back when dropped.
pub(crate) struct Permit {
    admission: Admission,
    half_open: Option<Place>,
    _gauge: Held,
}

struct Place {
    id: u64,
    evict: CancellationToken,
    _gauge: Held,
    bytes: Vec<Held>,
}

impl Permit {
    /// Completes when another connection needs this one's place.
    pub(crate) fn evicted(&self) -> CancellationToken {
        self.half_open
            .as_ref()
            .map(|place| place.evict.clone())
            .unwrap_or_default()
    }

    /// Books `bytes` of memory until the handshake ends; evicts others, never this one, while there is too little.
    ///
    /// # Errors
    /// [`Refused::Full`] if the budget cannot hold it, or this connection was evicted itself.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Refused> {
        let Some(place) = &mut self.half_open else {
            return Ok(());
        };
        let limit = self.admission.0.limits.half_open_bytes;
        let mut state = self.admission.0.lock();
        let others = |state: &State| state.half_open.len() > 1;
        while state.bytes + bytes > limit && others(&state) {
            let before = state.half_open.len();
            // This connection may be the oldest of the busiest source: then it is the one to go.
            state.evict_one();
            if place.evict.is_cancelled() || state.half_open.len() == before {
                return Err(Refused::Full);
            }
        }
        if state.bytes + bytes > limit {
            return Err(Refused::Full);
        }
        let entry = state.half_open.get_mut(&place.id).ok_or(Refused::Full)?;
        entry.bytes += bytes;
        state.bytes += bytes;
        let gauge = &self.admission.0.metrics.half_open_bytes;
        place
            .bytes
            .push(Held::new(gauge, i64::try_from(bytes).unwrap_or(i64::MAX)));
        Ok(())
    }

    /// The handshake is over, one way or the other: frees the half-open place and its memory, keeps the connection's.
    pub(crate) fn leave_handshake(&mut self) {
        if let Some(place) = self.half_open.take() {
            self.admission.0.lock().remove(place.id);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.leave_handshake();
        self.admission.0.lock().open -= 1;
    }
}

/// One customer: an IPv4 address, or the /64 of an IPv6 address.
fn source_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests;
