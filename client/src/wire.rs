//! What passes on the wire, for logs and demonstrations: types, lengths and times, never contents.

use std::fmt;
use std::time::Duration;

use hybrid_handshake::suite::SuiteId;

/// Told of every outer packet. Called from the connection's task: return quickly.
pub trait Observer: Send + Sync {
    /// `event` just happened.
    fn observe(&self, event: &WireEvent);
}

/// Something that passed between this client and the broker.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEvent {
    /// A packet of the handshake.
    Handshake {
        /// Who sent it.
        direction: Direction,
        /// Its MQTT type.
        packet: Packet,
        /// The handshake message in its Authentication Data, if any.
        message: Option<Message>,
        /// Its whole length with fixed header, in bytes.
        len: usize,
        /// The suite in use.
        suite: SuiteId,
        /// Time since M1 was begun.
        elapsed: Duration,
    },
    /// M4 opened: both sides have proved themselves.
    Established {
        /// The suite in use.
        suite: SuiteId,
        /// Whether a session ticket took the place of the credential.
        resumed: bool,
        /// Time since M1 was begun.
        elapsed: Duration,
    },
    /// A re-authentication is done: the next record of either side has new keys.
    Reauthenticated,
    /// A record.
    Record {
        /// Who sent it.
        direction: Direction,
        /// Its whole length with header and tag, in bytes.
        len: usize,
        /// Whether it carries control messages instead of the MQTT stream.
        control: bool,
    },
}

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// This client.
    ToBroker,
    /// The broker.
    FromBroker,
}

/// An MQTT packet type of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// CONNECT.
    Connect,
    /// AUTH.
    Auth,
    /// CONNACK.
    Connack,
    /// DISCONNECT.
    Disconnect,
}

/// A handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Client: shares, ciphertext to the broker key, sealed identity.
    M1,
    /// Broker: shares, ephemeral encapsulation key, proof.
    M2,
    /// Client: ciphertext, sealed inner CONNECT.
    M3,
    /// Broker: sealed inner CONNACK.
    M4,
}

impl WireEvent {
    /// Hands the event to `observer` and to `tracing` (target `kemqtt::wire`).
    pub(crate) fn emit(self, observer: Option<&dyn Observer>) {
        match self {
            Self::Record { .. } => tracing::trace!(target: "kemqtt::wire", "{self}"),
            _ => tracing::debug!(target: "kemqtt::wire", "{self}"),
        }
        if let Some(observer) = observer {
            observer.observe(&self);
        }
    }
}

impl fmt::Display for WireEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handshake {
                direction,
                packet,
                message,
                len,
                suite,
                elapsed,
            } => {
                let packet = packet.name();
                let message = message.map_or("", Message::name);
                write!(
                    f,
                    "{direction} {packet:<10} {message:<2} {len:>5} B {:>8.2} ms  {suite}",
                    ms(*elapsed)
                )
            }
            Self::Established {
                suite,
                resumed,
                elapsed,
            } => {
                let how = if *resumed { "resumed" } else { "established" };
                write!(f, "{how} in {:.2} ms with {suite}", ms(*elapsed))
            }
            Self::Reauthenticated => f.write_str("re-authenticated, new keys in both directions"),
            Self::Record {
                direction,
                len,
                control,
            } => {
                write!(
                    f,
                    "{direction} {:<13} {len:>5} B",
                    if *control { "control record" } else { "record" }
                )
            }
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToBroker => "->",
            Self::FromBroker => "<-",
        })
    }
}

impl Packet {
    /// The name MQTT gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "CONNECT",
            Self::Auth => "AUTH",
            Self::Connack => "CONNACK",
            Self::Disconnect => "DISCONNECT",
        }
    }
}

impl Message {
    /// Its name in the protocol: `M1` to `M4`.
    pub fn name(self) -> &'static str {
        match self {
            Self::M1 => "M1",
            Self::M2 => "M2",
            Self::M3 => "M3",
            Self::M4 => "M4",
        }
    }
}

fn ms(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e3
}
