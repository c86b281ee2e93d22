//! The wall clock.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Where a front reads the time of day.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that shows what `unix` gives, in Unix seconds.
    pub(crate) fn new(unix: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(unix))
    }

    /// Unix seconds.
    pub(crate) fn now(&self) -> u64 {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(unix_now)
    }
}

/// Unix seconds of the system; 0 for a clock that stands before 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
