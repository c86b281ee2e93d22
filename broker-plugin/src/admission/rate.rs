//! A token bucket per source, in bounded memory.

use std::{collections::HashMap, net::IpAddr, time::Instant};

/// The buckets of the sources that were busy lately.
#[derive(Default)]
pub(super) struct Rates {
    buckets: HashMap<IpAddr, Bucket>,
}

struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rates {
    /// Takes a token of `source`; its bucket gains `rate` a second and holds `burst`.
    pub(super) fn take(&mut self, source: IpAddr, rate: u32, burst: u32, now: Instant) -> bool {
        let (rate, burst) = (f64::from(rate), f64::from(burst));
        if self.buckets.len() >= MAX_SOURCES && !self.buckets.contains_key(&source) {
            // A full bucket is as good as none.
            self.buckets.retain(|_, bucket| bucket.tokens_at(rate, now) < burst);
            if self.buckets.len() >= MAX_SOURCES {
                // More sources than memory: their number is bounded by the half-open budget instead.
                self.buckets.clear();
            }
        }
        let bucket = self.buckets.entry(source).or_insert(Bucket { tokens: burst, at: now });
        bucket.tokens = bucket.tokens_at(rate, now).min(burst);
        bucket.at = now;
        let allowed = bucket.tokens >= 1.0;
        if allowed {
            bucket.tokens -= 1.0;
        }
        allowed
    }
}

impl Bucket {
    fn tokens_at(&self, rate: f64, now: Instant) -> f64 {
        self.tokens + now.saturating_duration_since(self.at).as_secs_f64() * rate
    }
}

const MAX_SOURCES: usize = 16_384;
