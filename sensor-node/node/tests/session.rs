//! Whole sessions against the broker's role in memory.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "support/broker.rs"]
mod broker;
#[allow(dead_code, unreachable_pub)]
#[path = "support/device.rs"]
mod device;

use broker::{Broker, Down};
use device::{PSK, TestArena, broker_key, enrolled, enrolled_with_key, node};
use hybrid_handshake::{
    Error as Handshake,
    identity::BrokerKey,
    message::BrokerLimits,
    mqtt::{Connect, Level, Property, Qos, ReasonCode},
    suite::{KemId, Mode},
};
use kemqtt_node::{Error, Event, Options, store::StoreError};

fn broker() -> Broker {
    Broker::new(broker_key(1), PSK)
}

#[test]
fn a_psk_device_publishes_at_both_levels() {
    for level in [Level::V3_1_1, Level::V5] {
        let (mut arena, mut desk) = (TestArena::new(), None);
        let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), level));
        let options = Options {
            keep_alive_s: 60,
            will: None,
        };
        let mut session = node.connect(&options).unwrap();
        assert!(!session.is_resumed());
        assert_eq!(session.publish("a/b", b"0", Qos::AtMostOnce), Ok(None));
        session.publish_acknowledged("a/b", b"1", 10_000).unwrap();
        session.disconnect().unwrap();

        let broker = &node.board().link;
        let published = [("a/b".to_owned(), b"0".to_vec()), ("a/b".to_owned(), b"1".to_vec())];
        assert_eq!(broker.published, published);
        let connect = Connect::parse(&broker.connects[0]).unwrap();
        assert_eq!(
            (connect.level, connect.client_id, connect.keep_alive_s),
            (level, "pump-7", 60)
        );
        let limit = connect.properties.iter().next();
        assert_eq!(limit, level.is_v5().then_some(Property::MaximumPacketSize(256)));
        assert_eq!(broker.answers, [[0xe0, 0]], "DISCONNECT");
        assert_eq!(node.retry_ms(), 0);
    }
}

#[test]
fn a_device_with_a_key_of_its_own_connects() {
    let device = broker::KeyPair::new(KemId::CtruLight, hybrid_handshake::suite::Group::X25519, 8);
    let mut broker = broker();
    broker.device = Some(broker::KeyPair::new(
        KemId::CtruLight,
        hybrid_handshake::suite::Group::X25519,
        8,
    ));
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(
        &mut arena,
        &mut desk,
        broker,
        enrolled_with_key(&broker_key(1), &device),
    );
    let mut session = node.connect(&Options::default()).unwrap();
    session.publish_acknowledged("a", b"1", 10_000).unwrap();
    drop(session);
    assert_eq!(node.board().link.m1s[0].0, Mode::Kem);
}

#[test]
fn the_second_session_is_resumed_also_after_a_reset() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut first = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut session = first.connect(&Options::default()).unwrap();
    session.publish_acknowledged("a", b"1", 10_000).unwrap();
    session.disconnect().unwrap();
    let mut session = first.connect(&Options::default()).unwrap();
    assert!(session.is_resumed());
    session.publish_acknowledged("a", b"2", 10_000).unwrap();
    session.disconnect().unwrap();

    let memory = first.board().store.nv().0.clone();
    let mut store = enrolled(&broker_key(1), Level::V5);
    store.nv().0 = memory;
    let (mut second_arena, mut second_desk) = (TestArena::new(), None);
    let mut second = node(&mut second_arena, &mut second_desk, broker(), store);
    let session = second.connect(&Options::default()).unwrap();
    assert!(session.is_resumed());
}

#[test]
fn tickets_that_do_not_open_give_way_to_a_full_handshake_at_the_third_attempt() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    session.publish_acknowledged("a", b"1", 10_000).unwrap();
    drop(session);
    node.board().link.tickets = None; // as if the ticket key were lost
    for _ in 0..2 {
        assert_eq!(node.connect(&Options::default()).err(), Some(Error::Timeout));
    }
    let session = node.connect(&Options::default()).unwrap();
    assert!(!session.is_resumed());
    drop(session);
    let modes: Vec<Mode> = node.board().link.m1s.iter().map(|(mode, _)| *mode).collect();
    assert_eq!(modes, [Mode::Psk, Mode::Resume, Mode::Resume, Mode::Psk]);
}

#[test]
fn the_same_m1_goes_out_until_an_m2_verifies() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut forged = 0;
    node.board().link.bend = Some(Box::new(move |what, bytes| {
        if what == Down::M2 && forged < 2 {
            forged += 1;
            bytes[100] ^= 1;
        }
    }));
    let rejected = Some(Error::Protocol(Handshake::Rejected));
    assert_eq!(node.connect(&Options::default()).err(), rejected);
    let first_wait = node.retry_ms();
    assert!((500..=1000).contains(&first_wait));
    assert_eq!(node.connect(&Options::default()).err(), rejected);
    assert!((1000..=2000).contains(&node.retry_ms()));
    assert!(node.connect(&Options::default()).is_ok());
    assert_eq!(node.retry_ms(), 0);
    let m1s = &node.board().link.m1s;
    assert!(m1s[0].1 == m1s[1].1 && m1s[1].1 == m1s[2].1);
}

