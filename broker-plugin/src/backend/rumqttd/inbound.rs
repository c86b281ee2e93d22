//! Messages from a client.
//!
//! QoS 1 and 2 end here: the router gets each message once, as QoS 0, and the client its acknowledgements. rumqttd's
//! own QoS 2 mixes up messages released in another order, and forgets them between connections.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use hybrid_handshake::mqtt::ReasonCode;
use rumqttd::protocol::{Packet, Publish};

use super::publish::properties;
use crate::guard::{Version, Violation, read_publish, rumqttd::to_router};

/// The QoS 2 and alias state of one client.
pub(super) struct Inbound {
    version: Version,
    aliases: HashMap<u16, String>,
    unreleased: HashSet<u16>,
}

impl Inbound {
    /// Goes on with the packet ids that an earlier connection left unreleased.
    pub(super) fn new(version: Version, unreleased: HashSet<u16>) -> Self {
        Self {
            version,
            aliases: HashMap::new(),
            unreleased,
        }
    }

    /// A PUBLISH; the acknowledgement goes to `out`, the message is returned unless it came before.
    pub(super) fn publish(&mut self, flags: u8, body: &Bytes, out: &mut Vec<u8>) -> Result<Option<Packet>, Violation> {
        let publish = read_publish(self.version, flags, body)?;
        let topic = self.topic(publish.topic, publish.alias)?;
        let message = Publish::new(topic, body.slice_ref(publish.payload), flags & 1 != 0);
        let message = Packet::Publish(message, properties(publish.properties));
        match (flags >> 1 & 3, publish.packet_id) {
            (1, Some(id)) => ack(0x40, id, out),
            (2, Some(id)) => {
                let new = self.unreleased.insert(id);
                if self.unreleased.len() > usize::from(RECEIVE_MAXIMUM) && self.version == Version::V5 {
                    return Err(Violation {
                        code: ReasonCode::ReceiveMaximumExceeded,
                        what: "receive maximum",
                    });
                }
                ack(0x50, id, out);
                if !new {
                    return Ok(None);
                }
            }
            _ => {}
        }
        Ok(Some(message))
    }

    /// A PUBREL.
    pub(super) fn release(&mut self, packet_id: u16, out: &mut Vec<u8>) {
        if self.unreleased.remove(&packet_id) || self.version == Version::V3 {
            ack(0x70, packet_id, out);
        } else {
            let [high, low] = packet_id.to_be_bytes();
            out.extend_from_slice(&[0x70, 3, high, low, ReasonCode::PacketIdentifierNotFound as u8]);
        }
    }

    /// What the next connection of the session has to know.
    pub(super) fn into_unreleased(self) -> HashSet<u16> {
        self.unreleased
    }

    /// The topic for the router, behind its alias if it has one.
    fn topic(&mut self, topic: &str, alias: Option<u16>) -> Result<Bytes, Violation> {
        let Some(alias) = alias else {
            return Ok(Bytes::copy_from_slice(to_router(topic).as_bytes()));
        };
        let invalid = Violation {
            code: ReasonCode::TopicAliasInvalid,
            what: "topic alias",
        };
        if alias > ALIAS_MAXIMUM {
            return Err(invalid);
        }
        if topic.is_empty() {
            let known = self.aliases.get(&alias).ok_or(Violation {
                code: ReasonCode::ProtocolError,
                ..invalid
            })?;
            return Ok(Bytes::copy_from_slice(known.as_bytes()));
        }
        let topic = to_router(topic).into_owned();
        self.aliases.insert(alias, topic.clone());
        Ok(topic.into())
    }
}

/// PUBACK, PUBREC or PUBCOMP of success.
fn ack(first: u8, packet_id: u16, out: &mut Vec<u8>) {
    let [high, low] = packet_id.to_be_bytes();
    out.extend_from_slice(&[first, 2, high, low]);
}

/// Aliases that a client may use: each can hold a topic of 64 KiB.
pub(super) const ALIAS_MAXIMUM: u16 = 16;
/// QoS 2 messages that a client may leave unreleased.
pub(super) const RECEIVE_MAXIMUM: u16 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn inbound() -> Inbound {
        Inbound::new(Version::V5, HashSet::new())
    }

    /// Topic of the message that reaches the router.
    fn topic(inbound: &mut Inbound, flags: u8, body: &'static [u8]) -> Result<Option<String>, u8> {
        match inbound.publish(flags, &Bytes::from_static(body), &mut Vec::new()) {
            Ok(Some(Packet::Publish(publish, _))) => Ok(Some(String::from_utf8(publish.topic.to_vec()).unwrap())),
            Ok(_) => Ok(None),
            Err(violation) => Err(violation.code as u8),
        }
    }

    #[test]
    fn qos_2_reaches_the_router_once_per_release() {
        let (mut inbound, mut out) = (inbound(), Vec::new());
        let body = Bytes::from_static(b"\0\x01t\0\x07\0hi");
        assert!(inbound.publish(4, &body, &mut out).unwrap().is_some());
        assert!(inbound.publish(4 | 8, &body, &mut out).unwrap().is_none());
        inbound.release(7, &mut out);
        inbound.release(7, &mut out);
        assert_eq!(out, b"\x50\x02\0\x07\x50\x02\0\x07\x70\x02\0\x07\x70\x03\0\x07\x92");
        assert!(inbound.publish(4, &body, &mut out).unwrap().is_some());
        assert_eq!(inbound.into_unreleased(), HashSet::from([7]));
    }

    #[test]
    fn aliases_stand_for_their_topic() {
        let mut inbound = inbound();
        assert_eq!(topic(&mut inbound, 0, b"\0\0\x03\x23\0\x01x"), Err(0x82), "unknown");
        assert_eq!(topic(&mut inbound, 0, b"\0\x01t\x03\x23\0\x01x"), Ok(Some("t".into())));
        assert_eq!(topic(&mut inbound, 0, b"\0\0\x03\x23\0\x01x"), Ok(Some("t".into())));
        assert_eq!(
            topic(&mut inbound, 0, b"\0\x01t\x03\x23\0\x11x"),
            Err(0x94),
            "above the maximum"
        );
    }

    #[test]
    fn topics_that_kill_the_router_are_escaped() {
        assert_eq!(
            topic(&mut inbound(), 0, b"\0\x04\xc3\xa9/t\0x"),
            Ok(Some("\x7fé/t".into()))
        );
    }

    #[test]
    fn unreleased_messages_are_bounded() {
        let mut inbound = inbound();
        let publish = |inbound: &mut Inbound, id: u16| {
            let mut body = b"\0\x01t".to_vec();
            body.extend(id.to_be_bytes());
            body.push(0);
            inbound
                .publish(4, &body.into(), &mut Vec::new())
                .map_err(|v| v.code as u8)
                .map(drop)
        };
        for id in 1..=RECEIVE_MAXIMUM {
            assert_eq!(publish(&mut inbound, id), Ok(()));
        }
        assert_eq!(publish(&mut inbound, RECEIVE_MAXIMUM + 1), Err(0x93));
    }
}
