//! The application's own CONNECT (MQTT 5.0 section 3.1), of any protocol level.

use core::fmt;

use super::header::write_packet;
use super::{FixedHeader, Level, PacketType, Place, Properties, Property, Qos, Reader, Writer, topic};
use crate::{Error, Malformed};

/// A CONNECT: what [`Connect::parse`] found and what [`Connect::write`] writes.
///
/// To change one, replace fields and write it again:
///
/// ```
/// # use hybrid_handshake::mqtt::{Connect, Level};
/// # let mut packet = [0; 64];
/// # let len = Connect::new(Level::V5, "anything").write(&mut packet)?;
/// let connect = Connect::parse(&packet[..len])?;
/// let rewritten = Connect { client_id: "boiler-7", user_name: Some("kem:boiler-7"), password: None, ..connect };
/// let mut out = [0; 128];
/// let len = rewritten.write(&mut out)?;
/// # assert_eq!(Connect::parse(&out[..len])?, rewritten);
/// # Ok::<(), hybrid_handshake::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Protocol name and level.
    pub level: Level,
    /// Clean Start; Clean Session before MQTT 5.0.
    pub clean_start: bool,
    /// Keep Alive in seconds; 0 turns it off.
    pub keep_alive_s: u16,
    /// Empty before MQTT 5.0.
    pub properties: Properties<'a>,
    /// May be empty: the broker then chooses.
    pub client_id: &'a str,
    /// What the broker publishes if the connection breaks.
    pub will: Option<Will<'a>>,
    /// Goes without a password too.
    pub user_name: Option<&'a str>,
    /// Before MQTT 5.0 only with a user name.
    pub password: Option<&'a [u8]>,
}

/// The will of a CONNECT (MQTT 5.0 section 3.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// QoS of the will message.
    pub qos: Qos,
    /// Whether it is retained.
    pub retain: bool,
    /// Empty before MQTT 5.0.
    pub properties: Properties<'a>,
    /// A valid Topic Name.
    pub topic: &'a str,
    /// The message.
    pub payload: &'a [u8],
}

impl<'a> Connect<'a> {
    /// A clean start with keep alive off, no will, login or properties.
    pub const fn new(level: Level, client_id: &'a str) -> Self {
        Self {
            level,
            clean_start: true,
            keep_alive_s: 0,
            properties: Properties::EMPTY,
            client_id,
            will: None,
            user_name: None,
            password: None,
        }
    }

    /// Reads one whole packet. [`Level::to_answer`] says how to answer if that fails.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it is no CONNECT, [`Error::ProtocolVersion`] for levels other than 3, 4 and 5,
    /// [`Error::Malformed`] for whatever the standard calls malformed or a protocol error, the will's topic included.
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let (header, body) = FixedHeader::split(packet)?;
        if header.packet != PacketType::Connect {
            return Err(Error::UnexpectedPacket);
        }
        let mut r = Reader::new(body);
        let level = Level::read(&mut r)?;
        let flags = r.u8()?;
        check_flags(flags, level)?;
        let keep_alive_s = r.u16()?;
        let properties = read_properties(&mut r, level, Place::Connect)?;
        check_authentication(properties)?;
        let client_id = r.string()?;
        let will = if flags & WILL == 0 {
            None
        } else {
            Some(Will::read(&mut r, level, flags)?)
        };
        let user_name = if flags & USER_NAME == 0 {
            None
        } else {
            Some(r.string()?)
        };
        let password = if flags & PASSWORD == 0 { None } else { Some(r.binary()?) };
        r.finish()?;
        let clean_start = flags & CLEAN_START != 0;
        Ok(Self {
            level,
            clean_start,
            keep_alive_s,
            properties,
            client_id,
            will,
            user_name,
            password,
        })
    }

    /// Writes the packet and returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for properties or a password without user name before MQTT 5.0, an invalid
    /// will topic, or a field of more than 65,535 bytes.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, Error> {
        let properties = !self.properties.is_empty() || self.will.is_some_and(|will| !will.properties.is_empty());
        let password_alone = self.password.is_some() && self.user_name.is_none();
        let invalid_topic = self.will.is_some_and(|will| topic::check_name(will.topic).is_err());
        if invalid_topic || (!self.level.is_v5() && (properties || password_alone)) {
            return Err(Error::Misuse);
        }
        let mut w = Writer::new(out);
        write_packet(&mut w, PacketType::Connect.first_byte(), |w| self.write_body(w));
        w.finish()
    }

    fn write_body(&self, w: &mut Writer<'_>) {
        self.level.write(w);
        w.u8(self.flags());
        w.u16(self.keep_alive_s);
        write_properties(w, self.level, self.properties);
        w.string(self.client_id);
        if let Some(will) = &self.will {
            write_properties(w, self.level, will.properties);
            w.string(will.topic);
            w.binary(will.payload);
        }
        if let Some(user_name) = self.user_name {
            w.string(user_name);
        }
        if let Some(password) = self.password {
            w.binary(password);
        }
    }

    fn flags(&self) -> u8 {
        let flag = |set, bit| if set { bit } else { 0 };
        let will = self.will.map_or(0, |will| {
            WILL | (will.qos as u8) << QOS_SHIFT | flag(will.retain, RETAIN)
        });
        let login = flag(self.user_name.is_some(), USER_NAME) | flag(self.password.is_some(), PASSWORD);
        flag(self.clean_start, CLEAN_START) | will | login
    }
}

