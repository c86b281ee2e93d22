//! Protocol levels (MQTT 5.0 section 3.1.2.2).

use super::{FixedHeader, PacketType, Reader, Writer};
use crate::{Error, Malformed};

/// The version of MQTT that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// MQTT 3.1, protocol name `MQIsdp`.
    V3_1 = 3,
    /// MQTT 3.1.1.
    V3_1_1 = 4,
    /// MQTT 5.0.
    V5 = 5,
}

impl Level {
    /// Whether packets have properties and reason codes.
    pub const fn is_v5(self) -> bool {
        matches!(self, Self::V5)
    }

    /// The level in which the sender of `packet` understands a CONNACK. What is no CONNECT, or ends too early, is
    /// answered as MQTT 5.0.
    pub fn to_answer(packet: &[u8]) -> Self {
        let connect = FixedHeader::read(packet)
            .ok()
            .flatten()
            .filter(|header| header.packet == PacketType::Connect);
        let mut r = Reader::new(
            connect
                .and_then(|header| packet.get(header.len()..))
                .unwrap_or_default(),
        );
        Self::read(&mut r).unwrap_or_else(Self::to_answer_error)
    }

    /// The level for the answer to a CONNECT whose level could not be read.
    pub(super) const fn to_answer_error(error: Error) -> Self {
        match error {
            // Bridges of some 3.1.1 brokers set bit 7, and fall back to plain 4 on return code 1.
            Error::ProtocolVersion { level } if level & 0x7f < 5 => Self::V3_1_1,
            _ => Self::V5,
        }
    }

    /// Reads protocol name and level.
    ///
    /// # Errors
    /// [`Error::ProtocolVersion`] for a pair that is none of the three.
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        match (r.binary()?, r.u8()?) {
            (b"MQIsdp", 3) => Ok(Self::V3_1),
            (b"MQTT", 4) => Ok(Self::V3_1_1),
            (b"MQTT", 5) => Ok(Self::V5),
            (name, level) if core::str::from_utf8(name).is_ok() => Err(Error::ProtocolVersion { level }),
            _ => Err(Malformed::Utf8.into()),
        }
    }

    pub(super) fn write(self, w: &mut Writer<'_>) {
        w.string(if self == Self::V3_1 { "MQIsdp" } else { "MQTT" });
        w.u8(self as u8);
    }
}
