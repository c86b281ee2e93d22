//! The CONNACK of the application's session (MQTT 5.0 section 3.2), in its own protocol level.

use super::connect::read_properties;
use super::header::write_packet;
use super::{FixedHeader, Level, PacketType, Place, Properties, Property, Reader, ReasonCode, Writer};
use crate::{Error, Malformed};

/// A CONNACK: what [`Connack::parse`] found and what [`Connack::write`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connack<'a> {
    /// Session Present; MQTT 3.1 does not have it.
    pub session_present: bool,
    /// Before MQTT 5.0 written as the return code that says it best. A code that no CONNACK has is written as
    /// [`ReasonCode::UnspecifiedError`], so that a refusal never fails to be told.
    pub code: ReasonCode,
    /// Left out before MQTT 5.0.
    pub properties: Properties<'a>,
}

impl<'a> Connack<'a> {
    /// A CONNACK with this reason and nothing else.
    pub const fn new(code: ReasonCode) -> Self {
        Self {
            session_present: false,
            code,
            properties: Properties::EMPTY,
        }
    }

    /// Reads one whole packet of a connection of this level.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is no CONNACK, [`Error::Malformed`].
    pub fn parse(packet: &'a [u8], level: Level) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if header.packet != PacketType::Connack {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        let [flags, code] = *r.array()?;
        let code = match level {
            Level::V5 => ReasonCode::from_code(code),
            _ if code <= MAX_RETURN_CODE => Some(ReasonCode::from_return_code(code)),
            _ => None,
        };
        let code = code.filter(|&code| is_allowed(code)).ok_or(Malformed::Value)?;
        let properties = read_properties(&mut r, level, Place::Connack)?;
        r.finish()?;
        let session_present = flags & SESSION_PRESENT != 0;
        if flags & !SESSION_PRESENT != 0 || (session_present && code.is_error()) {
            return Err(Malformed::Reserved.into());
        }
        Ok(Self {
            session_present,
            code,
            properties,
        })
    }

    /// Writes the packet in this level and returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn write(&self, level: Level, out: &mut [u8]) -> Result<usize, Error> {
        let mut w = Writer::new(out);
        self.put(&mut w, level, Keep::All);
        w.finish()
    }

    /// Writes the packet so that it has at most `limit` bytes: whole, else without reason string and user properties,
    /// which tell people and not programs.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if that is not enough; the client is then told [`ReasonCode::PacketTooLarge`].
    /// [`Error::Buffer`].
    pub fn write_within(&self, level: Level, limit: u16, out: &mut [u8]) -> Result<usize, Error> {
        let fits = |keep: &Keep| Writer::measure(|w| self.put(w, level, *keep)) <= limit.into();
        let keep = [Keep::All, Keep::ForPrograms]
            .into_iter()
            .find(fits)
            .ok_or(Error::TooLarge { limit })?;
        let mut w = Writer::new(out);
        self.put(&mut w, level, keep);
        w.finish()
    }

    fn put(&self, w: &mut Writer<'_>, level: Level, keep: Keep) {
        let session_present = self.session_present && level != Level::V3_1;
        let code = if is_allowed(self.code) {
            self.code
        } else {
            ReasonCode::UnspecifiedError
        };
        write_packet(w, PacketType::Connack.first_byte(), |w| {
            w.u8(if session_present { SESSION_PRESENT } else { 0 });
            match (level, keep) {
                (Level::V3_1 | Level::V3_1_1, _) => w.u8(self.code.return_code()),
                (Level::V5, Keep::All) => {
                    w.u8(code as u8);
                    self.properties.write(w);
                }
                (Level::V5, Keep::ForPrograms) => {
                    w.u8(code as u8);
                    w.varint_len(Writer::measure(|w| self.write_for_programs(w)));
                    self.write_for_programs(w);
                }
            }
        });
    }

    fn write_for_programs(&self, w: &mut Writer<'_>) {
        let mut iter = self.properties.iter();
        while let Some((property, bytes)) = iter.next_with_bytes() {
            if !matches!(property, Property::ReasonString(_) | Property::UserProperty(_)) {
                w.bytes(bytes);
            }
        }
    }
}

/// Which properties are written.
#[derive(Clone, Copy)]
enum Keep {
    All,
    ForPrograms,
}

/// MQTT 5.0 table 3-1.
const fn is_allowed(code: ReasonCode) -> bool {
    use ReasonCode::*;
    matches!(
        code,
        Success
            | UnspecifiedError
            | MalformedPacket
            | ProtocolError
            | ImplementationSpecificError
            | UnsupportedProtocolVersion
            | ClientIdentifierNotValid
            | BadUserNameOrPassword
            | NotAuthorized
            | ServerUnavailable
            | ServerBusy
            | Banned
            | BadAuthenticationMethod
            | TopicNameInvalid
            | PacketTooLarge
            | QuotaExceeded
            | PayloadFormatInvalid
            | RetainNotSupported
            | QosNotSupported
            | UseAnotherServer
            | ServerMoved
            | ConnectionRateExceeded
    )
}

const SESSION_PRESENT: u8 = 0x01;

/// Not authorized (MQTT 3.1.1 table 3.1).
const MAX_RETURN_CODE: u8 = 5;

#[cfg(test)]
mod tests;
