//! `--debug`: the handshake packet by packet on stderr.

use kemqtt_client::{Observer, WireEvent};

/// Prints what the library observes.
#[derive(Debug)]
pub(super) struct WireLog;

impl Observer for WireLog {
    fn observe(&self, event: &WireEvent) {
        eprintln!("kemqtt: {event}");
    }
}
