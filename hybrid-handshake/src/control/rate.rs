//! How often something may happen in a minute.

use crate::Error;

/// Counts events in windows of a minute; a window begins with its first event.
#[derive(Clone, Debug)]
pub struct Rate {
    per_minute: u8,
    count: u8,
    since_s: u32,
}

impl Rate {
    /// At most `per_minute` events.
    pub const fn new(per_minute: u8) -> Self {
        Self {
            per_minute,
            count: 0,
            since_s: 0,
        }
    }

    /// One more event, at `now_s` seconds of any clock that runs forward (it may wrap).
    ///
    /// # Errors
    /// [`Error::TooOften`].
    pub const fn admit(&mut self, now_s: u32) -> Result<(), Error> {
        if self.count == 0 || now_s.wrapping_sub(self.since_s) >= 60 {
            self.count = 0;
            self.since_s = now_s;
        }
        if self.count >= self.per_minute {
            return Err(Error::TooOften);
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seventeenth_of_a_minute_is_too_many() {
        let mut rate = Rate::new(16);
        for i in 0..16 {
            assert_eq!(rate.admit(1000 + i), Ok(()));
        }
        assert_eq!(rate.admit(1059), Err(Error::TooOften));
        assert_eq!(rate.admit(1060), Ok(()));
    }

    #[test]
    fn a_clock_may_wrap_and_idle_time_gives_no_credit() {
        let mut rate = Rate::new(1);
        assert_eq!(rate.admit(u32::MAX - 10), Ok(()));
        assert_eq!(rate.admit(48), Err(Error::TooOften));
        assert_eq!(rate.admit(49), Ok(()));
        assert_eq!(rate.admit(100_000), Ok(()));
        assert_eq!(rate.admit(100_059), Err(Error::TooOften));
    }
}
