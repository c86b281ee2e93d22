//! How long to wait before the next attempt.

/// Doubles from a second to ten minutes; the wait itself is drawn from the upper half, so that a fleet does not come back
/// in step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backoff {
    failures: u8,
}

impl Backoff {
    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    pub(crate) const fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// The wait in milliseconds; `random` is uniform.
    pub(crate) fn wait_ms(self, random: u32) -> u32 {
        let Some(doublings) = self.failures.checked_sub(1) else {
            return 0;
        };
        let longest = (FIRST_MS << doublings.min(MAX_DOUBLINGS)).min(CAP_MS);
        let half = longest / 2;
        half + scale(random, half)
    }
}

/// `random` mapped to 0..=`to`, without a division.
fn scale(random: u32, to: u32) -> u32 {
    let product = u64::from(random) * (u64::from(to) + 1);
    (product >> 32) as u32
}

const FIRST_MS: u32 = 1_000;
const CAP_MS: u32 = 600_000;
/// Beyond the cap, and far from overflow.
const MAX_DOUBLINGS: u8 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_ten_minutes_and_start_again() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.wait_ms(u32::MAX), 0);
        for longest in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600] {
            backoff.failed();
            assert_eq!(
                (backoff.wait_ms(0), backoff.wait_ms(u32::MAX)),
                (longest * 500, longest * 1000)
            );
        }
        (0..300).for_each(|_| backoff.failed());
        assert_eq!(backoff.wait_ms(u32::MAX), 600_000);
        backoff.reset();
        assert_eq!(backoff.wait_ms(7), 0);
    }
}