#[test]
fn an_m1_is_burnt_by_a_verified_m2_and_after_a_day() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    node.board().link.tickets = None;
    node.board().link.bend = Some(Box::new(|what, bytes| {
        if what == Down::M4 {
            bytes[30] ^= 1;
        }
    }));
    let rejected = Some(Error::Protocol(Handshake::Rejected));
    assert_eq!(node.connect(&Options::default()).err(), rejected);
    assert_eq!(node.connect(&Options::default()).err(), rejected);
    node.board().link.down = true;
    assert_eq!(node.connect(&Options::default()).err(), Some(Error::Timeout));
    node.board().clock.now_ms += 24 * 60 * 60 * 1000;
    node.board().link.down = false;
    assert_eq!(node.connect(&Options::default()).err(), rejected);
    let m1s = &node.board().link.m1s;
    assert!(m1s[0].1 != m1s[1].1 && m1s[1].1 != m1s[2].1);
}

#[test]
fn each_flight_bent_at_each_byte_ends_in_a_clean_retry() {
    for what in [Down::M2, Down::M4] {
        let (mut arena, mut desk) = (TestArena::new(), None);
        let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
        node.board().link.tickets = None;
        let len = if what == Down::M2 { 718 } else { 36 };
        for at in (0..len).step_by(if what == Down::M2 { 37 } else { 1 }) {
            node.board().link.bend = Some(Box::new(move |sent, bytes| {
                if sent == what {
                    bytes[at] ^= 0x80;
                }
            }));
            assert!(node.connect(&Options::default()).is_err(), "{what:?} {at}");
            assert!(node.retry_ms() > 0);
            // Whole, but cut short.
            node.board().link.bend = Some(Box::new(move |sent, bytes| {
                if sent == what {
                    bytes.truncate(at);
                }
            }));
            assert!(node.connect(&Options::default()).is_err(), "{what:?} {at}");
        }
        node.board().link.bend = None;
        assert!(node.connect(&Options::default()).is_ok());
    }
}

#[test]
fn refusals_and_strange_packets_before_m4_are_not_final() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let unauthorized = Some(Error::Protocol(Handshake::Refused(ReasonCode::NotAuthorized)));
    let cases: [(&[u8], Option<Error<_, _>>); 5] = [
        (b"\x20\x03\x00\x87\x00", unauthorized),
        (b"\x20\x03\x00\x00\x00", Some(Error::Protocol(Handshake::Downgrade))),
        (b"\x30\x05\x00\x01ab", None),
        (
            b"\xf0\xff\xff\xff\x7f",
            Some(Error::Protocol(Handshake::TooLarge { limit: 256 })),
        ),
        (b"\xff\xff\xff\xff\xff\xff", None),
    ];
    for (bytes, expected) in cases {
        node.board().link.down = true;
        let sent = bytes.to_vec();
        node.board().link.on_open = Some(sent);
        let error = node.connect(&Options::default()).err();
        assert!(error.is_some());
        if expected.is_some() {
            assert_eq!(error, expected);
        }
        node.board().link.on_open = None;
    }
    node.board().link.down = false;
    assert!(node.connect(&Options::default()).is_ok());
}

#[test]
fn a_refusal_inside_m4_is_told_and_waited_for() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V3_1_1));
    node.board().link.connack = ReasonCode::NotAuthorized;
    for longest in [1000, 2000, 4000] {
        let refused = Some(Error::Refused(ReasonCode::NotAuthorized));
        assert_eq!(node.connect(&Options::default()).err(), refused);
        assert!((longest / 2..=longest).contains(&node.retry_ms()));
    }
}

#[test]
fn messages_arrive_in_any_cut_and_are_acknowledged() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    let id = session.subscribe(&[("cmd/#", Qos::AtLeastOnce)]).unwrap();
    let Some(Event::Subscribed(suback)) = session.poll(10_000).unwrap() else {
        panic!("no SUBACK")
    };
    assert_eq!(suback.packet_id, id);
    assert_eq!(suback.codes().collect::<Vec<_>>(), [ReasonCode::GrantedQos1]);
    session.node().board().link.message("cmd/x", b"go");
    session.node().board().link.message("cmd/y", &[b'z'; 200]);
    for (topic, payload) in [("cmd/x", &b"go"[..]), ("cmd/y", &[b'z'; 200])] {
        let Some(Event::Message(message)) = session.poll(10_000).unwrap() else {
            panic!("no message")
        };
        assert_eq!((message.topic, message.payload), (topic, payload));
    }
    assert_eq!(session.poll(5_000), Ok(None));
    session.ping().unwrap();
    assert_eq!(session.poll(10_000), Ok(Some(Event::Pong)));
    drop(session);
    assert_eq!(node.board().link.answers, [[0x40, 2, 0, 7], [0x40, 2, 0, 7]]);
}

