//! Re-authentication within a session, against the broker's role in memory.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "support/broker.rs"]
mod broker;
#[allow(dead_code, unreachable_pub)]
#[path = "support/device.rs"]
mod device;

use broker::{Broker, Down, KeyPair};
use device::{MlKem512, PSK, Sensor, TestArena, TestNode, broker_key, enrolled, enrolled_with_key, node};
use embedded_io::ErrorKind;
use hybrid_handshake::{
    Error as Handshake, Malformed,
    message::{BrokerLimits, Capabilities},
    mqtt::{Level, Qos},
    record::Content,
    suite::{Group, KemId},
};
use kemqtt_node::{Error, Event, Options};

type Session<'n, 'a> = kemqtt_node::Session<'n, 'a, Sensor, MlKem512, Broker, device::FastClock, device::Memory>;
type Failure = Error<ErrorKind, core::convert::Infallible>;

fn broker() -> Broker {
    Broker::new(broker_key(1), PSK)
}

/// Runs a session of a device with a pre-shared key.
fn with_session<T>(broker: Broker, run: impl FnOnce(&mut Session<'_, '_>) -> T) -> T {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker, enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    run(&mut session)
}

/// Publishes a reading and takes a message of the broker.
fn talk(session: &mut Session<'_, '_>, number: u8) {
    session.publish_acknowledged("up", &[number], 10_000).unwrap();
    session.node().board().link.message("down", &[number; 200]);
    let Some(Event::Message(message)) = session.poll(10_000).unwrap() else {
        panic!("no message")
    };
    assert_eq!((message.topic, message.payload), ("down", &[number; 200][..]));
}

/// Asks for a re-authentication and waits for its end.
fn renew(session: &mut Session<'_, '_>) -> Result<(), Failure> {
    let before = session.reauthentications();
    assert!(session.reauthenticate());
    assert_eq!(session.poll(90_000)?, None);
    assert_eq!(session.reauthentications(), before + 1);
    Ok(())
}

fn assert_reconnects(node: &mut TestNode<'_>) {
    assert!(node.retry_ms() > 0);
    let broker = &mut node.board().link;
    (broker.bend, broker.lose_after) = (None, None);
    let mut session = node.connect(&Options::default()).unwrap();
    talk(&mut session, 0);
    renew(&mut session).unwrap();
    talk(&mut session, 1);
    session.disconnect().unwrap();
}

#[test]
fn keys_change_between_messages_in_full_and_resumed_sessions_of_both_modes() {
    for kem_auth in [false, true] {
        let mut broker = broker();
        let own = || KeyPair::new(KemId::CtruLight, Group::X25519, 8);
        broker.device = kem_auth.then(own);
        let store = match kem_auth {
            true => enrolled_with_key(&broker_key(1), &own()),
            false => enrolled(&broker_key(1), Level::V5),
        };
        let (mut arena, mut desk) = (TestArena::new(), None);
        let mut node = node(&mut arena, &mut desk, broker, store);
        for resumed in [false, true] {
            node.board().link.phases.clear();
            let mut session = node.connect(&Options::default()).unwrap();
            assert_eq!(session.is_resumed(), resumed);
            talk(&mut session, 0);
            renew(&mut session).unwrap();
            let first = session.node().board().link.phases.clone();
            talk(&mut session, 1);
            renew(&mut session).unwrap();
            talk(&mut session, 2);
            session.disconnect().unwrap();

            // The request, the answer, and an empty record that shows the new keys.
            let phases = &node.board().link.phases;
            assert_eq!(first.iter().rposition(|phase| !phase), Some(first.len() - 2));
            let flips = phases.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!((flips, phases.last()), (2, Some(&false)));
        }
        let broker = &node.board().link;
        assert_eq!(broker.reauthentications, 4);
        let numbers: Vec<u8> = broker.published.iter().map(|(_, payload)| payload[0]).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1, 2]);
    }
}

#[test]
fn half_a_packet_waits_for_its_rest_meanwhile() {
    with_session(broker(), |session| {
        let broker = &mut session.node().board().link;
        let packet = broker.packet_of("down", &[7; 230]);
        broker.record(Content::Data, &packet[..150]);
        renew(session).unwrap();
        session.node().board().link.record(Content::Data, &packet[150..]);
        let Some(Event::Message(message)) = session.poll(10_000).unwrap() else {
            panic!("no message")
        };
        assert_eq!((message.topic, message.payload), ("down", &[7; 230][..]));
    });
}

