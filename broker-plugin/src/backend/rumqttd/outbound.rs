//! Messages to a client and its acknowledgements.
//!
//! The router ends a connection that acknowledges in another order than it sent, reuses packet ids that are not
//! complete, and knows no Receive Maximum. So acknowledgements wait here for their turn, and messages for their place.

use std::collections::{HashSet, VecDeque};

use hybrid_handshake::mqtt::ReasonCode;
use rumqttd::protocol::{Packet, PubAck, PubAckReason, PubComp, PubCompReason, PubRec, PubRecReason};

use super::publish::Outgoing;
use crate::guard::Version;

/// The QoS 1 and 2 state towards one client.
pub(super) struct Outbound {
    version: Version,
    receive_maximum: usize,
    max_packet: usize,
    /// In the router's order; popped when answered.
    sent: VecDeque<Sent>,
    /// PUBRELs in the router's order; popped when completed.
    releases: VecDeque<Release>,
    /// QoS 2 ids whose PUBREL the client must not see: it refused them or never got them.
    refused: HashSet<u16>,
    /// Written to the client and not complete.
    open: usize,
    waiting: VecDeque<Outgoing>,
}

struct Sent {
    packet_id: u16,
    qos: u8,
    answered: bool,
}

struct Release {
    packet_id: u16,
    complete: bool,
}

impl Outbound {
    pub(super) fn new(version: Version, receive_maximum: u16, max_packet: u32) -> Self {
        Self {
            version,
            receive_maximum: receive_maximum.max(1).into(),
            max_packet: usize::try_from(max_packet).unwrap_or(usize::MAX),
            sent: VecDeque::new(),
            releases: VecDeque::new(),
            refused: HashSet::new(),
            open: 0,
            waiting: VecDeque::new(),
        }
    }

    /// A message from the router; client bytes go to `out`, packets for the router to `router`.
    pub(super) fn forward(&mut self, message: Outgoing, out: &mut Vec<u8>, router: &mut Vec<Packet>) {
        let fits = message.remaining(self.version) + MAX_HEADER <= self.max_packet;
        match (message.qos, fits) {
            (0, true) => message.write(self.version, out),
            (0, false) => {}
            (qos, true) => {
                self.sent.push_back(Sent {
                    packet_id: message.packet_id,
                    qos,
                    answered: false,
                });
                self.waiting.push_back(message);
                self.fill(out);
            }
            // A packet that the client does not take counts as delivered (MQTT 5.0 section 3.1.2.11.4).
            (qos, false) => {
                self.sent.push_back(Sent {
                    packet_id: message.packet_id,
                    qos,
                    answered: true,
                });
                if qos == 2 {
                    self.refused.insert(message.packet_id);
                }
                self.answer(router);
            }
        }
    }

    /// PUBACK or PUBREC of the client.
    pub(super) fn acknowledged(
        &mut self,
        qos: u8,
        packet_id: u16,
        code: ReasonCode,
        out: &mut Vec<u8>,
        router: &mut Vec<Packet>,
    ) {
        let unwritten = self.waiting.iter().any(|m| m.packet_id == packet_id);
        let found = self
            .sent
            .iter_mut()
            .find(|s| s.packet_id == packet_id && s.qos == qos && !s.answered);
        match found {
            Some(sent) if !unwritten => {
                sent.answered = true;
                if qos == 1 || code.is_error() {
                    self.open = self.open.saturating_sub(1);
                }
                if qos == 2 && code.is_error() {
                    self.refused.insert(packet_id);
                }
            }
            _ if qos == 2 => self.write_release(packet_id, ReasonCode::PacketIdentifierNotFound, out),
            _ => {}
        }
        self.answer(router);
        self.fill(out);
    }

    /// PUBREL of the router.
    pub(super) fn release(&mut self, packet_id: u16, out: &mut Vec<u8>, router: &mut Vec<Packet>) {
        let silent = self.refused.remove(&packet_id);
        self.releases.push_back(Release {
            packet_id,
            complete: silent,
        });
        if silent {
            self.complete(router);
        } else {
            self.write_release(packet_id, ReasonCode::Success, out);
        }
    }

    /// PUBCOMP of the client.
    pub(super) fn completed(&mut self, packet_id: u16, out: &mut Vec<u8>, router: &mut Vec<Packet>) {
        if let Some(release) = self
            .releases
            .iter_mut()
            .find(|r| r.packet_id == packet_id && !r.complete)
        {
            release.complete = true;
            self.open = self.open.saturating_sub(1);
        }
        self.complete(router);
        self.fill(out);
    }

    /// Answers the router in its own order.
    fn answer(&mut self, router: &mut Vec<Packet>) {
        while let Some(Sent {
            packet_id,
            qos,
            answered: true,
        }) = self.sent.front()
        {
            let pkid = *packet_id;
            router.push(match qos {
                1 => Packet::PubAck(
                    PubAck {
                        pkid,
                        reason: PubAckReason::Success,
                    },
                    None,
                ),
                _ => Packet::PubRec(
                    PubRec {
                        pkid,
                        reason: PubRecReason::Success,
                    },
                    None,
                ),
            });
            self.sent.pop_front();
        }
    }

    fn complete(&mut self, router: &mut Vec<Packet>) {
        while let Some(Release {
            packet_id,
            complete: true,
        }) = self.releases.front()
        {
            let done = PubComp {
                pkid: *packet_id,
                reason: PubCompReason::Success,
            };
            router.push(Packet::PubComp(done, None));
            self.releases.pop_front();
        }
    }

    /// Writes waiting messages while the client has room and their ids are free.
    fn fill(&mut self, out: &mut Vec<u8>) {
        while self.open < self.receive_maximum
            && let Some(next) = self.waiting.front()
            && !self.releases.iter().any(|r| r.packet_id == next.packet_id)
        {
            next.write(self.version, out);
            self.open += 1;
            self.waiting.pop_front();
        }
    }

    fn write_release(&self, packet_id: u16, code: ReasonCode, out: &mut Vec<u8>) {
        let [high, low] = packet_id.to_be_bytes();
        match (self.version, code) {
            (Version::V5, code) if code.is_error() => out.extend_from_slice(&[0x62, 3, high, low, code as u8]),
            _ => out.extend_from_slice(&[0x62, 2, high, low]),
        }
    }
}

/// Longest fixed header.
const MAX_HEADER: usize = 5;

#[cfg(test)]
mod tests;
