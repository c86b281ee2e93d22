//! The fixed header (MQTT 5.0 section 2.1).

use super::writer::varint_len;
use super::{Reader, Writer};
use crate::Malformed;

/// The MQTT control packet types (MQTT 5.0 section 2.1.2); 0 is reserved and belongs to HKM1's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum PacketType {
    Connect = 1,
    Connack,
    Publish,
    Puback,
    Pubrec,
    Pubrel,
    Pubcomp,
    Subscribe,
    Suback,
    Unsubscribe,
    Unsuback,
    Pingreq,
    Pingresp,
    Disconnect,
    /// MQTT 5.0 only.
    Auth,
}

impl PacketType {
    /// The type in the high nibble of a first byte; `None` if it is 0.
    pub const fn from_first_byte(first: u8) -> Option<Self> {
        Some(match first >> 4 {
            1 => Self::Connect,
            2 => Self::Connack,
            3 => Self::Publish,
            4 => Self::Puback,
            5 => Self::Pubrec,
            6 => Self::Pubrel,
            7 => Self::Pubcomp,
            8 => Self::Subscribe,
            9 => Self::Suback,
            10 => Self::Unsubscribe,
            11 => Self::Unsuback,
            12 => Self::Pingreq,
            13 => Self::Pingresp,
            14 => Self::Disconnect,
            15 => Self::Auth,
            _ => return None,
        })
    }

    /// The first byte of a packet of this type with the flags that MQTT fixes (section 2.1.3), for PUBLISH with none
    /// set.
    pub const fn first_byte(self) -> u8 {
        (self as u8) << 4
            | if matches!(self, Self::Pubrel | Self::Subscribe | Self::Unsubscribe) {
                2
            } else {
                0
            }
    }
}

/// First byte and Remaining Length of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedHeader {
    /// What kind of packet follows.
    pub packet: PacketType,
    /// The low four bits of the first byte; only a PUBLISH has a choice.
    pub flags: u8,
    /// Bytes behind the fixed header.
    pub remaining: u32,
}

impl FixedHeader {
    /// Length of the longest fixed header, in bytes.
    pub const MAX_LEN: usize = 5;

    /// The header of a packet of type `packet` with the flags that MQTT fixes.
    pub const fn new(packet: PacketType, remaining: u32) -> Self {
        Self {
            packet,
            flags: packet.first_byte() & 0x0f,
            remaining,
        }
    }

    /// Reads a header from bytes that may still be arriving: `None` asks for at least one more byte.
    ///
    /// # Errors
    /// [`Malformed::Type`] for type 0, [`Malformed::Reserved`] for flags that MQTT does not allow,
    /// [`Malformed::Varint`].
    pub fn read(received: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut r = Reader::new(received);
        let Ok(first) = r.u8() else { return Ok(None) };
        let (packet, flags) = check_first_byte(first)?;
        match r.varint() {
            Ok(remaining) => Ok(Some(Self {
                packet,
                flags,
                remaining,
            })),
            Err(Malformed::Truncated) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Splits one whole packet into header and body; nothing may follow the body.
    ///
    /// # Errors
    /// As [`FixedHeader::read`]; [`Malformed::Truncated`] and [`Malformed::Trailing`] if `packet` is not exactly one
    /// packet.
    pub fn split(packet: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let header = Self::read(packet)?.ok_or(Malformed::Truncated)?;
        let mut r = Reader::new(packet);
        r.u8()?;
        let body = r.block()?;
        r.finish()?;
        Ok((header, body))
    }

    /// Length of this header on the wire, in bytes.
    pub const fn len(&self) -> usize {
        1 + varint_len(self.remaining)
    }

    /// A header is never empty.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Length of header and body, in bytes.
    pub const fn packet_len(&self) -> u32 {
        self.len() as u32 + self.remaining
    }

    /// The first byte on the wire.
    pub const fn first_byte(&self) -> u8 {
        (self.packet as u8) << 4 | self.flags & 0x0f
    }

    /// Writes the header.
    pub fn write(&self, w: &mut Writer<'_>) {
        w.u8(self.first_byte());
        w.varint(self.remaining);
    }
}

pub(super) fn check_first_byte(first: u8) -> Result<(PacketType, u8), Malformed> {
    let packet = PacketType::from_first_byte(first).ok_or(Malformed::Type)?;
    let flags = first & 0x0f;
    let allowed = match packet {
        PacketType::Publish => flags & 0b0110 != 0b0110, // QoS 3 (section 3.3.1.2)
        _ => first == packet.first_byte(),
    };
    if allowed {
        Ok((packet, flags))
    } else {
        Err(Malformed::Reserved)
    }
}

/// Writes a packet whose body `body` writes; it is called twice, first to measure.
pub(super) fn write_packet(w: &mut Writer<'_>, first: u8, body: impl Fn(&mut Writer<'_>)) {
    w.u8(first);
    w.varint_len(Writer::measure(&body));
    body(w);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_that_mqtt_allows() {
        for first in 0..=255_u8 {
            let expected = match first {
                0x30..=0x3f => first & 6 != 6,
                0x62 | 0x82 | 0xa2 => true,
                0x10 | 0x20 | 0x40 | 0x50 | 0x70 | 0x90 | 0xb0 | 0xc0 | 0xd0 | 0xe0 | 0xf0 => true,
                _ => false,
            };
            let read = FixedHeader::read(&[first, 0]);
            assert_eq!(read.is_ok(), expected, "{first:#x}");
            if let Ok(Some(header)) = read {
                assert_eq!((header.first_byte(), header.len(), header.packet_len()), (first, 2, 2));
            } else {
                assert_eq!(
                    read,
                    Err(if first < 0x10 {
                        Malformed::Type
                    } else {
                        Malformed::Reserved
                    })
                );
            }
        }
    }

    #[test]
    fn a_header_may_arrive_byte_by_byte() {
        let wire = [0x30, 0xff, 0xff, 0xff, 0x7f];
        for end in 0..5 {
            assert_eq!(FixedHeader::read(&wire[..end]), Ok(None));
        }
        let header = FixedHeader {
            packet: PacketType::Publish,
            flags: 0,
            remaining: 268_435_455,
        };
        assert_eq!(FixedHeader::read(&wire), Ok(Some(header)));
        assert_eq!(FixedHeader::read(&[0x30, 0x80, 0x00]), Err(Malformed::Varint));
    }

    #[test]
    fn one_packet_is_neither_more_nor_less() {
        assert_eq!(
            FixedHeader::split(&[0xc0, 0]),
            Ok((FixedHeader::new(PacketType::Pingreq, 0), &[][..]))
        );
        assert_eq!(FixedHeader::split(&[0xc0]), Err(Malformed::Truncated));
        assert_eq!(FixedHeader::split(&[0x20, 2, 0]), Err(Malformed::Truncated));
        assert_eq!(FixedHeader::split(&[0xc0, 0, 0]), Err(Malformed::Trailing));
    }
}
