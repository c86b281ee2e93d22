//! The rules of MQTT 3.1.1 and 5.0 for each packet that a client may send.

use hybrid_handshake::{
    Malformed,
    mqtt::{FixedHeader, PacketType, Place, Properties, Property, Reader, ReasonCode, topic},
};

use super::Violation;

/// The protocol levels that differ on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// MQTT 3.1 and 3.1.1 (levels 3 and 4).
    V3,
    /// MQTT 5.0.
    V5,
}

/// The head of a PUBLISH.
#[derive(Debug)]
pub(crate) struct Publish<'a> {
    pub(crate) topic: &'a str,
    pub(crate) packet_id: Option<u16>,
    pub(crate) properties: Properties<'a>,
    pub(crate) alias: Option<u16>,
    pub(crate) payload: &'a [u8],
}

/// One entry of a SUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subscription<'a> {
    pub(crate) filter: &'a str,
    pub(crate) qos: u8,
    /// Whether retained messages come again although there is such a subscription already (Retain Handling 0).
    pub(crate) retained: bool,
}

/// Packet types that a client may send behind its CONNECT (MQTT 5.0 table 2-1).
pub(super) fn check_type(version: Version, packet: PacketType) -> Result<(), Violation> {
    match packet {
        PacketType::Publish
        | PacketType::Puback
        | PacketType::Pubrec
        | PacketType::Pubrel
        | PacketType::Pubcomp
        | PacketType::Subscribe
        | PacketType::Unsubscribe
        | PacketType::Pingreq
        | PacketType::Disconnect => Ok(()),
        PacketType::Auth if version == Version::V5 => Ok(()),
        PacketType::Connect => Err(protocol_error("second CONNECT")),
        _ => Err(protocol_error("packet type that only a server may send")),
    }
}

/// Checks one whole packet.
pub(super) fn check(version: Version, header: &FixedHeader, body: &[u8]) -> Result<(), Violation> {
    match header.packet {
        PacketType::Publish => read_publish(version, header.flags, body).map(drop),
        PacketType::Puback | PacketType::Pubrec | PacketType::Pubrel | PacketType::Pubcomp => {
            read_ack(version, body).map(drop)
        }
        PacketType::Subscribe => read_subscriptions(version, body, |_| ()).map(drop),
        PacketType::Unsubscribe => read_filters(version, body, |_| ()).map(drop),
        PacketType::Pingreq => Ok(Reader::new(body).finish()?),
        PacketType::Disconnect => read_disconnect(version, body).map(drop),
        PacketType::Auth => check_auth(body),
        other => check_type(version, other),
    }
}

/// Reads a PUBLISH; `body` may still lack bytes of the payload (MQTT 5.0 section 3.3).
pub(crate) fn read_publish(version: Version, flags: u8, body: &[u8]) -> Result<Publish<'_>, Violation> {
    let qos = flags >> 1 & 3;
    if qos == 0 && flags & 8 != 0 {
        return Err(malformed("DUP with QoS 0"));
    }
    let mut r = Reader::new(body);
    let topic = r.string()?;
    let packet_id = if qos > 0 { Some(packet_id(&mut r)?) } else { None };
    let properties = properties(version, &mut r, Place::Publish)?;
    let mut alias = None;
    for property in properties {
        match property {
            Property::TopicAlias(value) => alias = Some(value),
            Property::SubscriptionIdentifier(_) => return Err(protocol_error("subscription identifier from a client")),
            _ => {}
        }
    }
    if !(topic.is_empty() && alias.is_some()) {
        check_name(topic)?;
    }
    Ok(Publish {
        topic,
        packet_id,
        properties,
        alias,
        payload: r.rest(),
    })
}

/// Packet id and reason of PUBACK, PUBREC, PUBREL and PUBCOMP (MQTT 5.0 sections 3.4 to 3.7).
pub(crate) fn read_ack(version: Version, body: &[u8]) -> Result<(u16, ReasonCode), Violation> {
    let mut r = Reader::new(body);
    let id = packet_id(&mut r)?;
    let code = if version == Version::V5 && !r.is_empty() {
        reason(&mut r)?
    } else {
        ReasonCode::Success
    };
    if version == Version::V5 && !r.is_empty() {
        Properties::read(&mut r, Place::Acknowledgement)?;
    }
    r.finish()?;
    Ok((id, code))
}

