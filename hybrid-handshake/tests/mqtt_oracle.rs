//! The MQTT codec against `mqtt-protocol-core`, an independent implementation of MQTT 3.1.1 and 5.0: the same fields
//! give the same bytes, and nothing is accepted here that is refused there.

use core::num::NonZeroU16;

use hybrid_handshake::mqtt::{
    Acknowledgement, Connack, Connect, Delivery, Disconnect, FixedHeader, Level, Place, Properties, Property, Publish,
    Qos, ReasonCode, Suback, Subscribe, Will, outer,
};
use mqtt_protocol_core::mqtt::packet::{self as their, v3_1_1, v5_0};
use mqtt_protocol_core::mqtt::result_code as code;
use proptest::prelude::*;
use proptest::{collection, option, sample};

/// A writer of an outer packet.
type Frame = fn(&mut [u8], u16) -> Result<(&mut [u8], usize), hybrid_handshake::Error>;

/// A packet from one of our writers.
fn ours<E: core::fmt::Debug>(write: impl Fn(&mut [u8]) -> Result<usize, E>) -> Vec<u8> {
    let mut buf = vec![0; 4096];
    let len = write(&mut buf).expect("fits, and has an encoding");
    buf.truncate(len);
    buf
}

fn body(packet: &[u8]) -> &[u8] {
    FixedHeader::split(packet).expect("one packet").1
}

