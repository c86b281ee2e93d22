//! When the next attempt at a broker may start: exponential, jittered, at most ten minutes.

use std::time::Duration;

use tokio::time::Instant;

/// Delay between connection attempts. It grows while handshakes fail and starts over once an M4 opens.
///
/// The wait is drawn between half and the whole of the current ceiling, so that a fleet that lost its broker at one
/// moment does not return at one moment. Attempts that ran side by side count as one.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    ready: Option<Instant>,
    /// Grows whenever something is learned, so that an attempt knows whether it tells anything new.
    epoch: u64,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    epoch: u64,
}

impl Backoff {
    /// Begins an attempt.
    pub(crate) fn begin(&self) -> Attempt {
        Attempt { epoch: self.epoch }
    }

    /// Whether the last thing learned was a failure: then one attempt at a time is enough.
    pub(crate) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// When the next attempt may start; `None` means now.
    pub(crate) fn ready(&self) -> Option<Instant> {
        self.ready.filter(|at| *at > Instant::now())
    }

    /// Notes an attempt without M4. `jitter` is a uniformly random value.
    pub(crate) fn failed(&mut self, attempt: Attempt, jitter: u32) {
        if attempt.epoch == self.epoch {
            self.ready = Some(Instant::now() + delay(self.failures, jitter));
            self.failures = self.failures.saturating_add(1);
            self.epoch += 1;
        }
    }

    /// Notes that an M4 opened.
    pub(crate) fn succeeded(&mut self) {
        *self = Self {
            epoch: self.epoch + 1,
            ..Self::default()
        };
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
        let mut backoff = Backoff::default();
        assert!(backoff.ready().is_none() && !backoff.is_failing());
        backoff.failed(backoff.begin(), 0);
        let first = backoff.ready().expect("waits after a failure");
        assert_eq!(first - Instant::now(), Duration::from_millis(250));
        tokio::time::advance(Duration::from_millis(251)).await;
        assert!(backoff.ready().is_none(), "the wait is over");
        assert!(backoff.is_failing());
        backoff.failed(backoff.begin(), 0);
        backoff.succeeded();
        assert!(backoff.ready().is_none() && !backoff.is_failing());
    }

    #[tokio::test(start_paused = true)]
    async fn a_hundred_clients_that_fail_together_wait_as_long_as_one() {
        let mut backoff = Backoff::default();
        let attempts = [backoff.begin(); 100];
        attempts
            .into_iter()
            .for_each(|attempt| backoff.failed(attempt, u32::MAX));
        assert_eq!(
            backoff.ready().expect("waits") - Instant::now(),
            Duration::from_millis(500)
        );
        // A failure from before a success says nothing about now.
        let late = backoff.begin();
        backoff.succeeded();
        backoff.failed(late, 0);
        assert!(backoff.ready().is_none());
    }
}
