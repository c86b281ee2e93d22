//! What a client reads before it is connected.

use super::{Carried, part, read_auth};
use crate::mqtt::{FixedHeader, PacketType, Place, Properties, Reader, ReasonCode};
use crate::{Error, Malformed};

/// A packet from the broker before or with the CONNACK.
#[derive(Debug, PartialEq, Eq)]
pub enum FromBroker<'a> {
    /// AUTH 0x18: M2 or the next piece of it.
    Auth(&'a mut [u8]),
    /// CONNACK 0x00: M4.
    Connack(&'a mut [u8]),
}

/// Reads one whole packet from the broker.
///
/// # Errors
/// [`Error::Refused`] with the reason of a refusing CONNACK, also in the form of MQTT 3.1.1. [`Error::Downgrade`] for
/// success without our method or without data: such a broker does not know HKM1, or somebody has removed it.
/// [`Error::Unsupported`] for an AUTH of another method, [`Error::UnexpectedPacket`] for other packets and reasons,
/// [`Error::Malformed`].
pub fn read_from_broker(packet: &mut [u8]) -> Result<FromBroker<'_>, Error> {
    let (header, body) = FixedHeader::split(packet)?;
    match header.packet {
        PacketType::Auth => {
            let data = read_auth(packet, body)?;
            Ok(FromBroker::Auth(part(packet, data)?))
        }
        PacketType::Connack => {
            let carried = read_connack(packet, body)?;
            match carried.data {
                Some(_) if carried.method => Ok(FromBroker::Connack(part(packet, carried.data)?)),
                _ => Err(Error::Downgrade),
            }
        }
        _ => Err(Error::UnexpectedPacket),
    }
}

fn read_connack(packet: &[u8], body: &[u8]) -> Result<Carried, Error> {
    let mut r = Reader::new(body);
    let [flags, code] = *r.array()?;
    if r.is_empty() {
        return Err(read_return_code(code)); // MQTT 3.1.1 has no properties, MQTT 5.0 always a Property Length
    }
    let code = ReasonCode::from_code(code).ok_or(Malformed::Value)?;
    let properties = Properties::read(&mut r, Place::Connack)?;
    r.finish()?;
    if code.is_error() {
        return Err(Error::Refused(code));
    }
    if code != ReasonCode::Success {
        return Err(Malformed::Value.into());
    }
    // Session Present cannot be: the outer CONNECT asks for a clean start (MQTT 5.0 section 3.2.2.1.1).
    if flags != 0 {
        return Err(Malformed::Reserved.into());
    }
    Ok(Carried::find(properties, packet.len(), 0))
}

fn read_return_code(code: u8) -> Error {
    match code {
        0 => Error::Downgrade,
        1..=5 => Error::Refused(ReasonCode::from_return_code(code)),
        _ => Malformed::Value.into(),
    }
}