fn raw(place: Place, properties: &[Property<'_>]) -> Vec<u8> {
    let mut buf = vec![0; 1024];
    Properties::build(&mut buf, place, properties)
        .expect("valid")
        .as_bytes()
        .to_vec()
}

fn their_qos(qos: Qos) -> their::Qos {
    their::Qos::try_from(qos as u8).expect("0 to 2")
}

/// The oracle's form of any property.
fn their_property(property: Property<'_>) -> their::Property {
    use Property as O;
    use their::Property as T;
    match property {
        O::PayloadFormatIndicator(v) => {
            T::PayloadFormatIndicator(their::PayloadFormatIndicator::new(v.try_into().unwrap()).unwrap())
        }
        O::MessageExpiryInterval(v) => T::MessageExpiryInterval(their::MessageExpiryInterval::new(v).unwrap()),
        O::ContentType(v) => T::ContentType(their::ContentType::new(v).unwrap()),
        O::ResponseTopic(v) => T::ResponseTopic(their::ResponseTopic::new(v).unwrap()),
        O::CorrelationData(v) => T::CorrelationData(their::CorrelationData::new(v.to_vec()).unwrap()),
        O::SubscriptionIdentifier(v) => T::SubscriptionIdentifier(their::SubscriptionIdentifier::new(v).unwrap()),
        O::SessionExpiryInterval(v) => T::SessionExpiryInterval(their::SessionExpiryInterval::new(v).unwrap()),
        O::AssignedClientIdentifier(v) => T::AssignedClientIdentifier(their::AssignedClientIdentifier::new(v).unwrap()),
        O::ServerKeepAlive(v) => T::ServerKeepAlive(their::ServerKeepAlive::new(v).unwrap()),
        O::AuthenticationMethod(v) => T::AuthenticationMethod(their::AuthenticationMethod::new(v).unwrap()),
        O::AuthenticationData(v) => T::AuthenticationData(their::AuthenticationData::new(v.to_vec()).unwrap()),
        O::RequestProblemInformation(v) => {
            T::RequestProblemInformation(their::RequestProblemInformation::new(v).unwrap())
        }
        O::WillDelayInterval(v) => T::WillDelayInterval(their::WillDelayInterval::new(v).unwrap()),
        O::RequestResponseInformation(v) => {
            T::RequestResponseInformation(their::RequestResponseInformation::new(v).unwrap())
        }
        O::ResponseInformation(v) => T::ResponseInformation(their::ResponseInformation::new(v).unwrap()),
        O::ServerReference(v) => T::ServerReference(their::ServerReference::new(v).unwrap()),
        O::ReasonString(v) => T::ReasonString(their::ReasonString::new(v).unwrap()),
        O::ReceiveMaximum(v) => T::ReceiveMaximum(their::ReceiveMaximum::new(v).unwrap()),
        O::TopicAliasMaximum(v) => T::TopicAliasMaximum(their::TopicAliasMaximum::new(v).unwrap()),
        O::TopicAlias(v) => T::TopicAlias(their::TopicAlias::new(v).unwrap()),
        O::MaximumQos(v) => T::MaximumQos(their::MaximumQos::new(v).unwrap()),
        O::RetainAvailable(v) => T::RetainAvailable(their::RetainAvailable::new(v).unwrap()),
        O::UserProperty((k, v)) => T::UserProperty(their::UserProperty::new(k, v).unwrap()),
        O::MaximumPacketSize(v) => T::MaximumPacketSize(their::MaximumPacketSize::new(v).unwrap()),
        O::WildcardSubscriptionAvailable(v) => {
            T::WildcardSubscriptionAvailable(their::WildcardSubscriptionAvailable::new(v).unwrap())
        }
        O::SubscriptionIdentifierAvailable(v) => {
            T::SubscriptionIdentifierAvailable(their::SubscriptionIdentifierAvailable::new(v).unwrap())
        }
        O::SharedSubscriptionAvailable(v) => {
            T::SharedSubscriptionAvailable(their::SharedSubscriptionAvailable::new(v).unwrap())
        }
    }
}

fn their_properties(properties: &[Property<'_>]) -> their::Properties {
    properties.iter().copied().map(their_property).collect()
}

const CONNECT: &[Property<'static>] = &[
    Property::SessionExpiryInterval(70_000),
    Property::AuthenticationMethod("SCRAM"),
    Property::AuthenticationData(&[0, 255]),
    Property::RequestProblemInformation(0),
    Property::RequestResponseInformation(1),
    Property::ReceiveMaximum(20),
    Property::TopicAliasMaximum(0),
    Property::UserProperty(("k", "v")),
    Property::UserProperty(("k", "é")),
    Property::MaximumPacketSize(1),
];
const WILL: &[Property<'static>] = &[
    Property::PayloadFormatIndicator(1),
    Property::MessageExpiryInterval(u32::MAX),
    Property::ContentType("text"),
    Property::ResponseTopic("r/t"),
    Property::CorrelationData(b"\0"),
    Property::WillDelayInterval(0),
    Property::UserProperty(("", "")),
];
const CONNACK: &[Property<'static>] = &[
    Property::SessionExpiryInterval(0),
    Property::AssignedClientIdentifier("id"),
    Property::ServerKeepAlive(60),
    Property::AuthenticationMethod("SCRAM"),
    Property::AuthenticationData(b""),
    Property::ResponseInformation("ri"),
    Property::ServerReference("other"),
    Property::ReasonString("because"),
    Property::ReceiveMaximum(1),
    Property::TopicAliasMaximum(9),
    Property::MaximumQos(1),
    Property::RetainAvailable(0),
    Property::UserProperty(("k", "v")),
    Property::MaximumPacketSize(268_435_455),
    Property::WildcardSubscriptionAvailable(1),
    Property::SubscriptionIdentifierAvailable(0),
    Property::SharedSubscriptionAvailable(1),
];
const PUBLISH: &[Property<'static>] = &[
    Property::PayloadFormatIndicator(0),
    Property::MessageExpiryInterval(1),
    Property::ContentType("c"),
    Property::ResponseTopic("r"),
    Property::CorrelationData(b"data"),
    Property::SubscriptionIdentifier(268_435_455),
    Property::SubscriptionIdentifier(128),
    Property::TopicAlias(3),
    Property::UserProperty(("k", "v")),
];
const DISCONNECT: &[Property<'static>] = &[
    Property::SessionExpiryInterval(5),
    Property::ReasonString("bye"),
    Property::ServerReference("other"),
    Property::UserProperty(("k", "v")),
];

/// Some of `all`, in any order. Authentication data never goes without a method.
fn some_of(all: &'static [Property<'static>]) -> impl Strategy<Value = Vec<Property<'static>>> {
    sample::subsequence(all, 0..=all.len())
        .prop_shuffle()
        .prop_map(|mut some: Vec<Property<'static>>| {
            let method = some.iter().any(|p| matches!(p, Property::AuthenticationMethod(_)));
            some.retain(|p| method || !matches!(p, Property::AuthenticationData(_)));
            some
        })
}

