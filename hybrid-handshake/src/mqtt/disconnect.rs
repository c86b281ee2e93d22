//! DISCONNECT (MQTT 5.0 section 3.14).

use super::header::write_packet;
use super::{FixedHeader, Level, PacketType, Place, Properties, Reader, ReasonCode, Writer};
use crate::{Error, Malformed};

/// A DISCONNECT: what [`Disconnect::parse`] found and what [`Disconnect::write`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// Always [`ReasonCode::Success`] before MQTT 5.0.
    pub code: ReasonCode,
    /// Empty before MQTT 5.0.
    pub properties: Properties<'a>,
}

impl<'a> Disconnect<'a> {
    /// A DISCONNECT with this reason and nothing else.
    pub const fn new(code: ReasonCode) -> Self {
        Self {
            code,
            properties: Properties::EMPTY,
        }
    }

    /// Reads one whole packet of a connection of this level.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is no DISCONNECT, [`Error::Malformed`].
    pub fn parse(packet: &'a [u8], level: Level) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if header.packet != PacketType::Disconnect {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        if !level.is_v5() || r.is_empty() {
            r.finish()?;
            return Ok(Self::new(ReasonCode::Success));
        }
        let code = ReasonCode::from_code(r.u8()?)
            .filter(|&code| is_allowed(code))
            .ok_or(Malformed::Value)?;
        let properties = if r.is_empty() {
            Properties::EMPTY
        } else {
            Properties::read(&mut r, Place::Disconnect)?
        };
        r.finish()?;
        Ok(Self { code, properties })
    }

    /// Writes the packet in this level and returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for a code that a DISCONNECT cannot have. Before MQTT 5.0 that is any but
    /// [`ReasonCode::Success`]: a broker closes without a word.
    pub fn write(&self, level: Level, out: &mut [u8]) -> Result<usize, Error> {
        let bare = self.code == ReasonCode::Success && self.properties.is_empty();
        if !is_allowed(self.code) || !(bare || level.is_v5()) {
            return Err(Error::Misuse);
        }
        let mut w = Writer::new(out);
        write_packet(&mut w, PacketType::Disconnect.first_byte(), |w| {
            if !bare {
                w.u8(self.code as u8);
                self.properties.write(w);
            }
        });
        w.finish()
    }
}

/// MQTT 5.0 table 3-10, and 0x8C, which only table 2-6 has.
const fn is_allowed(code: ReasonCode) -> bool {
    use ReasonCode::*;
    !matches!(
        code,
        GrantedQos1
            | GrantedQos2
            | NoMatchingSubscribers
            | NoSubscriptionExisted
            | ContinueAuthentication
            | ReAuthenticate
            | UnsupportedProtocolVersion
            | ClientIdentifierNotValid
            | BadUserNameOrPassword
            | ServerUnavailable
            | Banned
            | PacketIdentifierInUse
            | PacketIdentifierNotFound
    )
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn normal_disconnection_is_two_bytes_in_every_level() {
        for level in [Level::V3_1, Level::V3_1_1, Level::V5] {
            let mut buf = [0; 2];
            assert_eq!(Disconnect::new(ReasonCode::Success).write(level, &mut buf), Ok(2));
            assert_eq!(buf, [0xe0, 0]);
            assert_eq!(Disconnect::parse(&buf, level), Ok(Disconnect::new(ReasonCode::Success)));
        }
    }

    #[test]
    fn reasons_exist_since_mqtt_5() {
        let over = Disconnect::new(ReasonCode::SessionTakenOver);
        let mut buf = [0; 4];
        assert_eq!(over.write(Level::V5, &mut buf), Ok(4));
        assert_eq!(buf, [0xe0, 2, 0x8e, 0]);
        assert_eq!(over.write(Level::V5, &mut buf[..3]), Err(Error::Buffer { needed: 4 }));
        assert_eq!(over.write(Level::V3_1_1, &mut buf), Err(Error::Misuse));
        assert_eq!(Disconnect::parse(&buf, Level::V5), Ok(over));
        assert_eq!(Disconnect::parse(&buf, Level::V3_1_1), Err(Malformed::Trailing.into()));
        assert_eq!(
            Disconnect::parse(&[0xe0, 1, 0x8e], Level::V5),
            Ok(over),
            "Property Length left out"
        );
    }

    #[test]
    fn properties_come_back() {
        let raw = b"\x11\0\0\0\x05\x1f\0\x02by";
        let properties = Properties::check(raw, Place::Disconnect).unwrap();
        let disconnect = Disconnect {
            code: ReasonCode::Success,
            properties,
        };
        let mut buf = [0; 32];
        let len = disconnect.write(Level::V5, &mut buf).unwrap();
        assert_eq!(buf[..len], [&[0xe0, 12, 0, 10][..], raw].concat());
        assert_eq!(Disconnect::parse(&buf[..len], Level::V5), Ok(disconnect));
        assert_eq!(disconnect.write(Level::V3_1_1, &mut buf), Err(Error::Misuse));
    }

    #[test]
    fn the_29_codes_of_table_3_10_and_0x8c_of_table_2_6() {
        let codes: Vec<u8> = (0..=255)
            .filter(|&code| Disconnect::parse(&[0xe0, 1, code], Level::V5).is_ok())
            .collect();
        let table = [
            0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96,
            0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2,
        ];
        assert_eq!(codes, table);
        assert_eq!(
            Disconnect::new(ReasonCode::Banned).write(Level::V5, &mut [0; 4]),
            Err(Error::Misuse)
        );
    }

    #[test]
    fn other_packets_and_broken_ones_are_refused() {
        assert_eq!(Disconnect::parse(&[0xc0, 0], Level::V5), Err(Error::UnexpectedPacket));
        assert_eq!(
            Disconnect::parse(&[0xe0, 3, 0, 0, 0], Level::V5),
            Err(Malformed::Trailing.into())
        );
        assert_eq!(
            Disconnect::parse(&[0xe0, 4, 0, 2, 0x25, 0], Level::V5),
            Err(Malformed::Property.into())
        );
    }
}
