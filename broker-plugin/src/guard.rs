//! The packet guard: what a client may send to a back end, checked before the back end sees it.
//!
//! It keeps the head of a packet at most: a PUBLISH flows through as it arrives, once its topic and properties are
//! checked. Every other packet is held until it is whole.

mod packet;
pub(crate) mod rumqttd;

use std::sync::{Arc, OnceLock};

use hybrid_handshake::{
    Error, Malformed,
    mqtt::{Event, FixedHeader, PacketType, ReasonCode, Tracker},
};

pub(crate) use packet::{
    Subscription, Version, read_ack, read_disconnect, read_filters, read_publish, read_subscriptions,
};

use crate::policy::Topics;

/// Checks one client's stream behind its CONNECT.
pub(crate) struct Guard {
    version: Version,
    tracker: Tracker,
    /// The current packet as far as it is held back, fixed header included.
    held: Vec<u8>,
    stage: Stage,
    disconnected: bool,
    /// `None` where every topic is allowed.
    topics: Option<Arc<Topics>>,
    /// What they did not allow.
    refused: OnceLock<String>,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Hold the packet until it is whole.
    Hold(FixedHeader),
    /// Hold the PUBLISH until its variable header is there.
    Head(FixedHeader),
    /// The rest of the packet may pass.
    Pass,
}

/// Why a client's stream was stopped, and what a DISCONNECT tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) code: ReasonCode,
    pub(crate) what: &'static str,
}

impl Guard {
    /// A guard for a client of this protocol version; `max_packet` bounds the Remaining Length.
    pub(crate) fn new(version: Version, max_packet: u32) -> Self {
        Self {
            version,
            tracker: Tracker::new(max_packet),
            held: Vec::new(),
            stage: Stage::Pass,
            disconnected: false,
            topics: None,
            refused: OnceLock::new(),
        }
    }

    /// Also keeps the client to its topics.
    pub(crate) fn with_topics(mut self, topics: Option<Arc<Topics>>) -> Self {
        self.topics = topics;
        self
    }

    /// Takes client bytes and appends to `out` what may go on.
    ///
    /// # Errors
    /// [`Violation`]; nothing of the offending packet has passed, unless it was a PUBLISH whose head was in order.
    pub(crate) fn feed(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Violation> {
        while let Some(event) = self.tracker.next(&mut input)? {
            match event {
                Event::Start(header) => self.start(header)?,
                Event::Body(bytes) => self.body(bytes, out)?,
                Event::End => self.end(out)?,
            }
        }
        Ok(())
    }

    /// The topic or filter that the topic rules did not allow, or its start.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.refused.get().map(String::as_str)
    }

    /// Whether a DISCONNECT has passed.
    pub(crate) const fn has_disconnected(&self) -> bool {
        self.disconnected
    }

    fn start(&mut self, header: FixedHeader) -> Result<(), Violation> {
        packet::check_type(self.version, header.packet)?;
        self.stage = match header.packet {
            PacketType::Publish => Stage::Head(header),
            _ if header.remaining > MAX_HELD => return Err(TOO_LARGE),
            _ => Stage::Hold(header),
        };
        self.held.clear();
        self.held
            .extend_from_slice(header_bytes(&header, &mut [0; FixedHeader::MAX_LEN]));
        Ok(())
    }

