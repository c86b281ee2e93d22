//! When the next attempt at a broker may start: exponential, jittered, at most ten minutes.

use std::time::Duration;

use tokio::time::Instant;

/// Delay between connection attempts. It grows while handshakes fail and starts over once an M4 opens.
///
/// The wait is drawn between half and the whole of the current ceiling, so that a fleet that lost its broker at one
/// moment does not return at one moment.
#[derive(Debug)]
pub(crate) struct Backoff {
    failures: u32,
    ready: Option<Instant>,
}

impl Backoff {
    /// Nothing failed yet: the first attempt is immediate.
    pub(crate) const fn new() -> Self {
        Self {
            failures: 0,
            ready: None,
        }
    }

    /// When the next attempt may start; `None` means now.
    pub(crate) fn ready(&self) -> Option<Instant> {
        self.ready.filter(|at| *at > Instant::now())
    }

    /// Notes an attempt without M4. `jitter` is a uniformly random value.
    pub(crate) fn failed(&mut self, jitter: u32) {
        self.ready = Some(Instant::now() + delay(self.failures, jitter));
        self.failures = self.failures.saturating_add(1);
    }

    /// Notes that an M4 opened.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::new();
    }
}

/// Between half and all of `FIRST * 2^failures`, capped at [`CAP`].
fn delay(failures: u32, jitter: u32) -> Duration {
    let ceiling = FIRST.saturating_mul(1 << failures.min(16)).min(CAP);
    let half = ceiling / 2;
    half + half.mul_f64(f64::from(jitter) / f64::from(u32::MAX))
}

const FIRST: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_ten_minutes() {
        assert_eq!(delay(0, u32::MAX), Duration::from_millis(500));
        assert_eq!(delay(1, u32::MAX), Duration::from_secs(1));
        assert_eq!(delay(10, u32::MAX), Duration::from_secs(512));
        assert_eq!(delay(11, u32::MAX), Duration::from_secs(600));
        assert_eq!(delay(u32::MAX, u32::MAX), Duration::from_secs(600));
    }

    #[test]
    fn jitter_takes_at_most_half_of_it() {
        assert_eq!(delay(1, 0), Duration::from_millis(500));
        assert_eq!(delay(30, 0), Duration::from_secs(300));
    }

    #[tokio::test(start_paused = true)]
    async fn success_makes_the_next_attempt_immediate() {
        let mut backoff = Backoff::new();
        assert!(backoff.ready().is_none());
        backoff.failed(0);
        let first = backoff.ready().expect("waits after a failure");
        assert_eq!(first - Instant::now(), Duration::from_millis(250));
        tokio::time::advance(Duration::from_millis(251)).await;
        assert!(backoff.ready().is_none(), "the wait is over");
        backoff.failed(0);
        backoff.succeeded();
        assert!(backoff.ready().is_none());
    }
}
