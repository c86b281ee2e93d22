//! What can go wrong, sorted by blame; every message says what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use hybrid_handshake::mqtt::ReasonCode;

/// Why there is no secure connection, or no longer one.
///
/// Nothing in here is secret: it may be shown and logged as it is.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The broker said no before it proved anything: a hint, never a reason to weaken a setting.
    #[error("the broker refused the connection: {code}{}", advice(*.code))]
    Refused {
        /// The reason code of the outer CONNACK or DISCONNECT.
        code: ReasonCode,
    },
    /// Success was claimed without the proof that only the pinned broker can give.
    #[error(
        "{0}: somebody stands between here and the broker, or a plain MQTT broker answers at this address; \
         nothing was sent to it in clear, check the address and the network"
    )]
    Attack(Attack),
    /// The broker did not prove that it knows both its own key and this device's credential (M2 or M4 did not open).
    #[error(
        "the broker could not prove itself at {0}: the credential is not (or no longer) the enrolled one, or the peer is \
         not the pinned broker; compare the fingerprint of the pin file with the broker's, then enrol the device anew"
    )]
    Unproven(Step),
    /// A record did not open: it was changed, replayed or cut on its way. The connection is gone.
    #[error(
        "a record was tampered with on its way, the connection was closed; reconnect, and check the network if it happens again"
    )]
    Tampered,
    /// The peer broke the protocol in a way that has nothing to do with keys.
    #[error("the peer broke the protocol at {step} ({source}); client and broker may be of different versions")]
    Protocol {
        /// Where it happened.
        step: Step,
        /// What the protocol machine said.
        source: hybrid_handshake::Error,
    },
    /// The peer closed the connection where the protocol does not end.
    #[error("the connection was closed at {0}; the broker's log has the reason if it came from there")]
    Closed(Step),
    /// The peer did not answer in time.
    #[error("no answer within the time limit at {0}; check that this is a KEMQTT port, or raise the timeout")]
    Timeout(Step),
    /// The network or the operating system failed.
    #[error("{what}: {source}")]
    Network {
        /// What was being done, with the address.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system's random generator failed; nothing can be done safely without it")]
    Random,
    /// Settings that contradict each other, found before anything was sent.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A key file that cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// The application did not begin with an MQTT CONNECT that the channel can carry.
    #[error("the application sent no usable MQTT CONNECT ({0})")]
    Application(hybrid_handshake::Error),
}

/// Whom an [`Error`] concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The way to the broker: trying again later may help.
    Network,
    /// The broker, by a refusal.
    Broker,
    /// Somebody who is not the pinned broker, or a credential that does not fit.
    Security,
    /// The caller: settings or files.
    Setup,
}

impl Error {
    /// Whom the error concerns.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Refused { .. } => Blame::Broker,
            Self::Attack(_) | Self::Unproven(_) | Self::Tampered => Blame::Security,
            Self::Protocol { .. } | Self::Closed(_) | Self::Timeout(_) | Self::Network { .. } => Blame::Network,
            Self::Random | Self::Config(_) | Self::File { .. } | Self::Application(_) => Blame::Setup,
        }
    }

    /// What an application behind a bridge is told (MQTT 5.0 section 2.4).
    pub fn reason(&self) -> ReasonCode {
        match self {
            Self::Refused { code } => *code,
            Self::Attack(_) | Self::Unproven(_) | Self::Tampered => ReasonCode::NotAuthorized,
            Self::Protocol { .. } | Self::Closed(_) | Self::Timeout(_) | Self::Network { .. } => {
                ReasonCode::ServerUnavailable
            }
            Self::Random | Self::Config(_) | Self::File { .. } => ReasonCode::ImplementationSpecificError,
            Self::Application(e) => e.reason(),
        }
    }

    /// The verdict on an error of the protocol machines at `step`.
    pub(crate) fn at(step: Step, source: hybrid_handshake::Error) -> Self {
        use hybrid_handshake::Error as Hkm1;
        match source {
            Hkm1::Refused(code) => Self::Refused { code },
            Hkm1::Rejected if step == Step::Session => Self::Tampered,
            Hkm1::Rejected => Self::Unproven(step),
            Hkm1::Downgrade => Self::Attack(Attack::NoProof),
            Hkm1::Generator => Self::Random,
            source => Self::Protocol { step, source },
        }
    }
}

impl From<Error> for io::Error {
    /// For `AsyncRead` and `AsyncWrite`; [`io::Error::downcast`] gives the error back.
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Network { source, .. } => source.kind(),
            Error::Closed(_) => io::ErrorKind::UnexpectedEof,
            Error::Timeout(_) => io::ErrorKind::TimedOut,
            Error::Refused { .. } => io::ErrorKind::ConnectionRefused,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// A point of the connection, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// TCP, before M1.
    Dial,
    /// M1 is being sent.
    M1,
    /// Waiting for M2.
    M2,
    /// M3 is being sent.
    M3,
    /// Waiting for M4.
    M4,
    /// Records flow.
    Session,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dial => "the TCP connection",
            Self::M1 => "M1 (CONNECT)",
            Self::M2 => "M2 (the broker's AUTH)",
            Self::M3 => "M3 (our AUTH)",
            Self::M4 => "M4 (CONNACK)",
            Self::Session => "the record stream",
        })
    }
}