/// Reads a SUBSCRIBE, gives each entry to `each`, and returns packet id and Subscription Identifier (MQTT 5.0 section 3.8).
pub(crate) fn read_subscriptions<'a>(
    version: Version,
    body: &'a [u8],
    mut each: impl FnMut(Subscription<'a>),
) -> Result<(u16, Option<u32>), Violation> {
    let mut r = Reader::new(body);
    let id = packet_id(&mut r)?;
    let mut identifier = None;
    for property in properties(version, &mut r, Place::Subscribe)? {
        if let Property::SubscriptionIdentifier(value) = property {
            identifier = Some(value);
        }
    }
    if r.is_empty() {
        return Err(protocol_error("SUBSCRIBE without a filter"));
    }
    while !r.is_empty() {
        let filter = filter(&mut r)?;
        let options = r.u8()?;
        let (qos, no_local, retain_handling) = (options & 3, options & 4 != 0, options >> 4 & 3);
        let reserved = match version {
            Version::V3 => options > 2,
            Version::V5 => options & 0xc0 != 0 || qos > 2 || retain_handling > 2,
        };
        if reserved {
            return Err(malformed("subscription options"));
        }
        if no_local && topic::shared(filter).is_some() {
            return Err(protocol_error("No Local on a shared subscription"));
        }
        each(Subscription {
            filter,
            qos,
            retained: retain_handling == 0,
        });
    }
    Ok((id, identifier))
}

/// Reads an UNSUBSCRIBE, gives each filter to `each`, and returns the packet id (MQTT 5.0 section 3.10).
pub(crate) fn read_filters<'a>(
    version: Version,
    body: &'a [u8],
    mut each: impl FnMut(&'a str),
) -> Result<u16, Violation> {
    let mut r = Reader::new(body);
    let id = packet_id(&mut r)?;
    properties(version, &mut r, Place::Unsubscribe)?;
    if r.is_empty() {
        return Err(protocol_error("UNSUBSCRIBE without a filter"));
    }
    while !r.is_empty() {
        each(filter(&mut r)?);
    }
    Ok(id)
}

/// Reason and Session Expiry Interval of a DISCONNECT (MQTT 5.0 section 3.14).
pub(crate) fn read_disconnect(version: Version, body: &[u8]) -> Result<(ReasonCode, Option<u32>), Violation> {
    let mut r = Reader::new(body);
    let (mut code, mut expiry) = (ReasonCode::Success, None);
    if version == Version::V5 && !r.is_empty() {
        code = reason(&mut r)?;
        if !r.is_empty() {
            for property in Properties::read(&mut r, Place::Disconnect)? {
                match property {
                    Property::SessionExpiryInterval(seconds) => expiry = Some(seconds),
                    Property::ServerReference(_) => return Err(protocol_error("server reference from a client")),
                    _ => {}
                }
            }
        }
    }
    r.finish()?;
    Ok((code, expiry))
}

/// AUTH of the application and its back end (MQTT 5.0 section 3.15).
fn check_auth(body: &[u8]) -> Result<(), Violation> {
    let mut r = Reader::new(body);
    if !r.is_empty() {
        reason(&mut r)?;
        if !r.is_empty() {
            Properties::read(&mut r, Place::Auth)?;
        }
    }
    Ok(r.finish()?)
}

fn properties<'a>(version: Version, r: &mut Reader<'a>, place: Place) -> Result<Properties<'a>, Violation> {
    match version {
        Version::V3 => Ok(Properties::EMPTY),
        Version::V5 => Ok(Properties::read(r, place)?),
    }
}

fn packet_id(r: &mut Reader<'_>) -> Result<u16, Violation> {
    match r.u16()? {
        0 => Err(malformed("packet identifier 0")),
        id => Ok(id),
    }
}

fn reason(r: &mut Reader<'_>) -> Result<ReasonCode, Violation> {
    ReasonCode::from_code(r.u8()?).ok_or(malformed("reason code"))
}

fn filter<'a>(r: &mut Reader<'a>) -> Result<&'a str, Violation> {
    let filter = r.string()?;
    topic::check_filter(filter).map(|()| filter).map_err(|_| Violation {
        code: ReasonCode::TopicFilterInvalid,
        what: "topic filter",
    })
}

fn check_name(name: &str) -> Result<(), Violation> {
    topic::check_name(name).map_err(|_: Malformed| Violation {
        code: ReasonCode::TopicNameInvalid,
        what: "topic name",
    })
}

const fn malformed(what: &'static str) -> Violation {
    Violation {
        code: ReasonCode::MalformedPacket,
        what,
    }
}

const fn protocol_error(what: &'static str) -> Violation {
    Violation {
        code: ReasonCode::ProtocolError,
        what,
    }
}

/// More bytes might mend it.
pub(super) const TRUNCATED: &str = "packet ends inside a field";
