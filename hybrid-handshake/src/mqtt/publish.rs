//! PUBLISH (MQTT 5.0 section 3.3).

use core::num::NonZeroU16;

use super::connect::{read_properties, write_properties};
use super::header::write_packet;
use super::{FixedHeader, Level, PacketType, Place, Properties, Property, Reader, Writer, topic};
use crate::{Error, Malformed};

/// Quality of Service (MQTT 5.0 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Qos {
    /// QoS 0.
    AtMostOnce = 0,
    /// QoS 1.
    AtLeastOnce,
    /// QoS 2.
    ExactlyOnce,
}

impl Qos {
    /// The QoS in the two lowest bits.
    ///
    /// # Errors
    /// [`Malformed::Reserved`] if both are set.
    pub const fn from_bits(bits: u8) -> Result<Self, Malformed> {
        match bits & 3 {
            0 => Ok(Self::AtMostOnce),
            1 => Ok(Self::AtLeastOnce),
            2 => Ok(Self::ExactlyOnce),
            _ => Err(Malformed::Reserved),
        }
    }
}

/// QoS and, where it needs one, packet identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// QoS 0.
    AtMostOnce,
    /// QoS 1: until the PUBACK comes.
    AtLeastOnce(NonZeroU16),
    /// QoS 2.
    ExactlyOnce(NonZeroU16),
}

impl Delivery {
    /// The QoS alone.
    pub const fn qos(self) -> Qos {
        match self {
            Self::AtMostOnce => Qos::AtMostOnce,
            Self::AtLeastOnce(_) => Qos::AtLeastOnce,
            Self::ExactlyOnce(_) => Qos::ExactlyOnce,
        }
    }
}

/// A PUBLISH: what [`Publish::parse`] found and what [`Publish::write`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// The Topic Name; empty only where a Topic Alias stands for it.
    pub topic: &'a str,
    /// QoS and packet identifier.
    pub delivery: Delivery,
    /// DUP: sent before, maybe. Never set at QoS 0.
    pub dup: bool,
    /// RETAIN.
    pub retain: bool,
    /// Empty before MQTT 5.0.
    pub properties: Properties<'a>,
    /// The message.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    /// A message at QoS 0, not retained, without properties.
    pub const fn new(topic: &'a str, payload: &'a [u8]) -> Self {
        Self {
            topic,
            delivery: Delivery::AtMostOnce,
            dup: false,
            retain: false,
            properties: Properties::EMPTY,
            payload,
        }
    }

    /// Reads one whole packet of a connection of this level.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is no PUBLISH, [`Error::Malformed`], an invalid topic included.
    pub fn parse(packet: &'a [u8], level: Level) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if header.packet != PacketType::Publish {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        let topic = r.string()?;
        let delivery = match Qos::from_bits(header.flags >> QOS_SHIFT)? {
            Qos::AtMostOnce => Delivery::AtMostOnce,
            Qos::AtLeastOnce => Delivery::AtLeastOnce(read_packet_id(&mut r)?),
            Qos::ExactlyOnce => Delivery::ExactlyOnce(read_packet_id(&mut r)?),
        };
        let properties = read_properties(&mut r, level, Place::Publish)?;
        check_topic(topic, properties)?;
        let dup = header.flags & DUP != 0;
        if dup && delivery == Delivery::AtMostOnce {
            return Err(Malformed::Reserved.into());
        }
        Ok(Self {
            topic,
            delivery,
            dup,
            retain: header.flags & RETAIN != 0,
            properties,
            payload: r.rest(),
        })
    }

    /// Writes the packet in this level and returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for an invalid topic, properties before MQTT 5.0, or DUP at QoS 0.
    pub fn write(&self, level: Level, out: &mut [u8]) -> Result<usize, Error> {
        let properties_too_early = !level.is_v5() && !self.properties.is_empty();
        let dup_alone = self.dup && self.delivery == Delivery::AtMostOnce;
        if properties_too_early || dup_alone || check_topic(self.topic, self.properties).is_err() {
            return Err(Error::Misuse);
        }
        let mut w = Writer::new(out);
        write_packet(&mut w, PacketType::Publish.first_byte() | self.flags(), |w| {
            w.string(self.topic);
            if let Delivery::AtLeastOnce(id) | Delivery::ExactlyOnce(id) = self.delivery {
                w.u16(id.get());
            }
            write_properties(w, level, self.properties);
            w.bytes(self.payload);
        });
        w.finish()
    }

    fn flags(&self) -> u8 {
        let flag = |set, bit| if set { bit } else { 0 };
        (self.delivery.qos() as u8) << QOS_SHIFT | flag(self.dup, DUP) | flag(self.retain, RETAIN)
    }
}

