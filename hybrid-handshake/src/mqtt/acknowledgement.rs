//! PUBACK, PUBREC, PUBREL and PUBCOMP (MQTT 5.0 sections 3.4 to 3.7): one shape.

use core::num::NonZeroU16;

use super::header::write_packet;
use super::publish::read_packet_id;
use super::{FixedHeader, Level, PacketType, Place, Properties, Reader, ReasonCode, Writer};
use crate::{Error, Malformed};

/// An answer to a PUBLISH, or to an answer. Its properties, a reason string and user properties, are checked and not
/// kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// PUBACK, PUBREC, PUBREL or PUBCOMP.
    pub packet: PacketType,
    /// Of the PUBLISH.
    pub packet_id: NonZeroU16,
    /// Always [`ReasonCode::Success`] before MQTT 5.0.
    pub code: ReasonCode,
}

impl Acknowledgement {
    /// The PUBACK that takes a QoS 1 message.
    pub const fn puback(packet_id: NonZeroU16) -> Self {
        Self {
            packet: PacketType::Puback,
            packet_id,
            code: ReasonCode::Success,
        }
    }

    /// Reads one whole packet of a connection of this level.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is none of the four, [`Error::Malformed`].
    pub fn parse(packet: &[u8], level: Level) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if !is_acknowledgement(header.packet) {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        let packet_id = read_packet_id(&mut r)?;
        let mut code = ReasonCode::Success;
        if level.is_v5() && !r.is_empty() {
            code = ReasonCode::from_code(r.u8()?).ok_or(Malformed::Value)?;
            if !r.is_empty() {
                Properties::read(&mut r, Place::Acknowledgement)?;
            }
        }
        r.finish()?;
        Ok(Self {
            packet: header.packet,
            packet_id,
            code,
        })
    }

    /// Writes the packet in this level and returns its length, at most 5.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for another packet type, or for a failure before MQTT 5.0.
    pub fn write(&self, level: Level, out: &mut [u8]) -> Result<usize, Error> {
        let success = self.code == ReasonCode::Success;
        if !is_acknowledgement(self.packet) || !(success || level.is_v5()) {
            return Err(Error::Misuse);
        }
        let mut w = Writer::new(out);
        write_packet(&mut w, self.packet.first_byte(), |w| {
            w.u16(self.packet_id.get());
            if !success {
                w.u8(self.code as u8);
            }
        });
        w.finish()
    }
}

const fn is_acknowledgement(packet: PacketType) -> bool {
    matches!(
        packet,
        PacketType::Puback | PacketType::Pubrec | PacketType::Pubrel | PacketType::Pubcomp
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: NonZeroU16 = NonZeroU16::new(0x1234).unwrap();

    #[test]
    fn success_is_four_bytes_in_every_level() {
        for (packet, first) in [
            (PacketType::Puback, 0x40),
            (PacketType::Pubrec, 0x50),
            (PacketType::Pubrel, 0x62),
            (PacketType::Pubcomp, 0x70),
        ] {
            let acknowledgement = Acknowledgement {
                packet,
                packet_id: ID,
                code: ReasonCode::Success,
            };
            for level in [Level::V3_1_1, Level::V5] {
                let mut buf = [0; 4];
                assert_eq!(acknowledgement.write(level, &mut buf), Ok(4));
                assert_eq!(buf, [first, 2, 0x12, 0x34]);
                assert_eq!(Acknowledgement::parse(&buf, level), Ok(acknowledgement));
            }
        }
    }

    #[test]
    fn failures_exist_since_mqtt_5() {
        let quota = Acknowledgement {
            code: ReasonCode::QuotaExceeded,
            ..Acknowledgement::puback(ID)
        };
        let mut buf = [0; 5];
        assert_eq!(quota.write(Level::V5, &mut buf), Ok(5));
        assert_eq!(buf, [0x40, 3, 0x12, 0x34, 0x97]);
        assert_eq!(Acknowledgement::parse(&buf, Level::V5), Ok(quota));
        assert_eq!(quota.write(Level::V3_1_1, &mut buf), Err(Error::Misuse));
        let with_reason = b"\x40\x09\x12\x34\x97\x05\x1f\0\x02no";
        assert_eq!(Acknowledgement::parse(with_reason, Level::V5), Ok(quota));
    }

    #[test]
    fn broken_ones_are_refused() {
        for (wire, error) in [
            (&b"\x40\x02\0\0"[..], Malformed::Value.into()),
            (b"\x40\x01\0", Malformed::Truncated.into()),
            (b"\x40\x03\0\x01\x7f", Malformed::Value.into()),
            (b"\x40\x05\0\x01\0\0\0", Malformed::Trailing.into()),
            (b"\x40\x06\0\x01\0\x02\x25\0", Malformed::Property.into()),
            (b"\x60\x02\0\x01", Malformed::Reserved.into()),
            (b"\xc0\0", Error::UnexpectedPacket),
        ] {
            assert_eq!(Acknowledgement::parse(wire, Level::V5), Err(error));
        }
        assert_eq!(
            Acknowledgement::parse(b"\x40\x03\0\x01\0", Level::V3_1_1),
            Err(Malformed::Trailing.into())
        );
        let ping = Acknowledgement {
            packet: PacketType::Pingreq,
            ..Acknowledgement::puback(ID)
        };
        assert_eq!(ping.write(Level::V5, &mut [0; 4]), Err(Error::Misuse));
    }
}