/// Leaves the password out, so that a log cannot hold it.
impl fmt::Debug for Connect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("level", &self.level)
            .field("clean_start", &self.clean_start)
            .field("keep_alive_s", &self.keep_alive_s)
            .field("properties", &self.properties)
            .field("client_id", &self.client_id)
            .field("will", &self.will)
            .field("user_name", &self.user_name)
            .finish_non_exhaustive()
    }
}

impl<'a> Will<'a> {
    fn read(r: &mut Reader<'a>, level: Level, flags: u8) -> Result<Self, Malformed> {
        let qos = Qos::from_bits(flags >> QOS_SHIFT)?;
        let properties = read_properties(r, level, Place::Will)?;
        let topic = r.string()?;
        topic::check_name(topic)?;
        Ok(Self {
            qos,
            retain: flags & RETAIN != 0,
            properties,
            topic,
            payload: r.binary()?,
        })
    }
}

/// MQTT 5.0 section 3.1.2.3 and following; MQTT 3.1.1 also ties the password to the user name.
fn check_flags(flags: u8, level: Level) -> Result<(), Malformed> {
    let reserved = flags & RESERVED != 0;
    let will_options_alone = flags & WILL == 0 && flags & (QOS | RETAIN) != 0;
    let password_alone = !level.is_v5() && flags & PASSWORD != 0 && flags & USER_NAME == 0;
    if reserved || will_options_alone || password_alone {
        return Err(Malformed::Reserved);
    }
    Qos::from_bits(flags >> QOS_SHIFT).map(|_| ())
}

/// MQTT 5.0 section 3.1.2.11.10: data belongs to a method.
fn check_authentication(properties: Properties<'_>) -> Result<(), Malformed> {
    let data = properties.iter().any(|p| matches!(p, Property::AuthenticationData(_)));
    let method = properties
        .iter()
        .any(|p| matches!(p, Property::AuthenticationMethod(_)));
    if data && !method {
        Err(Malformed::Missing)
    } else {
        Ok(())
    }
}

/// The properties of a packet; before MQTT 5.0 there are none.
pub(super) fn read_properties<'a>(r: &mut Reader<'a>, level: Level, place: Place) -> Result<Properties<'a>, Malformed> {
    if level.is_v5() {
        Properties::read(r, place)
    } else {
        Ok(Properties::EMPTY)
    }
}

/// Writes what [`read_properties`] reads.
pub(super) fn write_properties(w: &mut Writer<'_>, level: Level, properties: Properties<'_>) {
    if level.is_v5() {
        properties.write(w);
    }
}

// Connect flags (MQTT 5.0 figure 3-4).
const RESERVED: u8 = 0x01;
const CLEAN_START: u8 = 0x02;
const WILL: u8 = 0x04;
const QOS: u8 = 0x18;
const QOS_SHIFT: u8 = 3;
const RETAIN: u8 = 0x20;
const PASSWORD: u8 = 0x40;
const USER_NAME: u8 = 0x80;

#[cfg(test)]
mod tests;