#[test]
fn a_broker_with_small_records_gets_the_answer_in_pieces() {
    let mut small = broker();
    small.limits = BrokerLimits::new(64, 1024).unwrap();
    with_session(small, |session| {
        renew(session).unwrap();
        talk(session, 1);
        let phases = &session.node().board().link.phases;
        assert_eq!(
            phases.iter().filter(|phase| !**phase).count(),
            1 + 516_usize.div_ceil(64)
        );
    });
}

#[test]
fn records_make_one_due_but_never_two_in_a_minute() {
    with_session(broker(), |session| {
        session.reauthenticate_after(20);
        let start_ms = session.node().board().clock.now_ms;
        let (mut done, mut at_ms) = (0, vec![]);
        for number in 0..200 {
            talk(session, number);
            session.node().board().clock.now_ms += 1000;
            if session.reauthentications() != done {
                done = session.reauthentications();
                at_ms.push(session.node().board().clock.now_ms - start_ms);
            }
        }
        // Four records and the PUBACK for the message a turn, at somewhat more than a second each.
        assert!((4_000..8_000).contains(&at_ms[0]), "{at_ms:?}");
        assert!(
            at_ms
                .windows(2)
                .all(|pair| (60_000..64_000).contains(&(pair[1] - pair[0]))),
            "{at_ms:?}"
        );
        assert!(done >= 3);
    });
}

#[test]
fn the_request_waits_for_the_end_of_a_control_message() {
    let next = broker_key(2);
    let mut broker = broker();
    broker.successor = Some(*next.broker_key().fingerprint());
    with_session(broker, |session| {
        talk(session, 0);
        let mut news = vec![0; 900];
        let len =
            hybrid_handshake::control::write(hybrid_handshake::control::Kind::NextKey, &[&next.encoded], &mut news);
        let news = &news[..len.unwrap()];
        session.node().board().link.record(Content::Control, &news[..500]);
        assert_eq!(session.poll(5_000), Ok(None)); // half of the message comes
        assert!(session.reauthenticate());
        let sent = session.node().board().link.phases.len();
        assert_eq!(session.poll(20_000), Ok(None));
        assert_eq!(session.node().board().link.phases.len(), sent);
        session.node().board().link.record(Content::Control, &news[500..]);
        assert_eq!(session.poll(5_000), Ok(None));
        assert_eq!(session.reauthentications(), 1);
        let (newer, older) = session.node().board().store.pins().unwrap();
        let mut key = vec![0; 834];
        session.node().board().store.pin(newer, &mut key).unwrap();
        assert_eq!((key, older.is_some()), (next.encoded.clone(), true));
        talk(session, 1);
    });
}

#[test]
fn a_broker_that_takes_none_is_not_asked() {
    let mut broker = broker();
    broker.options = Capabilities::TICKETS.with(Capabilities::KEY_NEWS);
    with_session(broker, |session| {
        assert!(!session.reauthenticate());
        session.reauthenticate_after(1);
        (0..5).for_each(|number| talk(session, number));
        assert_eq!(session.poll(200_000), Ok(None));
        assert_eq!(session.reauthentications(), 0);
        assert!(session.node().board().link.phases.iter().all(|phase| !phase));
    });
}

/// What a device without this feature does as well: the reader refuses what is not in the options.
#[test]
fn control_messages_that_nobody_asked_for_end_the_session() {
    let without = Capabilities::TICKETS.with(Capabilities::KEY_NEWS);
    let unknown = Failure::Protocol(Malformed::Type.into());
    let unasked = Failure::Protocol(Handshake::UnexpectedPacket);
    let cases: [(Capabilities, &[u8], Failure); 5] = [
        (Capabilities::ALL, &[5, 0, 1, 0], unknown),
        (without, &[5, 0, 1, 0], unknown),
        (without, &[4, 0, 1, 0x19], unknown),
        (Capabilities::ALL, &[4, 0, 1, 0x19], unasked),
        (Capabilities::ALL, &[4, 0, 1, 0], unasked),
    ];
    for (options, message, error) in cases {
        let (mut arena, mut desk) = (TestArena::new(), None);
        let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
        node.board().link.options = options;
        let mut session = node.connect(&Options::default()).unwrap();
        talk(&mut session, 0);
        session.node().board().link.record(Content::Control, message);
        assert_eq!(session.poll(10_000), Err(error), "{message:?}");
        drop(session);
        node.board().link.options = Capabilities::ALL;
        assert_reconnects(&mut node);
    }
}

