//! SUBSCRIBE and SUBACK (MQTT 5.0 sections 3.8 and 3.9).

use core::num::NonZeroU16;

use super::connect::{read_properties, write_properties};
use super::header::write_packet;
use super::publish::read_packet_id;
use super::{FixedHeader, Level, PacketType, Place, Properties, Qos, Reader, ReasonCode, Writer, topic};
use crate::{Error, Malformed};

/// A SUBSCRIBE to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// Comes back in the SUBACK.
    pub packet_id: NonZeroU16,
    /// Topic Filters and the highest QoS wanted for each.
    pub filters: &'a [(&'a str, Qos)],
}

impl Subscribe<'_> {
    /// Writes the packet in this level and returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for no filter or an invalid one.
    pub fn write(&self, level: Level, out: &mut [u8]) -> Result<usize, Error> {
        let invalid = |(filter, _): &(&str, Qos)| topic::check_filter(filter).is_err();
        if self.filters.is_empty() || self.filters.iter().any(invalid) {
            return Err(Error::Misuse);
        }
        let mut w = Writer::new(out);
        write_packet(&mut w, PacketType::Subscribe.first_byte(), |w| {
            w.u16(self.packet_id.get());
            write_properties(w, level, Properties::EMPTY);
            for (filter, qos) in self.filters {
                w.string(filter);
                w.u8(*qos as u8);
            }
        });
        w.finish()
    }
}

/// A SUBACK that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suback<'a> {
    /// Of the SUBSCRIBE.
    pub packet_id: NonZeroU16,
    codes: &'a [u8],
}

impl<'a> Suback<'a> {
    /// Reads one whole packet of a connection of this level.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is no SUBACK, [`Error::Malformed`].
    pub fn parse(packet: &'a [u8], level: Level) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if header.packet != PacketType::Suback {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        let packet_id = read_packet_id(&mut r)?;
        read_properties(&mut r, level, Place::Acknowledgement)?;
        let codes = r.rest();
        let known = |&code: &u8| ReasonCode::from_code(code).is_some_and(|code| is_answer(code, level));
        if codes.is_empty() || !codes.iter().all(known) {
            return Err(Malformed::Value.into());
        }
        Ok(Self { packet_id, codes })
    }

    /// For each filter of the SUBSCRIBE the granted QoS, or why not.
    pub fn codes(&self) -> impl Iterator<Item = ReasonCode> + 'a {
        self.codes.iter().filter_map(|&code| ReasonCode::from_code(code))
    }
}

/// MQTT 5.0 table 3-8; MQTT 3.1.1 knows one failure.
const fn is_answer(code: ReasonCode, level: Level) -> bool {
    use ReasonCode::*;
    match code {
        Success | GrantedQos1 | GrantedQos2 | UnspecifiedError => true,
        ImplementationSpecificError
        | NotAuthorized
        | TopicFilterInvalid
        | PacketIdentifierInUse
        | QuotaExceeded
        | SharedSubscriptionsNotSupported
        | SubscriptionIdentifiersNotSupported
        | WildcardSubscriptionsNotSupported => level.is_v5(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    const ID: NonZeroU16 = NonZeroU16::new(0x000a).unwrap();

    #[test]
    fn subscribe_is_byte_exact() {
        let subscribe = Subscribe {
            packet_id: ID,
            filters: &[("a/b", Qos::AtLeastOnce), ("c/#", Qos::AtMostOnce)],
        };
        let mut buf = [0; 32];
        let len = subscribe.write(Level::V3_1_1, &mut buf).unwrap();
        assert_eq!(buf[..len], *b"\x82\x0e\0\x0a\0\x03a/b\x01\0\x03c/#\0");
        let len = subscribe.write(Level::V5, &mut buf).unwrap();
        assert_eq!(buf[..len], *b"\x82\x0f\0\x0a\0\0\x03a/b\x01\0\x03c/#\0");
        assert_eq!(
            subscribe.write(Level::V5, &mut buf[..len - 1]),
            Err(Error::Buffer { needed: 17 })
        );
    }

    #[test]
    fn subscribe_without_a_valid_filter_is_misuse() {
        for filters in [
            &[][..],
            &[("", Qos::AtMostOnce)],
            &[("a", Qos::AtMostOnce), ("a#", Qos::AtMostOnce)],
        ] {
            assert_eq!(
                Subscribe { packet_id: ID, filters }.write(Level::V5, &mut [0; 64]),
                Err(Error::Misuse)
            );
        }
    }

    #[test]
    fn suback_tells_each_filters_fate() {
        let suback = Suback::parse(b"\x90\x06\0\x0a\0\x01\x02\x87", Level::V5).unwrap();
        assert_eq!(suback.packet_id, ID);
        let codes: Vec<_> = suback.codes().collect();
        assert_eq!(
            codes,
            [
                ReasonCode::GrantedQos1,
                ReasonCode::GrantedQos2,
                ReasonCode::NotAuthorized
            ]
        );
        assert!(Suback::parse(b"\x90\x04\0\x0a\0\x80", Level::V3_1_1).is_ok());
        assert_eq!(
            Suback::parse(b"\x90\x03\0\x0a\x87", Level::V3_1_1),
            Err(Malformed::Value.into())
        );
        assert_eq!(
            Suback::parse(b"\x90\x04\0\x0a\0\x8c", Level::V5),
            Err(Malformed::Value.into())
        );
        assert_eq!(
            Suback::parse(b"\x90\x03\0\x0a\0", Level::V5),
            Err(Malformed::Value.into()),
            "no code"
        );
        assert_eq!(
            Suback::parse(b"\x90\x03\0\0\0", Level::V3_1_1),
            Err(Malformed::Value.into())
        );
        assert_eq!(
            Suback::parse(b"\xb0\x03\0\x0a\0", Level::V3_1_1),
            Err(Error::UnexpectedPacket)
        );
    }
}
