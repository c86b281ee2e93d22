//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix seconds; 0 for a clock that stands before 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