/// QoS, retain, properties, topic, payload.
type WillFields = (u8, bool, Vec<Property<'static>>, String, Vec<u8>);

#[derive(Clone, Debug)]
struct Fields {
    v5: bool,
    clean_start: bool,
    keep_alive_s: u16,
    properties: Vec<Property<'static>>,
    client_id: String,
    will: Option<WillFields>,
    login: Option<(String, Option<Vec<u8>>)>,
}

fn fields() -> impl Strategy<Value = Fields> {
    let topic = "[a-zé/ ]{1,20}";
    let will = (
        0_u8..3,
        any::<bool>(),
        some_of(WILL),
        topic,
        collection::vec(0_u8.., 0..40),
    );
    let login = ("[ -~é]{0,20}", option::of(collection::vec(0_u8.., 0..20)));
    (
        any::<bool>(),
        any::<bool>(),
        0_u16..,
        some_of(CONNECT),
        "[ -~é]{0,150}",
        option::of(will),
        option::of(login),
    )
        .prop_map(|(v5, clean_start, keep_alive_s, properties, client_id, will, login)| {
            // The oracle's 3.1.1 wants a clean session with an empty client id.
            let clean_start = clean_start || client_id.is_empty();
            Fields {
                v5,
                clean_start,
                keep_alive_s,
                properties,
                client_id,
                will,
                login,
            }
        })
}

impl Fields {
    fn theirs(&self) -> Vec<u8> {
        if self.v5 {
            let mut b = v5_0::Connect::builder()
                .clean_start(self.clean_start)
                .keep_alive(self.keep_alive_s)
                .client_id(self.client_id.as_str())
                .unwrap()
                .props(their_properties(&self.properties));
            if let Some((qos, retain, properties, topic, payload)) = &self.will {
                let qos = their::Qos::try_from(*qos).unwrap();
                b = b.will_message(topic.as_str(), payload, qos, *retain).unwrap();
                b = b.will_props(their_properties(properties));
            }
            if let Some((user_name, password)) = &self.login {
                b = b.user_name(user_name.as_str()).unwrap();
                if let Some(password) = password {
                    b = b.password(password).unwrap();
                }
            }
            b.build().unwrap().to_continuous_buffer()
        } else {
            let mut b = v3_1_1::Connect::builder()
                .clean_session(self.clean_start)
                .keep_alive(self.keep_alive_s)
                .client_id(self.client_id.as_str())
                .unwrap();
            if let Some((qos, retain, _, topic, payload)) = &self.will {
                let qos = their::Qos::try_from(*qos).unwrap();
                b = b.will_message(topic.as_str(), payload, qos, *retain).unwrap();
            }
            if let Some((user_name, password)) = &self.login {
                b = b.user_name(user_name.as_str()).unwrap();
                if let Some(password) = password {
                    b = b.password(password).unwrap();
                }
            }
            b.build().unwrap().to_continuous_buffer()
        }
    }

    fn with_ours<T>(&self, f: impl Fn(Connect<'_>) -> T) -> T {
        let level = if self.v5 { Level::V5 } else { Level::V3_1_1 };
        let bytes = |place, properties: &[Property<'_>]| if self.v5 { raw(place, properties) } else { vec![] };
        let properties = bytes(Place::Connect, &self.properties);
        let will_properties = self
            .will
            .as_ref()
            .map(|will| bytes(Place::Will, &will.2))
            .unwrap_or_default();
        f(Connect {
            level,
            clean_start: self.clean_start,
            keep_alive_s: self.keep_alive_s,
            properties: Properties::check(&properties, Place::Connect).unwrap(),
            client_id: &self.client_id,
            will: self.will.as_ref().map(|(qos, retain, _, topic, payload)| Will {
                qos: Qos::from_bits(*qos).unwrap(),
                retain: *retain,
                properties: Properties::check(&will_properties, Place::Will).unwrap(),
                topic,
                payload,
            }),
            user_name: self.login.as_ref().map(|(user_name, _)| user_name.as_str()),
            password: self.login.as_ref().and_then(|(_, password)| password.as_deref()),
        })
    }
}

/// What the oracle makes of a packet: its bytes again, if it takes the whole packet.
fn their_parse(packet: &[u8], v5: bool) -> Option<Vec<u8>> {
    let body = body(packet);
    let whole = |len: usize, bytes: Vec<u8>| (len == body.len()).then_some(bytes);
    macro_rules! parse {
        ($parse:expr) => {{
            let (parsed, len) = $parse.ok()?;
            whole(len, parsed.to_continuous_buffer())
        }};
    }
    match (packet[0] >> 4, v5) {
        (1, true) => parse!(v5_0::Connect::parse(body)),
        (1, false) => parse!(v3_1_1::Connect::parse(body)),
        (2, true) => parse!(v5_0::Connack::parse(body)),
        (2, false) => parse!(v3_1_1::Connack::parse(body)),
        (3, true) => parse!(v5_0::Publish::parse(packet[0] & 15, body.into())),
        (3, false) => parse!(v3_1_1::Publish::parse(packet[0] & 15, body.into())),
        (9, true) => parse!(v5_0::Suback::parse(body)),
        (9, false) => parse!(v3_1_1::Suback::parse(body)),
        (14, true) => parse!(v5_0::Disconnect::parse(body)),
        _ => unreachable!("not asked for"),
    }
}

proptest! {
    #[test]
    fn connect_has_the_same_bytes(fields in fields()) {
        let wire = fields.theirs();
        fields.with_ours(|connect| {
            assert_eq!(ours(|buf| connect.write(buf)), wire);
            assert_eq!(Connect::parse(&wire), Ok(connect));
        });
    }

    #[test]
    fn connack_has_the_same_bytes(session_present: bool, at: sample::Index, properties in some_of(CONNACK)) {
        let codes: Vec<ReasonCode> = (0..=255)
            .filter(|&byte| code::ConnectReasonCode::try_from(byte).is_ok())
            .map(|byte| ReasonCode::from_code(byte).expect("we know all of theirs"))
            .collect();
        let reason = *at.get(&codes);
        let session_present = session_present && !reason.is_error();
        let theirs = v5_0::Connack::builder()
            .session_present(session_present)
            .reason_code((reason as u8).try_into().unwrap())
            .props(their_properties(&properties))
            .build()
            .unwrap()
            .to_continuous_buffer();
        let bytes = raw(Place::Connack, &properties);
        let properties = Properties::check(&bytes, Place::Connack).unwrap();
        let connack = Connack { session_present, code: reason, properties };
        assert_eq!(ours(|buf| connack.write(Level::V5, buf)), theirs);
        assert_eq!(Connack::parse(&theirs, Level::V5), Ok(connack));
    }

    #[test]
    fn publish_has_the_same_bytes(
        (v5, qos, dup, retain) in (any::<bool>(), 0_u8..3, any::<bool>(), any::<bool>()),
        (topic, id, properties) in ("[a-zé/]{1,140}", 1_u16.., some_of(PUBLISH)),
        payload in collection::vec(0_u8.., 0..300),
    ) {
        let qos = Qos::from_bits(qos).unwrap();
        let dup = dup && qos != Qos::AtMostOnce;
        macro_rules! build {
            ($builder:expr) => {{
                let b = $builder.topic_name(topic.as_str()).unwrap().qos(their_qos(qos)).dup(dup).retain(retain);
                let b = if qos == Qos::AtMostOnce { b } else { b.packet_id(id) };
                b.payload(payload.as_slice()).build().unwrap().to_continuous_buffer()
            }};
        }
        let (level, theirs) = if v5 {
            (Level::V5, build!(v5_0::Publish::builder().props(their_properties(&properties))))
        } else {
            (Level::V3_1_1, build!(v3_1_1::Publish::builder()))
        };
        let packet_id = NonZeroU16::new(id).unwrap();
        let delivery = match qos {
            Qos::AtMostOnce => Delivery::AtMostOnce,
            Qos::AtLeastOnce => Delivery::AtLeastOnce(packet_id),
            Qos::ExactlyOnce => Delivery::ExactlyOnce(packet_id),
        };
        let bytes = if v5 { raw(Place::Publish, &properties) } else { vec![] };
        let properties = Properties::check(&bytes, Place::Publish).unwrap();
        let publish = Publish { topic: &topic, delivery, dup, retain, properties, payload: &payload };
        assert_eq!(ours(|buf| publish.write(level, buf)), theirs);
        assert_eq!(Publish::parse(&theirs, level), Ok(publish));
    }

    #[test]
    fn subscribe_and_its_answer_have_the_same_bytes(
        id in 1_u16..,
        filters in collection::vec(("[a-z]{1,5}(/[a-z+]){0,3}", 0_u8..3), 1..5),
    ) {
        let packet_id = NonZeroU16::new(id).unwrap();
        let list: Vec<_> = filters.iter().map(|(filter, qos)| (filter.as_str(), Qos::from_bits(*qos).unwrap())).collect();
        let subscribe = Subscribe { packet_id, filters: &list };
        let entries = || {
            list.iter()
                .map(|(filter, qos)| their::SubEntry::new(*filter, their::SubOpts::new().set_qos(their_qos(*qos))).unwrap())
                .collect::<Vec<_>>()
        };
        let v5 = v5_0::Subscribe::builder().packet_id(id).entries(entries()).build().unwrap();
        assert_eq!(ours(|buf| subscribe.write(Level::V5, buf)), v5.to_continuous_buffer());
        let v3 = v3_1_1::Subscribe::builder().packet_id(id).entries(entries()).build().unwrap();
        assert_eq!(ours(|buf| subscribe.write(Level::V3_1_1, buf)), v3.to_continuous_buffer());

        let granted = |qos: &u8| code::SubackReasonCode::try_from(*qos).unwrap();
        let codes = filters.iter().map(|(_, qos)| granted(qos)).collect();
        let wire = v5_0::Suback::builder().packet_id(id).reason_codes(codes).build().unwrap().to_continuous_buffer();
        let suback = Suback::parse(&wire, Level::V5).unwrap();
        assert_eq!(suback.packet_id, packet_id);
        assert!(suback.codes().map(|code| code as u8).eq(filters.iter().map(|(_, qos)| *qos)));
    }

    #[test]
    fn disconnect_has_the_same_bytes(at: sample::Index, properties in some_of(DISCONNECT)) {
        let codes: Vec<u8> = (1..=255).filter(|&byte| code::DisconnectReasonCode::try_from(byte).is_ok()).collect();
        let byte = *at.get(&codes);
        let theirs = v5_0::Disconnect::builder()
            .reason_code(byte.try_into().unwrap())
            .props(their_properties(&properties))
            .build()
            .unwrap()
            .to_continuous_buffer();
        let bytes = raw(Place::Disconnect, &properties);
        let properties = Properties::check(&bytes, Place::Disconnect).unwrap();
        let disconnect = Disconnect { code: ReasonCode::from_code(byte).unwrap(), properties };
        assert_eq!(Disconnect::parse(&theirs, Level::V5), Ok(disconnect));
        assert_eq!(ours(|buf| disconnect.write(Level::V5, buf)), theirs);
    }

    #[test]
    fn puback_has_the_same_bytes(id in 1_u16..) {
        let packet_id = NonZeroU16::new(id).unwrap();
        let theirs = v5_0::Puback::builder().packet_id(id).build().unwrap().to_continuous_buffer();
        assert_eq!(ours(|buf| Acknowledgement::puback(packet_id).write(Level::V5, buf)), theirs);
        assert_eq!(Acknowledgement::parse(&theirs, Level::V5), Ok(Acknowledgement::puback(packet_id)));
    }

    /// The outer packets are what the oracle makes of the fields that the protocol page lists.
    #[test]
    fn outer_packets_have_the_same_bytes(data in collection::vec(0_u8.., 0..2000)) {
        let properties = || {
            their_properties(&[Property::AuthenticationMethod("HKM1"), Property::AuthenticationData(&data)])
        };
        let framed = |frame: Frame| {
            ours(|buf| {
                frame(buf, data.len() as u16).map(|(place, len)| {
                    place.copy_from_slice(&data);
                    len
                })
            })
        };
        let connect = v5_0::Connect::builder().client_id("").unwrap().clean_start(true).props(properties());
        assert_eq!(framed(outer::frame_connect), connect.build().unwrap().to_continuous_buffer());
        let again = code::AuthReasonCode::ContinueAuthentication;
        let auth = v5_0::Auth::builder().reason_code(again).props(properties());
        assert_eq!(framed(outer::frame_auth), auth.build().unwrap().to_continuous_buffer());
        let success = code::ConnectReasonCode::Success;
        let connack = v5_0::Connack::builder().session_present(false).reason_code(success).props(properties());
        assert_eq!(framed(outer::frame_connack), connack.build().unwrap().to_continuous_buffer());
    }

    /// One byte of a valid packet changed: what we still take, the oracle takes too, as the same packet.
    #[test]
    fn nothing_is_accepted_that_the_oracle_refuses(
        fields in fields(),
        properties in some_of(CONNACK),
        published in some_of(PUBLISH),
        which in 0_usize..5,
        (at, byte) in (any::<sample::Index>(), 0_u8..),
    ) {
        let connack = raw(Place::Connack, &properties);
        let published = raw(Place::Publish, &published);
        let mut packet = match which {
            0 => fields.theirs(),
            1 => {
                let properties = Properties::check(&connack, Place::Connack).unwrap();
                ours(|buf| Connack { properties, ..Connack::new(ReasonCode::Success) }.write(Level::V5, buf))
            }
            2 => {
                let properties = Properties::check(&published, Place::Publish).unwrap();
                let delivery = Delivery::AtLeastOnce(NonZeroU16::MIN);
                ours(|buf| Publish { properties, delivery, ..Publish::new("a/b", b"payload") }.write(Level::V5, buf))
            }
            3 => vec![0x90, 5, 0, 1, 0, 1, 0x87],
            _ => ours(|buf| Disconnect::new(ReasonCode::ServerBusy).write(Level::V5, buf)),
        };
        let v5 = which != 0 || fields.v5;
        let level = if v5 { Level::V5 } else { Level::V3_1_1 };
        let at = at.index(packet.len() - 2) + 2;
        packet[at] = byte;
        let accepted = match which {
            // The oracle does not know that MQTT 5.0 allows a password alone, and has no MQTT 3.1.
            0 => Connect::parse(&packet).is_ok_and(|c| (c.password.is_none() || c.user_name.is_some()) && c.level == level),
            1 => Connack::parse(&packet, level).is_ok(),
            2 => Publish::parse(&packet, level).is_ok(),
            3 => Suback::parse(&packet, level).is_ok(),
            // The oracle leaves out the one code that table 2-6 has and table 3-10 has not.
            _ => Disconnect::parse(&packet, level).is_ok_and(|d| d.code != ReasonCode::BadAuthenticationMethod),
        };
        if accepted {
            assert_eq!(their_parse(&packet, v5), Some(packet));
        }
    }
}