#[test]
fn every_lost_or_bent_message_ends_in_a_clean_reconnect() {
    const OFFER: usize = 3 + 1 + 16 + 32 + 640;
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    // Of the offer or of 0x00: lost, cut short, or bent at this byte.
    let bent = (0..OFFER).step_by(29).chain(0..5).map(|at| (0, Some(at)));
    let bent = bent.chain((0..4).map(|at| (1, Some(at)))).chain([(0, None), (1, None)]);
    for (step, at) in bent {
        for cut in [false, true] {
            let mut steps = 0;
            node.board().link.bend = Some(Box::new(move |what, bytes| {
                if what == Down::Reauth {
                    match at {
                        _ if steps != step => {}
                        None => bytes.clear(),
                        Some(at) if cut => bytes.truncate(at),
                        Some(at) => bytes[at] ^= 0x04,
                    }
                    steps += 1;
                }
            }));
            let mut session = node.connect(&Options::default()).unwrap();
            talk(&mut session, 0);
            assert!(session.reauthenticate());
            let failed = session.poll(90_000).is_err() || session.publish_acknowledged("up", b"", 10_000).is_err();
            assert!(failed, "{step} {at:?} {cut}");
            drop(session);
            assert_reconnects(&mut node);
        }
    }
}

#[test]
fn every_lost_record_of_the_device_ends_in_a_clean_reconnect() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    // The request, the answer, the empty record that shows the new keys, and the first message behind it.
    for lost in 0..4 {
        let mut session = node.connect(&Options::default()).unwrap();
        talk(&mut session, 0);
        session.node().board().link.lose_after = Some(lost);
        assert!(session.reauthenticate());
        let polled = session.poll(90_000);
        assert_eq!(polled, if lost < 2 { Err(Error::Timeout) } else { Ok(None) }, "{lost}");
        if lost >= 2 {
            session.publish("up", b"", Qos::AtMostOnce).unwrap();
            assert_eq!(session.publish_acknowledged("up", b"", 10_000), Err(Error::Timeout));
        }
        drop(session);
        assert_reconnects(&mut node);
    }
}

#[test]
fn a_device_that_is_gone_from_the_registry_gets_no_new_keys() {
    let (mut arena, mut desk) = (TestArena::new(), None);
    let mut node = node(&mut arena, &mut desk, broker(), enrolled(&broker_key(1), Level::V5));
    let mut session = node.connect(&Options::default()).unwrap();
    session.node().board().link.psk = None;
    assert!(session.reauthenticate());
    assert_eq!(session.poll(90_000), Err(Error::Timeout));
    drop(session);

    // Another secret for the same name: the broker's records do not open any more, nor do the device's.
    node.board().link.psk = Some(PSK);
    let mut session = node.connect(&Options::default()).unwrap();
    session.node().board().link.psk = Some([1; 32]);
    assert!(session.reauthenticate());
    assert_eq!(session.poll(90_000), Ok(None));
    assert!(session.publish_acknowledged("up", b"", 10_000).is_err());
    drop(session);
    let broker = &mut node.board().link;
    assert_eq!((broker.reauthentications, broker.published.len()), (0, 0));
    broker.psk = Some(PSK);
    assert_reconnects(&mut node);
}

#[test]
fn other_messages_may_stand_behind_the_offer_but_not_the_end() {
    let successor = *broker_key(2).broker_key().fingerprint();
    for (behind, error) in [
        ([&[3, 0, 32][..], successor.as_bytes()].concat(), None),
        (vec![4, 0, 1, 0], Some(Error::Protocol(Handshake::UnexpectedPacket))),
    ] {
        with_session(broker(), |session| {
            let mut steps = 0;
            session.node().board().link.bend = Some(Box::new(move |what, bytes| {
                if what == Down::Reauth && steps == 0 {
                    bytes.extend(&behind);
                }
                steps += u32::from(what == Down::Reauth);
            }));
            match error {
                Some(error) => {
                    assert!(session.reauthenticate());
                    assert_eq!(session.poll(90_000), Err(error));
                }
                None => {
                    renew(session).unwrap();
                    let store = &mut session.node().board().store;
                    let (pin, _) = store.pins().unwrap();
                    assert_eq!(store.successor(pin), Ok(Some(successor)));
                    talk(session, 1);
                }
            }
        });
    }
}

#[test]
fn a_session_outlives_the_last_counter_in_both_directions() {
    with_session(broker(), |session| {
        for _ in 0..=u16::MAX {
            session.ping().unwrap();
            assert_eq!(session.poll(10_000), Ok(Some(Event::Pong)));
        }
        session.publish("up", b"1", Qos::AtMostOnce).unwrap();
        talk(session, 2);
        renew(session).unwrap();
        talk(session, 3);
        assert_eq!(session.node().board().link.published.len(), 3);
    });
}
