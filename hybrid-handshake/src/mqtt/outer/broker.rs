//! What a broker reads before a client is connected, and how it refuses.

use super::{Carried, METHOD, part, read_auth};
use crate::mqtt::{Connack, FixedHeader, Level, PacketType, Place, Properties, Property, Reader, ReasonCode};
use crate::{Error, Malformed};

/// A packet from the client between its CONNECT and the CONNACK.
#[derive(Debug, PartialEq, Eq)]
pub enum FromClient<'a> {
    /// AUTH 0x18 with data: M3.
    Data(&'a mut [u8]),
    /// AUTH 0x18 without data: the client wants the next piece of M2.
    NextPiece,
    /// The client gives up.
    Disconnect,
}

/// Reads one whole packet from the client, from the second on.
///
/// # Errors
/// [`Error::UnexpectedPacket`] for anything but AUTH 0x18 and DISCONNECT, [`Error::Unsupported`] for another method,
/// [`Error::Malformed`].
pub fn read_from_client(packet: &mut [u8]) -> Result<FromClient<'_>, Error> {
    let (header, body) = FixedHeader::split(packet)?;
    match header.packet {
        PacketType::Auth => match read_auth(packet, body)? {
            Some(data) => Ok(FromClient::Data(part(packet, Some(data))?)),
            None => Ok(FromClient::NextPiece),
        },
        PacketType::Disconnect => Ok(FromClient::Disconnect),
        _ => Err(Error::UnexpectedPacket),
    }
}

/// Reads the first packet of a connection, one whole packet, and returns M1.
///
/// Wants protocol level 5, connect flags 0x02 and our method with data; ignores keep alive, client id and other
/// properties.
///
/// # Errors
/// A [`Refusal`], which knows the form in which this client understands an answer. Its error is [`Error::Unsupported`]
/// for a plain MQTT client, [`Error::ProtocolVersion`] for an unknown protocol level, [`Error::UnexpectedPacket`] or
/// [`Error::Malformed`].
pub fn read_connect(packet: &mut [u8]) -> Result<&mut [u8], Refusal> {
    let data = find_m1(packet)?;
    part(packet, Some(data)).map_err(|what| Refusal {
        error: what.into(),
        form: Form::Plain(Level::V5),
    })
}

/// Writes the CONNACK that refuses an HKM1 client: no properties, so no hint beyond the code.
///
/// # Errors
/// [`Error::Buffer`].
pub fn write_refusal(out: &mut [u8], code: ReasonCode) -> Result<usize, Error> {
    Connack::new(code).write(Level::V5, out)
}

/// Why the first packet of a connection was refused, and in which form the client can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    error: Error,
    form: Form,
}

impl Refusal {
    /// Length of the longest refusal, in bytes.
    pub const MAX_LEN: usize = 2 + 2 + 1 + 3 + HINT.len();

    /// Why.
    pub const fn error(&self) -> Error {
        self.error
    }

    /// Writes the CONNACK for it: MQTT 5.0 with a reason string where the client takes one, or MQTT 3.1.1. Returns its
    /// length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.form.write(out, self.error.reason())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain(Level),
    /// MQTT 5.0 with a reason string that names the method.
    WithHint,
}

impl Form {
    fn write(self, out: &mut [u8], code: ReasonCode) -> Result<usize, Error> {
        match self {
            Self::Plain(level) => Connack::new(code).write(level, out),
            Self::WithHint => {
                let mut buf = [0; 3 + HINT.len()];
                let properties = Properties::build(&mut buf, Place::Connack, &[Property::ReasonString(HINT)])?;
                Connack {
                    properties,
                    ..Connack::new(code)
                }
                .write(Level::V5, out)
            }
        }
    }
}

/// The reason string for plain MQTT clients.
const HINT: &str = "this port wants Authentication Method HKM1";

const _: () = assert!(HINT.len() + METHOD.len() < 120); // one-byte lengths in `Refusal::MAX_LEN`

fn find_m1(packet: &[u8]) -> Result<core::ops::Range<usize>, Refusal> {
    let refuse = |error: Error| Refusal {
        error,
        form: Form::Plain(Level::to_answer_error(error)),
    };
    let malformed = |what: Malformed| refuse(what.into());

    let (header, body) = FixedHeader::split(packet).map_err(malformed)?;
    if header.packet != PacketType::Connect {
        return Err(refuse(Error::UnexpectedPacket));
    }
    let mut r = Reader::new(body);
    let level = Level::read(&mut r).map_err(refuse)?;
    if !level.is_v5() {
        return Err(Refusal {
            error: Error::Unsupported,
            form: Form::Plain(level),
        });
    }
    let [flags, ..] = *r.array::<3>().map_err(malformed)?; // connect flags, keep alive
    let properties = Properties::read(&mut r, Place::Connect).map_err(malformed)?;
    let carried = Carried::find(properties, packet.len(), r.rest().len());
    if !carried.method {
        let form = if takes_hint(properties) {
            Form::WithHint
        } else {
            Form::Plain(Level::V5)
        };
        return Err(Refusal {
            error: Error::Unsupported,
            form,
        });
    }
    if flags != CLEAN_START {
        return Err(malformed(Malformed::Reserved));
    }
    r.binary().map_err(malformed)?; // client id
    r.finish().map_err(malformed)?;
    carried.data.ok_or(malformed(Malformed::Missing))
}

/// Whether the client wants reason strings (Request Problem Information) and has room for ours (Maximum Packet Size).
fn takes_hint(properties: Properties<'_>) -> bool {
    properties.into_iter().all(|p| match p {
        Property::RequestProblemInformation(wanted) => wanted == 1,
        Property::MaximumPacketSize(limit) => usize::try_from(limit).unwrap_or(usize::MAX) >= Refusal::MAX_LEN,
        _ => true,
    })
}

/// Connect flags with nothing but Clean Start.
const CLEAN_START: u8 = 0x02;
