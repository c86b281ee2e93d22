//! Why a connection is refused: the reason code for the client, the name for log and counter.

use std::io;

use hybrid_handshake::{
    Error,
    mqtt::{ReasonCode, outer},
};

use crate::{admission, registry::RegistryError};

/// Refused before box3 has verified: an outer CONNACK, uniform wherever a difference would help an attacker.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    /// The first packet; knows the form of its answer.
    First(outer::Refusal),
    /// The protocol or its cryptography.
    Protocol(Error),
    /// The listener does not allow this mode or suite.
    NotAllowed,
    /// No place for one more connection.
    Full,
    /// The place went to another connection.
    Evicted,
    /// The source opens connections too fast.
    Rate,
    /// Too much asymmetric work is waiting.
    Busy,
    /// The registry does not answer.
    Registry,
    /// Our own fault.
    Internal,
    /// The client was too slow.
    Timeout,
    /// The client went away.
    Gone,
    /// The front stops.
    Stopped,
}

impl Refusal {
    /// Name in log and metrics.
    pub(crate) const fn cause(&self) -> &'static str {
        match self {
            Self::First(refusal) => match refusal.error() {
                Error::Unsupported | Error::ProtocolVersion { .. } => "plain-mqtt",
                error => cause_of(&error),
            },
            Self::Protocol(error) => cause_of(error),
            Self::NotAllowed => "mode-or-suite",
            Self::Full => "full",
            Self::Evicted => "evicted",
            Self::Rate => "rate",
            Self::Busy => "busy",
            Self::Registry => "registry",
            Self::Internal => "internal",
            Self::Timeout => "timeout",
            Self::Gone => "gone",
            Self::Stopped => "shutdown",
        }
    }

    /// What the client is told; `None` closes without a word.
    pub(crate) const fn code(&self) -> Option<ReasonCode> {
        Some(match self {
            Self::First(refusal) => refusal.error().reason(),
            Self::Protocol(error) => error.reason(),
            Self::NotAllowed => ReasonCode::NotAuthorized,
            Self::Full | Self::Evicted | Self::Busy => ReasonCode::QuotaExceeded,
            Self::Rate => ReasonCode::ConnectionRateExceeded,
            Self::Registry => ReasonCode::ServerUnavailable,
            Self::Internal => ReasonCode::ImplementationSpecificError,
            Self::Timeout | Self::Gone | Self::Stopped => return None,
        })
    }

    /// The CONNACK, if there is one.
    pub(crate) fn connack(&self) -> Option<Vec<u8>> {
        let mut out = vec![0; outer::Refusal::MAX_LEN];
        let written = match self {
            Self::First(refusal) => refusal.write(&mut out),
            _ => outer::write_refusal(&mut out, self.code()?),
        };
        out.truncate(written.ok()?);
        Some(out)
    }

    /// What the operator should know, beyond the cause.
    pub(crate) const fn detail(&self) -> &'static str {
        match self {
            Self::First(_) => "client does not speak HKM1 on this port",
            Self::Protocol(Error::Unsupported) => "method, version, suite, mode or broker key not known here",
            Self::Protocol(Error::Rejected) => "wrong broker key, unknown device, wrong credential, or altered bytes",
            Self::Protocol(_) => "bytes or packets that the protocol does not allow",
            Self::NotAllowed => {
                "the listener does not allow this mode or suite (anonymous clients need allow_anonymous)"
            }
            Self::Full => "limit `connections` or `half_open_kib` reached",
            Self::Evicted => "half-open limit reached; the oldest of the busiest source had to go",
            Self::Rate => "limit `source_rate` reached",
            Self::Busy => "all key exchange workers are busy",
            Self::Registry => "registry unreachable",
            Self::Internal => "internal error",
            Self::Timeout => "client was too slow",
            Self::Gone => "client went away",
            Self::Stopped => "front is stopping",
        }
    }
}

const fn cause_of(error: &Error) -> &'static str {
    match error {
        Error::Malformed(_) => "malformed",
        Error::UnexpectedPacket => "unexpected-packet",
        Error::Unsupported => "unsupported",
        Error::Rejected => "rejected",
        Error::TooLarge { .. } => "too-large",
        Error::TooOften => "too-often",
        _ => "internal",
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Protocol(error)
    }
}

impl From<outer::Refusal> for Refusal {
    fn from(refusal: outer::Refusal) -> Self {
        Self::First(refusal)
    }
}

impl From<admission::Refused> for Refusal {
    fn from(refused: admission::Refused) -> Self {
        match refused {
            admission::Refused::Full => Self::Full,
            admission::Refused::Rate => Self::Rate,
        }
    }
}

impl From<admission::Busy> for Refusal {
    fn from(_: admission::Busy) -> Self {
        Self::Busy
    }
}

impl From<RegistryError> for Refusal {
    fn from(error: RegistryError) -> Self {
        tracing::error!(%error, "registry");
        Self::Registry
    }
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Refused inside M4: the client is known, so it is told the real reason in its application's protocol level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InnerRefusal {
    /// The device is revoked.
    Revoked,
    /// The device has got another credential since its ticket was sealed.
    CredentialChanged,
    /// The device may not use this mode or suite.
    NotAllowed,
    /// The device may not use this client id, or it belongs to another.
    ClientId,
    /// An anonymous client claims the user name of a device.
    UserName,
    /// The back end does not answer, or not with a CONNACK.
    Unreachable,
    /// The client may not publish to the topic of its will.
    WillTopic,
    /// The CONNACK does not fit the client's packet limit.
    TooLarge,
    /// The inner CONNECT is none.
    Malformed,
    /// A protocol level that MQTT does not have.
    Level,
    /// The registry does not answer.
    Registry,
}

impl InnerRefusal {
    /// Name in log and metrics.
    pub(crate) const fn cause(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::CredentialChanged => "credential-changed",
            Self::NotAllowed => "device-mode-or-suite",
            Self::ClientId => "client-id",
            Self::UserName => "user-name",
            Self::Unreachable => "backend-unreachable",
            Self::WillTopic => "will-topic",
            Self::TooLarge => "connack-too-large",
            Self::Malformed => "connect-malformed",
            Self::Level => "protocol-level",
            Self::Registry => "registry-inner",
        }
    }

    /// The reason code; older levels get its return code.
    pub(crate) const fn code(self) -> ReasonCode {
        match self {
            Self::Revoked | Self::CredentialChanged | Self::NotAllowed | Self::UserName | Self::WillTopic => {
                ReasonCode::NotAuthorized
            }
            Self::ClientId => ReasonCode::ClientIdentifierNotValid,
            Self::Unreachable | Self::Registry => ReasonCode::ServerUnavailable,
            Self::TooLarge => ReasonCode::PacketTooLarge,
            Self::Malformed => ReasonCode::MalformedPacket,
            Self::Level => ReasonCode::UnsupportedProtocolVersion,
        }
    }
}
