//! What the embedded broker takes from a CONNECT.

use bytes::Bytes;
use hybrid_handshake::{
    Malformed,
    mqtt::{FixedHeader, Place, Properties, Property, Reader},
};

use super::will::Will;
use crate::guard::Version;

/// A client's side of its session.
pub(super) struct Client {
    pub(super) version: Version,
    pub(super) client_id: String,
    pub(super) clean_start: bool,
    /// Seconds; 0 is off.
    pub(super) keep_alive: u16,
    /// Seconds that the session outlives its connection; `u32::MAX` is for ever.
    pub(super) session_expiry: u32,
    /// QoS 1 and 2 messages that the client takes at once.
    pub(super) receive_maximum: u16,
    /// Largest packet that the client takes.
    pub(super) max_packet: u32,
    pub(super) will: Option<Will>,
    /// The client wants enhanced authentication, which this broker does not have.
    pub(super) wants_auth: bool,
}

impl Client {
    /// Reads one whole CONNECT (MQTT 3.1.1 and 5.0 section 3.1).
    pub(super) fn read(packet: &[u8]) -> Result<Self, Malformed> {
        let (_, body) = FixedHeader::split(packet)?;
        let mut r = Reader::new(body);
        r.string()?;
        let version = if r.u8()? == 5 { Version::V5 } else { Version::V3 };
        let flags = r.u8()?;
        let keep_alive = r.u16()?;
        let clean_start = flags & 0x02 != 0;
        let mut client = Self {
            version,
            client_id: String::new(),
            clean_start,
            keep_alive,
            session_expiry: if version == Version::V5 || clean_start {
                0
            } else {
                u32::MAX
            },
            receive_maximum: u16::MAX,
            max_packet: u32::MAX,
            will: None,
            wants_auth: false,
        };
        if version == Version::V5 {
            for property in Properties::read(&mut r, Place::Connect)? {
                match property {
                    Property::SessionExpiryInterval(seconds) => client.session_expiry = seconds,
                    Property::ReceiveMaximum(count) => client.receive_maximum = count,
                    Property::MaximumPacketSize(len) => client.max_packet = len,
                    Property::AuthenticationMethod(_) => client.wants_auth = true,
                    _ => {}
                }
            }
        }
        client.client_id = r.string()?.to_owned();
        if flags & 0x04 != 0 {
            let properties = match version {
                Version::V5 => Properties::read(&mut r, Place::Will)?,
                Version::V3 => Properties::EMPTY,
            };
            let topic = r.string()?;
            let payload = Bytes::copy_from_slice(r.binary()?);
            client.will = Some(Will::new(topic, payload, flags & 0x20 != 0, properties));
        }
        Ok(client)
    }

    /// Whether the router keeps a session.
    pub(super) const fn is_persistent(&self) -> bool {
        self.session_expiry > 0
    }
}