/// A packet identifier is never 0 (MQTT 5.0 section 2.2.1).
pub(super) fn read_packet_id(r: &mut Reader<'_>) -> Result<NonZeroU16, Malformed> {
    NonZeroU16::new(r.u16()?).ok_or(Malformed::Value)
}

/// MQTT 5.0 section 3.3.2.1, and 3.3.2.3.4 for the alias.
fn check_topic(topic: &str, properties: Properties<'_>) -> Result<(), Malformed> {
    let aliased = properties.iter().any(|p| matches!(p, Property::TopicAlias(_)));
    if topic.is_empty() && aliased {
        Ok(())
    } else {
        topic::check_name(topic)
    }
}

// Flags of the fixed header (MQTT 5.0 section 3.3.1).
const RETAIN: u8 = 0x01;
const QOS_SHIFT: u8 = 1;
const DUP: u8 = 0x08;

#[cfg(test)]
mod tests {
    use super::*;

    const ID: NonZeroU16 = NonZeroU16::new(0x000a).unwrap();

    #[track_caller]
    fn same_bytes(publish: Publish<'_>, level: Level, wire: &[u8]) {
        let mut buf = [0; 64];
        let len = publish.write(level, &mut buf).unwrap();
        assert_eq!(buf[..len], *wire);
        assert_eq!(Publish::parse(wire, level), Ok(publish));
        let needed = wire.len() as u16;
        assert_eq!(publish.write(level, &mut buf[..len - 1]), Err(Error::Buffer { needed }));
    }

    #[test]
    fn qos_0_and_1_are_byte_exact() {
        same_bytes(Publish::new("a/b", b"hi"), Level::V3_1_1, b"\x30\x07\0\x03a/bhi");
        same_bytes(Publish::new("a/b", b""), Level::V5, b"\x30\x06\0\x03a/b\0");
        let delivery = Delivery::AtLeastOnce(ID);
        let again = Publish {
            delivery,
            dup: true,
            retain: true,
            ..Publish::new("a/b", b"hi")
        };
        same_bytes(again, Level::V5, b"\x3b\x0a\0\x03a/b\0\x0a\0hi");
        let exactly = Publish {
            delivery: Delivery::ExactlyOnce(ID),
            ..Publish::new("a/b", b"hi")
        };
        same_bytes(exactly, Level::V3_1, b"\x34\x09\0\x03a/b\0\x0ahi");
        let properties = Properties::check(b"\x23\0\x07", Place::Publish).unwrap();
        same_bytes(
            Publish {
                properties,
                ..Publish::new("", b"hi")
            },
            Level::V5,
            b"\x30\x08\0\0\x03\x23\0\x07hi",
        );
    }

    #[test]
    fn what_mqtt_forbids_is_neither_read_nor_written() {
        let parse = |wire: &[u8]| Publish::parse(wire, Level::V5).map(|_| ());
        assert_eq!(parse(b"\x30\x06\0\x03a/#\0"), Err(Malformed::Topic.into()));
        assert_eq!(
            parse(b"\x30\x03\0\0\0"),
            Err(Malformed::Topic.into()),
            "empty without alias"
        );
        assert_eq!(
            parse(b"\x32\x06\0\x01a\0\0\0"),
            Err(Malformed::Value.into()),
            "packet identifier 0"
        );
        assert_eq!(
            parse(b"\x38\x04\0\x01a\0"),
            Err(Malformed::Reserved.into()),
            "DUP at QoS 0"
        );
        assert_eq!(
            parse(b"\x36\x06\0\x01a\0\x01\0"),
            Err(Malformed::Reserved.into()),
            "QoS 3"
        );
        assert_eq!(parse(b"\x32\x03\0\x01a"), Err(Malformed::Truncated.into()));
        assert_eq!(parse(b"\xc0\0"), Err(Error::UnexpectedPacket));
        let refused = |publish: Publish<'_>, level| assert_eq!(publish.write(level, &mut [0; 64]), Err(Error::Misuse));
        refused(Publish::new("a/+", b""), Level::V5);
        refused(Publish::new("", b""), Level::V5);
        refused(
            Publish {
                dup: true,
                ..Publish::new("a", b"")
            },
            Level::V5,
        );
        let properties = Properties::check(b"\x01\x01", Place::Publish).unwrap();
        refused(
            Publish {
                properties,
                ..Publish::new("a", b"")
            },
            Level::V3_1_1,
        );
    }
}