/// What only somebody other than the pinned broker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// A successful CONNACK before any AUTH: the authentication method was ignored or stripped.
    SuccessWithoutAuth,
    /// An AUTH without our method.
    MethodChanged,
    /// A successful CONNACK without our method or without M4.
    NoProof,
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SuccessWithoutAuth => "success without any authentication",
            Self::MethodChanged => "an answer without our authentication method",
            Self::NoProof => "success without the broker's proof (M4)",
        })
    }
}

/// Settings that cannot work.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The suite's group is not that of the broker key.
    #[error(
        "the suite needs another group (X25519 or P-256) than the broker key has; choose a suite that begins with the key's group"
    )]
    Group,
    /// The suite lies below the floor.
    #[error("the suite is weaker than the floor that was set; choose a stronger suite, or lower the floor knowingly")]
    Floor,
    /// The suite is not compiled in.
    #[error("this build has no such suite")]
    Suite,
    /// The suite's profile does not allow the credential's mode.
    #[error(
        "anonymous connections need a suite of profile P2, whose name ends in -p2 or whose AEAD is chacha20poly1305"
    )]
    Mode,
    /// The device key belongs to another KEM or group than the suite.
    #[error(
        "the device key was made for suites of another KEM or group; choose a suite of its kind, or make and enrol another key"
    )]
    DeviceKey,
    /// The pinned key is none that this build can use.
    #[error("the pinned broker key cannot be used by this build; ask the broker's operator for its key line")]
    Pin,
    /// A re-authentication where there is none.
    #[error("this session cannot re-authenticate: it is anonymous, or the broker does not offer it")]
    NoReauthentication,
    /// A limit outside the range of the protocol.
    #[error("the record limit must be 64..16384 bytes and the packet limit 128..16384")]
    Limits,
    /// The CONNECT is larger than M3 carries.
    #[error(
        "the MQTT CONNECT (with will, user name and password) is larger than the {limit} bytes the broker takes; shorten the will or the password"
    )]
    ConnectTooLarge {
        /// Bytes that would fit.
        limit: usize,
    },
}

/// What is wrong with a key file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileProblem {
    /// It does not exist.
    Missing,
    /// It is a directory, a device or a pipe.
    NotAFile,
    /// Others may read or write it.
    TooOpen {
        /// Its permission bits.
        mode: u32,
    },
    /// It would have been overwritten.
    Exists,
    /// It is not what was expected.
    Format(&'static str),
    /// The operating system refused.
    Io(io::ErrorKind),
}

impl FileProblem {
    pub(crate) fn from_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::AlreadyExists => Self::Exists,
            kind => Self::Io(kind),
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no such file; create it, or name another one"),
            Self::NotAFile => f.write_str("not a regular file"),
            Self::TooOpen { mode } => write!(
                f,
                "other users could read or change it (mode {mode:04o}); run `chmod 600` on it, and replace its keys if others had access"
            ),
            Self::Exists => f.write_str("exists already and is not overwritten; move it away or choose another name"),
            Self::Format(what) => f.write_str(what),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

/// What usually helps after a refusal.
fn advice(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::BadAuthenticationMethod => {
            "; it does not know HKM1, this suite or the pinned key: check the address, the suite and the pin file"
        }
        ReasonCode::NotAuthorized => "; the mode, the suite or the credential is not allowed there",
        ReasonCode::QuotaExceeded | ReasonCode::ConnectionRateExceeded => "; it is busy, try again later",
        ReasonCode::ServerUnavailable => "; its registry or back end is down, try again later",
        ReasonCode::PacketTooLarge => "; shorten the will, the user name or the password",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_that_does_not_open_is_unproven_before_the_session_and_tampering_in_it() {
        let rejected = hybrid_handshake::Error::Rejected;
        assert!(matches!(Error::at(Step::M2, rejected), Error::Unproven(Step::M2)));
        assert!(matches!(Error::at(Step::M4, rejected), Error::Unproven(Step::M4)));
        assert!(matches!(Error::at(Step::Session, rejected), Error::Tampered));
    }

    #[test]
    fn an_io_error_gives_the_typed_error_back() {
        let io = io::Error::from(Error::Tampered);
        assert_eq!(io.kind(), io::ErrorKind::InvalidData);
        assert!(matches!(io.downcast::<Error>(), Ok(Error::Tampered)));
    }

    #[test]
    fn an_application_hears_the_brokers_reason_or_that_it_cannot_be_reached() {
        assert_eq!(
            Error::Refused {
                code: ReasonCode::QuotaExceeded
            }
            .reason(),
            ReasonCode::QuotaExceeded
        );
        assert_eq!(Error::Timeout(Step::M2).reason(), ReasonCode::ServerUnavailable);
        assert_eq!(Error::Attack(Attack::NoProof).reason(), ReasonCode::NotAuthorized);
    }
}
