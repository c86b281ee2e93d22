//! Why an attempt or a session ended.

use core::fmt;

use embedded_io::ErrorType;
use hybrid_handshake::{Malformed, drbg::SeedError, mqtt::ReasonCode};

use crate::{Nv, store::StoreError};

/// Why an attempt or a session ended. `L` is the link's error, `N` that of the non-volatile memory. None is final: the
/// device waits [`Node::retry_ms`](crate::Node::retry_ms) and tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<L, N> {
    /// Peer: a flight, a record or a packet that is none.
    Protocol(hybrid_handshake::Error),
    /// Peer: the back end refused the inner CONNECT. The broker is the right one.
    Refused(ReasonCode),
    /// Peer: DISCONNECT with this reason.
    Disconnected(ReasonCode),
    /// Peer: nothing came in time.
    Timeout,
    /// Link: the connection is gone.
    Closed,
    /// Link: it failed.
    Link(L),
    /// Store: it failed, is worn, or holds no credential or pin.
    Store(StoreError<N>),
}

/// What an attempt or a session over the link `L` with the memory `N` gives.
pub type Outcome<T, L, N> = Result<T, Error<<L as ErrorType>::Error, <N as Nv>::Error>>;

impl<L, N> From<hybrid_handshake::Error> for Error<L, N> {
    fn from(error: hybrid_handshake::Error) -> Self {
        Self::Protocol(error)
    }
}

impl<L, N> From<Malformed> for Error<L, N> {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(malformed.into())
    }
}

impl<L, N> From<StoreError<N>> for Error<L, N> {
    fn from(error: StoreError<N>) -> Self {
        Self::Store(error)
    }
}

impl<N> From<SeedError<N>> for StoreError<N> {
    fn from(error: SeedError<N>) -> Self {
        match error {
            SeedError::Missing => Self::Missing,
            SeedError::ReadBack => Self::Worn,
            SeedError::Store(error) => Self::Nv(error),
        }
    }
}

impl<L: fmt::Display, N: fmt::Display> fmt::Display for Error<L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => error.fmt(f),
            Self::Refused(code) => write!(f, "refused: {code}"),
            Self::Disconnected(code) => write!(f, "disconnected: {code}"),
            Self::Timeout => f.write_str("timeout"),
            Self::Closed => f.write_str("closed"),
            Self::Link(error) => write!(f, "link: {error}"),
            Self::Store(error) => write!(f, "store: {error}"),
        }
    }
}

impl<L: fmt::Debug + fmt::Display, N: fmt::Debug + fmt::Display> core::error::Error for Error<L, N> {}
