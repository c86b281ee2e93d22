//! Percentiles per contender, as a table or as JSON.

use std::fmt::Write;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::Traffic;

/// What was measured of one suite, or of the TLS baseline.
pub(super) struct Contender {
    name: String,
    latency_ns: Histogram<u64>,
    traffic: Traffic,
}

impl Contender {
    /// Nothing measured yet.
    pub(super) fn new(name: impl ToString) -> Self {
        // One nanosecond to ten minutes, three significant digits: constants that the crate accepts.
        let latency_ns = Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("valid bounds");
        Self {
            name: name.to_string(),
            latency_ns,
            traffic: Traffic::default(),
        }
    }

    /// One handshake took `elapsed` and moved `traffic`; only noted if it `counts`.
    pub(super) fn add(&mut self, elapsed: Duration, traffic: Traffic, counts: bool) {
        if counts {
            self.latency_ns
                .saturating_record(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
            self.traffic = traffic;
        }
    }

    fn ms(&self, quantile: f64) -> f64 {
        self.latency_ns.value_at_quantile(quantile) as f64 / 1e6
    }

    fn mean_ms(&self) -> f64 {
        self.latency_ns.mean() / 1e6
    }
}

/// The result of a run.
pub(super) struct Report {
    /// Against whom.
    pub(super) peer: String,
    /// In the order of measurement.
    pub(super) contenders: Vec<Contender>,
}

impl Report {
    /// Aligned columns for people.
    pub(super) fn table(&self) -> String {
        let mut out = format!(
            "TCP connect to CONNACK, {}; bytes are those of TCP payload\n{:<44}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            self.peer, "", "n", "p50 ms", "p99 ms", "mean ms", "max ms", "sent B", "recv. B"
        );
        for c in &self.contenders {
            let _ = write!(
                out,
                "\n{:<44}{:>8}{:>10.3}{:>10.3}{:>10.3}{:>10.3}{:>10}{:>10}",
                c.name,
                c.latency_ns.len(),
                c.ms(0.5),
                c.ms(0.99),
                c.mean_ms(),
                c.ms(1.0),
                c.traffic.sent,
                c.traffic.received,
            );
        }
        out
    }

    /// The same for programs.
    pub(super) fn json(&self) -> String {
        let contenders: Vec<Value> = self
            .contenders
            .iter()
            .map(|c| {
                json!({
                    "name": c.name,
                    "handshakes": c.latency_ns.len(),
                    "p50_ms": c.ms(0.5),
                    "p99_ms": c.ms(0.99),
                    "mean_ms": c.mean_ms(),
                    "max_ms": c.ms(1.0),
                    "sent_bytes": c.traffic.sent,
                    "received_bytes": c.traffic.received,
                })
            })
            .collect();
        format!(
            "{:#}",
            json!({ "measures": "TCP connect to CONNACK", "peer": self.peer, "contenders": contenders })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_rounds_do_not_count_and_percentiles_are_ordered() {
        let mut contender = Contender::new("x");
        contender.add(Duration::from_secs(1), Traffic { sent: 9, received: 9 }, false);
        for ms in 1..=100 {
            contender.add(Duration::from_millis(ms), Traffic { sent: 7, received: 8 }, true);
        }
        assert_eq!(contender.latency_ns.len(), 100);
        assert!((contender.ms(0.5) - 50.0).abs() < 0.1 && (contender.ms(0.99) - 99.0).abs() < 0.2);
        let json: Value = serde_json::from_str(
            &Report {
                peer: "p".into(),
                contenders: vec![contender],
            }
            .json(),
        )
        .unwrap();
        assert_eq!(json["contenders"][0]["sent_bytes"], 7);
    }
}