#[test]
fn a_peer_with_small_records_gets_a_packet_in_pieces() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut broker = broker();
    broker.limits = BrokerLimits::new(64, 1024).unwrap();
    let mut node = node(&mut arena, &mut desk, broker, enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    let payload: Vec<u8> = (0..240).collect();
    session.publish_acknowledged("a", &payload, 10_000).unwrap();
    drop(session);
    assert_eq!(node.board().link.published, [("a".to_owned(), payload)]);
}

#[test]
fn a_packet_that_is_too_long_is_refused_and_the_session_goes_on() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    let too_long = session.publish("a", &[0; 256], Qos::AtMostOnce);
    assert!(matches!(too_long, Err(Error::Protocol(Handshake::Buffer { .. }))));
    assert_eq!(
        session.publish("a", b"", Qos::ExactlyOnce),
        Err(Error::Protocol(Handshake::Misuse))
    );
    session.publish_acknowledged("a", b"1", 10_000).unwrap();
    session.node().board().link.message("cmd", &[0; 400]);
    assert_eq!(
        session.poll(10_000),
        Err(Error::Protocol(Handshake::TooLarge { limit: 256 })),
        "a message that the device has no room for"
    );
}

#[test]
fn a_bent_record_ends_the_session() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    node.board().link.tickets = None;
    let mut session = node.connect(&Options::default()).unwrap();
    session.node().board().link.bend = Some(Box::new(|what, bytes| {
        if what == Down::Record {
            *bytes.last_mut().unwrap() ^= 1;
        }
    }));
    assert_eq!(
        session.publish_acknowledged("a", b"1", 10_000),
        Err(Error::Protocol(Handshake::Rejected))
    );
    drop(session);
    assert!(node.retry_ms() > 0);
}

#[test]
fn a_silent_broker_is_noticed_by_keep_alive() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let options = Options {
        keep_alive_s: 20,
        will: None,
    };
    let mut session = node.connect(&options).unwrap();
    assert_eq!(
        session.poll(16_000),
        Ok(Some(Event::Pong)),
        "asked for a sign of life by itself"
    );
    session.node().board().link.bend = Some(Box::new(|_, bytes| bytes.clear()));
    assert_eq!(session.poll(60_000), Err(Error::Timeout));
}

#[test]
fn the_pin_moves_to_the_announced_successor_and_to_no_other() {
    let next = broker_key(2);
    let other = broker_key(3);
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut broker = broker();
    broker.successor = Some(*next.broker_key().fingerprint());
    let mut node = node(&mut arena, &mut desk, broker, enrolled(&broker_key(1), Level::V5));
    let talk = |node: &mut device::TestNode<'_>| {
        let mut session = node.connect(&Options::default()).unwrap();
        session.publish_acknowledged("a", b"1", 10_000).unwrap();
        session.disconnect().unwrap();
    };
    talk(&mut node);

    // A key that is not the successor, and another successor: nothing happens.
    node.board().link.next_key = Some(other.encoded.clone());
    node.board().link.successor = Some(*other.broker_key().fingerprint());
    talk(&mut node);
    assert_eq!(node.ignored_successors(), 1);
    let (_, older) = node.board().store.pins().unwrap();
    assert_eq!(older, None);

    node.board().link.next_key = Some(next.encoded.clone());
    talk(&mut node);
    let (newer, older) = node.board().store.pins().unwrap();
    let mut key = vec![0; 834];
    node.board().store.pin(newer, &mut key).unwrap();
    assert_eq!(BrokerKey::parse(&key).unwrap(), next.broker_key());
    assert!(older.is_some());

    // The new key is not current yet: the attempt with it fails, the one with the old key does not.
    assert!(node.connect(&Options::default()).is_err());
    talk(&mut node);

    // Now it is, and the old one goes.
    node.board().link.keys.push(next);
    node.board().link.successor = None;
    node.board().link.next_key = None;
    talk(&mut node);
    assert_eq!(node.board().store.pins().unwrap(), (newer, None));
}

#[test]
fn a_successor_that_the_device_has_no_room_for_is_told_and_costs_no_session() {
    let next = broker::KeyPair::new(KemId::MlKem768, hybrid_handshake::suite::Group::X25519, 2);
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut broker = broker();
    broker.successor = Some(*next.broker_key().fingerprint());
    broker.next_key = Some(next.encoded.clone());
    let mut node = node(&mut arena, &mut desk, broker, enrolled(&broker_key(1), Level::V5));
    for resumed in [false, true] {
        let mut session = node.connect(&Options::default()).unwrap();
        assert_eq!(session.is_resumed(), resumed);
        for reading in 0..3 {
            session.publish_acknowledged("a", &[reading], 10_000).unwrap();
        }
        assert_eq!(session.node().take_notice(), Some(StoreError::Full));
        session.disconnect().unwrap();
    }
    assert!(node.board().store.pins().unwrap().1.is_none());
}
