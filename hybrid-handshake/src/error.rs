//! Why a handshake, a packet or a record was refused, sorted by blame.

use core::fmt;

use crate::mqtt::ReasonCode;

/// Why a step of the handshake, a packet or a record ended the connection.
///
/// Carries neither peer bytes nor key material, so it may be logged as it is. After an error the machine that returned
/// it is dead.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Peer: bytes that no honest peer writes (0x81).
    Malformed(Malformed),
    /// Peer: a well-formed packet or message that may not come at this point (0x82).
    UnexpectedPacket,
    /// Peer: unknown method, version, suite, mode or broker key (0x8C).
    Unsupported,
    /// Peer: an MQTT protocol level other than 3, 4 and 5 (0x84).
    ProtocolVersion {
        /// The level as sent.
        level: u8,
    },
    /// Peer: any cryptographic failure or refused identity. One variant on purpose: no oracle, not even in a log
    /// (0x87).
    Rejected,
    /// Peer: success claimed without the proof that HKM1 asks for. Treat it as an attack (0x87).
    Downgrade,
    /// Peer: more bytes than were agreed, told before they are read (0x95).
    TooLarge {
        /// The limit that was passed, in bytes.
        limit: u16,
    },
    /// Peer: more control messages or re-authentications than a connection may have per minute (0x96).
    TooOften,
    /// Peer: it ended the exchange with this reason code.
    Refused(ReasonCode),
    /// Caller: the buffer handed in is too short (0x83).
    Buffer {
        /// Bytes needed; 65535 also stands for more.
        needed: u16,
    },
    /// Caller: an argument that the protocol has no encoding for, such as an empty data record (0x83).
    Misuse,
    /// Environment: the random generator gave nothing usable (0x83).
    Generator,
}

impl Error {
    /// The reason code that tells the peer (MQTT 5.0 section 2.4). No `_` arm: a new variant has to choose its code.
    pub const fn reason(&self) -> ReasonCode {
        match self {
            Self::Malformed(_) => ReasonCode::MalformedPacket,
            Self::UnexpectedPacket => ReasonCode::ProtocolError,
            Self::Unsupported => ReasonCode::BadAuthenticationMethod,
            Self::ProtocolVersion { .. } => ReasonCode::UnsupportedProtocolVersion,
            Self::Rejected | Self::Downgrade => ReasonCode::NotAuthorized,
            Self::TooLarge { .. } => ReasonCode::PacketTooLarge,
            Self::TooOften => ReasonCode::MessageRateTooHigh,
            Self::Refused(code) => *code,
            Self::Buffer { .. } | Self::Misuse | Self::Generator => ReasonCode::ImplementationSpecificError,
        }
    }
}

impl From<Malformed> for Error {
    fn from(what: Malformed) -> Self {
        Self::Malformed(what)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::UnexpectedPacket => f.write_str("packet or message not allowed at this point"),
            Self::Unsupported => f.write_str("method, version, suite, mode or broker key not supported"),
            Self::ProtocolVersion { level } => write!(f, "MQTT protocol level {level} not supported"),
            Self::Rejected => f.write_str("not authorized"),
            Self::Downgrade => f.write_str("success claimed without proof of the broker key"),
            Self::TooLarge { limit } => write!(f, "larger than the agreed {limit} bytes"),
            Self::TooOften => f.write_str("too many control messages"),
            Self::Refused(code) => write!(f, "refused by the peer: {code}"),
            Self::Buffer { needed } => write!(f, "buffer too short, {needed} bytes needed"),
            Self::Misuse => f.write_str("argument that the protocol cannot express"),
            Self::Generator => f.write_str("random generator failed"),
        }
    }
}

impl core::error::Error for Error {}

/// What is wrong with bytes from the peer.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes end inside a field.
    Truncated,
    /// Bytes behind the last field.
    Trailing,
    /// A variable byte integer of more than four bytes, or not in its shortest form (MQTT 5.0 section 1.5.5).
    Varint,
    /// A reserved bit or field is not zero, or fixed header flags differ from those of the packet type.
    Reserved,
    /// Not the packet or message type that its place asks for.
    Type,
    /// A string that is not UTF-8 or holds U+0000 (MQTT 5.0 section 1.5.4).
    Utf8,
    /// A property unknown, not allowed in this packet, or given twice (MQTT 5.0 section 2.2.2).
    Property,
    /// A property or field without the one it needs, such as Authentication Data without a method.
    Missing,
    /// A value outside the range of its field.
    Value,
    /// A length that differs from the one its context fixes.
    Length,
    /// A topic name or topic filter that MQTT does not allow (MQTT 5.0 section 4.7).
    Topic,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "ends inside a field",
            Self::Trailing => "bytes behind the last field",
            Self::Varint => "variable byte integer",
            Self::Reserved => "reserved bits",
            Self::Type => "packet or message type",
            Self::Utf8 => "string is not UTF-8",
            Self::Property => "property unknown, misplaced or repeated",
            Self::Missing => "required field missing",
            Self::Value => "value out of range",
            Self::Length => "length does not fit its context",
            Self::Topic => "topic name or filter",
        })
    }
}

impl core::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_the_code_the_protocol_fixes() {
        for (error, code) in [
            (Error::Malformed(Malformed::Varint), 0x81),
            (Error::UnexpectedPacket, 0x82),
            (Error::Unsupported, 0x8c),
            (Error::ProtocolVersion { level: 6 }, 0x84),
            (Error::Rejected, 0x87),
            (Error::Downgrade, 0x87),
            (Error::TooLarge { limit: 64 }, 0x95),
            (Error::TooOften, 0x96),
            (Error::Refused(ReasonCode::ServerUnavailable), 0x88),
            (Error::Buffer { needed: 1 }, 0x83),
            (Error::Misuse, 0x83),
            (Error::Generator, 0x83),
        ] {
            assert_eq!(error.reason() as u8, code, "{error}");
        }
    }

    #[test]
    fn an_error_stays_small_enough_for_an_8_bit_device() {
        assert!(size_of::<Result<(), Error>>() <= 4);
    }
}
