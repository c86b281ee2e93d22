//! Budgets and time limits of a front.

use std::time::Duration;

/// Every bound that a front keeps. [`Limits::default`] suits a small machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections in all, half-open ones included.
    pub connections: usize,
    /// Connections whose handshake is not finished.
    pub half_open: usize,
    /// Bytes that half-open connections may hold together.
    pub half_open_bytes: usize,
    /// New connections per second and source address (IPv6: per /64).
    pub source_rate: u32,
    /// New connections that one source may open at once before the rate counts.
    pub source_burst: u32,
    /// Time for the whole outer CONNECT; one second more for each of its kilobytes.
    pub connect_timeout: Duration,
    /// Time between M2 and M3, and for the pieces of M2.
    pub m3_timeout: Duration,
    /// Time for the back end to accept a connection and to answer the CONNECT.
    pub backend_timeout: Duration,
    /// Time for the peer to take our refusal and close.
    pub close_timeout: Duration,
    /// How long a session may last without a re-authentication.
    pub session_age: Duration,
    /// How often the registry is asked for revoked devices while there are sessions.
    pub revocation_poll: Duration,
    /// Largest record plaintext that we take, in bytes (64..=16384).
    pub record: u16,
    /// Largest inner CONNECT that we take, in bytes (1024..=61440).
    pub connect: u16,
    /// KEM and DH operations at work at once.
    pub workers: usize,
    /// Operations that may wait for their turn.
    pub queue: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            connections: 10_000,
            half_open: 512,
            half_open_bytes: 8 << 20,
            source_rate: 1_000,
            source_burst: 2_000,
            connect_timeout: Duration::from_secs(5),
            m3_timeout: Duration::from_secs(30),
            backend_timeout: Duration::from_secs(10),
            close_timeout: Duration::from_secs(2),
            session_age: Duration::from_secs(7 * 24 * 60 * 60),
            revocation_poll: Duration::from_secs(5),
            record: 16_384,
            connect: 16_384,
            workers: cores,
            queue: 256,
        }
    }
}
