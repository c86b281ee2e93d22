//! PUBLISH between the wire and the router's types.

use bytes::Bytes;
use hybrid_handshake::mqtt::{Properties, Property};
use rumqttd::protocol::{Publish, PublishProperties};

use crate::guard::{Version, rumqttd::from_router};

/// The properties that travel with a message; those of the hop (alias) stay behind.
pub(super) fn properties(wire: Properties<'_>) -> Option<PublishProperties> {
    let mut out = PublishProperties::default();
    for property in wire {
        match property {
            Property::PayloadFormatIndicator(v) => out.payload_format_indicator = Some(v),
            Property::MessageExpiryInterval(v) => out.message_expiry_interval = Some(v),
            Property::ResponseTopic(v) => out.response_topic = Some(v.to_owned()),
            Property::CorrelationData(v) => out.correlation_data = Some(Bytes::copy_from_slice(v)),
            Property::ContentType(v) => out.content_type = Some(v.to_owned()),
            Property::UserProperty((key, value)) => out.user_properties.push((key.to_owned(), value.to_owned())),
            _ => {}
        }
    }
    (out != PublishProperties::default()).then_some(out)
}

/// A message on its way to a client.
pub(super) struct Outgoing {
    pub(super) qos: u8,
    pub(super) packet_id: u16,
    publish: Publish,
    properties: PublishProperties,
}

impl Outgoing {
    /// Opens the router's form, which keeps QoS and packet id to itself.
    pub(super) fn new(mut publish: Publish, properties: Option<PublishProperties>) -> Self {
        let (topic, payload) = (std::mem::take(&mut publish.topic), std::mem::take(&mut publish.payload));
        // Flags | packet id | topic length, now 0.
        let (qos, packet_id) = match *publish.serialize() {
            [flags, high, low, ..] => (flags >> 1 & 3, u16::from_be_bytes([high, low])),
            _ => (0, 0),
        };
        publish.topic = topic;
        publish.payload = payload;
        Self {
            qos,
            packet_id,
            publish,
            properties: properties.unwrap_or_default(),
        }
    }

    /// Length on the wire behind the fixed header.
    pub(super) fn remaining(&self, version: Version) -> usize {
        let properties = self.properties_len();
        let properties = if version == Version::V5 {
            varint_len(properties) + properties
        } else {
            0
        };
        let id = if self.qos > 0 { 2 } else { 0 };
        2 + self.topic().len() + id + properties + self.publish.payload.len()
    }

    /// Appends the packet.
    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.push(0x30 | self.qos << 1 | u8::from(self.publish.retain));
        varint(out, self.remaining(version));
        block(out, self.topic());
        if self.qos > 0 {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
        }
        if version == Version::V5 {
            varint(out, self.properties_len());
            self.write_properties(out);
        }
        out.extend_from_slice(&self.publish.payload);
    }

    fn topic(&self) -> &[u8] {
        from_router(&self.publish.topic)
    }

    fn properties_len(&self) -> usize {
        let mut out = Vec::new();
        self.write_properties(&mut out);
        out.len()
    }

    fn write_properties(&self, out: &mut Vec<u8>) {
        let p = &self.properties;
        if let Some(v) = p.payload_format_indicator {
            out.extend_from_slice(&[0x01, v]);
        }
        if let Some(v) = p.message_expiry_interval {
            out.push(0x02);
            out.extend_from_slice(&v.to_be_bytes());
        }
        if let Some(v) = &p.content_type {
            out.push(0x03);
            block(out, v.as_bytes());
        }
        if let Some(v) = &p.response_topic {
            out.push(0x08);
            block(out, v.as_bytes());
        }
        if let Some(v) = &p.correlation_data {
            out.push(0x09);
            block(out, v);
        }
        for id in &p.subscription_identifiers {
            out.push(0x0b);
            varint(out, *id);
        }
        for (key, value) in &p.user_properties {
            out.push(0x26);
            block(out, key.as_bytes());
            block(out, value.as_bytes());
        }
    }
}

/// Two-byte length and bytes. They came from such a field, so they fit; longer ones are cut.
fn block(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(bytes.get(..len.into()).unwrap_or(bytes));
}

/// Variable Byte Integer (MQTT 5.0 section 1.5.5).
pub(super) fn varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

const fn varint_len(value: usize) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_on_the_wire() {
        let publish = Publish::new("é/t", "hi", true);
        let mut out = Vec::new();
        Outgoing::new(publish.clone(), None).write(Version::V3, &mut out);
        assert_eq!(out, b"\x31\x08\x00\x04\xc3\xa9/thi");
        let properties = PublishProperties {
            payload_format_indicator: Some(1),
            message_expiry_interval: Some(258),
            response_topic: Some("r".into()),
            correlation_data: Some(Bytes::from_static(b"c")),
            user_properties: vec![("k".into(), "v".into())],
            subscription_identifiers: vec![200],
            content_type: Some("t".into()),
            ..PublishProperties::default()
        };
        out.clear();
        Outgoing::new(publish, Some(properties)).write(Version::V5, &mut out);
        let want = b"\x31\x26\x00\x04\xc3\xa9/t\x1d\
            \x01\x01\x02\x00\x00\x01\x02\x03\x00\x01t\x08\x00\x01r\x09\x00\x01c\x0b\xc8\x01\x26\x00\x01k\x00\x01vhi";
        assert_eq!(out, want);
    }
}