    fn body(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Violation> {
        match self.stage {
            Stage::Pass => out.extend_from_slice(bytes),
            Stage::Hold(_) => self.held.extend_from_slice(bytes),
            Stage::Head(header) => {
                self.held.extend_from_slice(bytes);
                let body = self.held.get(header.len()..).unwrap_or_default();
                match read_publish(self.version, header.flags, body) {
                    Ok(publish) => {
                        self.may_publish(publish.topic)?;
                        self.pass(out);
                    }
                    // More of the head may be on its way.
                    Err(Violation {
                        code: ReasonCode::MalformedPacket,
                        what: packet::TRUNCATED,
                    }) if body.len() < header.remaining as usize => {
                        if body.len() > MAX_HELD as usize {
                            return Err(TOO_LARGE);
                        }
                    }
                    Err(violation) => return Err(violation),
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Violation> {
        let (Stage::Hold(header) | Stage::Head(header)) = self.stage else {
            return Ok(());
        };
        let body = self.held.get(header.len()..).unwrap_or_default();
        packet::check(self.version, &header, body)?;
        self.may_send(&header, body)?;
        self.disconnected |= header.packet == PacketType::Disconnect;
        self.pass(out);
        Ok(())
    }

    /// The topic policy on a whole packet.
    fn may_send(&self, header: &FixedHeader, body: &[u8]) -> Result<(), Violation> {
        match (header.packet, &self.topics) {
            (PacketType::Publish, Some(_)) => self.may_publish(read_publish(self.version, header.flags, body)?.topic),
            (PacketType::Subscribe, Some(topics)) => {
                let mut refused = None;
                read_subscriptions(self.version, body, |entry| {
                    if !topics.may_subscribe(entry.filter) {
                        refused = Some(entry.filter);
                    }
                })?;
                match refused {
                    None => Ok(()),
                    Some(filter) => Err(self.forbid(NOT_TO_SUBSCRIBE, filter)),
                }
            }
            _ => Ok(()),
        }
    }

    fn may_publish(&self, topic: &str) -> Result<(), Violation> {
        match &self.topics {
            // An alias stands for a topic that was checked when the client set it.
            Some(topics) if !topic.is_empty() && !topics.may_publish(topic) => Err(self.forbid(NOT_TO_PUBLISH, topic)),
            _ => Ok(()),
        }
    }

    /// Keeps the name for the log; a label of the metrics must not have it.
    fn forbid(&self, what: &'static str, name: &str) -> Violation {
        // There is no second one: the session ends.
        let _ = self.refused.set(name.chars().take(MAX_SHOWN).collect());
        Violation {
            code: ReasonCode::NotAuthorized,
            what,
        }
    }

    fn pass(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        // One long topic must not keep its memory for the whole session.
        self.held.shrink_to(KEEP_HELD);
        self.stage = Stage::Pass;
    }
}

impl From<Error> for Violation {
    fn from(error: Error) -> Self {
        match error {
            Error::Malformed(what) => what.into(),
            Error::TooLarge { .. } => TOO_LARGE,
            other => Self {
                code: other.reason(),
                what: "packet",
            },
        }
    }
}

impl From<Malformed> for Violation {
    fn from(what: Malformed) -> Self {
        let what = match what {
            Malformed::Truncated => packet::TRUNCATED,
            Malformed::Trailing => "bytes behind the last field",
            Malformed::Varint => "variable byte integer",
            Malformed::Reserved => "reserved bits",
            Malformed::Type => "packet type",
            Malformed::Utf8 => "string is not UTF-8",
            Malformed::Property => "property unknown, misplaced or repeated",
            Malformed::Topic => "topic",
            _ => "value out of range",
        };
        Self {
            code: ReasonCode::MalformedPacket,
            what,
        }
    }
}

fn header_bytes<'b>(header: &FixedHeader, buf: &'b mut [u8; FixedHeader::MAX_LEN]) -> &'b [u8] {
    let mut w = hybrid_handshake::mqtt::Writer::new(buf);
    header.write(&mut w);
    let len = w.len();
    buf.get(..len).unwrap_or_default()
}

const NOT_TO_PUBLISH: &str = "publishing not allowed";
const NOT_TO_SUBSCRIBE: &str = "subscription not allowed";
const MAX_SHOWN: usize = 200;

const TOO_LARGE: Violation = Violation {
    code: ReasonCode::PacketTooLarge,
    what: "packet too large",
};

/// Largest packet other than PUBLISH, and largest head of a PUBLISH: topic and properties have 64 KiB each.
const MAX_HELD: u32 = 128 << 10;
const KEEP_HELD: usize = 1 << 10;

#[cfg(test)]
mod tests;
