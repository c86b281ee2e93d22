//! Re-authentications that break the rules end the session.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/world.rs"]
mod world;

use std::time::Duration;

use hybrid_handshake::{
    control::{self, HEADER_LEN, Kind},
    message::Capabilities,
    mqtt::{Level, PacketType},
    record::Content,
};
use kemqtt_broker::{Limits, Registry};

use client::{Device, Session, eventually};
use world::World;

/// REAUTH with this reason and these fields.
fn message(reason: u8, fields: &[u8]) -> Vec<u8> {
    let mut message = vec![0; HEADER_LEN + 1 + fields.len()];
    control::write(Kind::Reauth, &[&[reason], fields], &mut message).unwrap();
    message
}

/// 0x19: n_P and a share.
fn request(share: u8) -> Vec<u8> {
    let mut fields = vec![7; 16];
    fields.extend_from_slice(&[share; 32]);
    message(0x19, &fields)
}

/// A ciphertext of ML-KEM-768 that nobody made for the broker's key: implicit rejection gives another secret.
fn answer() -> Vec<u8> {
    message(0x18, &[3; 1088])
}

async fn say(session: &mut Session, message: &[u8]) {
    let record = session.seal(Content::Control, message);
    session.wire.send(&record).await;
}

/// Until the broker's control stream ends with this reason.
async fn until_told(session: &mut Session, reason: u8) {
    let ticket = HEADER_LEN + 128;
    let at = if reason == 0x18 {
        ticket
    } else {
        ticket + HEADER_LEN + 1 + 16 + 32 + 1184
    };
    while session.control.len() <= at + HEADER_LEN {
        session.record().await.expect("a record");
    }
    assert_eq!((session.control[at], session.control[at + HEADER_LEN]), (4, reason));
}

async fn session(world: &World) -> Session {
    let session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    assert!(session.established.options.has(Capabilities::REAUTH));
    session
}

async fn is_broken(world: World, mut session: Session) {
    while session.packet().await.is_some() {}
    eventually(|| world.metrics.closed("record") == 1).await;
    assert_eq!(world.metrics.reauthentications.get(), 0);
    drop(session);
    world.stop().await;
}

#[tokio::test]
async fn messages_out_of_turn_or_of_a_wrong_form_end_the_session() {
    let cases: [(&str, &[Vec<u8>]); 6] = [
        ("an answer to nothing", &[answer()]),
        ("a share that is none", &[request(0)]),
        ("a short request", &[message(0x19, &[7; 47])]),
        ("success from a client", &[message(0x00, &[])]),
        ("an unknown reason", &[message(0x87, &[])]),
        ("two requests", &[request(9), request(9)]),
    ];
    for (name, messages) in cases {
        let world = World::start(|b| b).await;
        let mut session = session(&world).await;
        for message in messages {
            say(&mut session, message).await;
        }
        println!("{name}");
        is_broken(world, session).await;
    }
}

#[tokio::test]
async fn request_and_answer_in_one_record_end_the_session() {
    let world = World::start(|b| b).await;
    let mut session = session(&world).await;
    say(&mut session, &[request(9), answer()].concat()).await;
    is_broken(world, session).await;
}

#[tokio::test]
async fn a_second_request_before_the_new_keys_are_shown_ends_the_session() {
    let world = World::start(|b| b).await;
    let mut session = session(&world).await;
    say(&mut session, &request(9)).await;
    until_told(&mut session, 0x18).await;
    say(&mut session, &request(9)).await;
    is_broken(world, session).await;
}

#[tokio::test]
async fn keys_that_are_not_the_credentials_end_the_session() {
    let world = World::start(|b| b).await;
    let mut session = session(&world).await;
    say(&mut session, &request(9)).await;
    until_told(&mut session, 0x18).await;
    say(&mut session, &answer()).await;
    until_told(&mut session, 0x00).await;
    // The right phase, and not the right key.
    session.established.sealer.rekey(&[1; 32]);
    session.send(mqtt::PINGREQ).await;
    eventually(|| world.metrics.closed("record") == 1).await;
    assert_eq!(world.metrics.reauthentications.get(), 0);
    drop(session);
    world.stop().await;
}

#[tokio::test]
async fn a_change_of_phase_before_its_time_ends_the_session() {
    for requested in [false, true] {
        let world = World::start(|b| b).await;
        let mut session = session(&world).await;
        if requested {
            say(&mut session, &request(9)).await;
            until_told(&mut session, 0x18).await;
        }
        session.established.sealer.rekey(&[1; 32]);
        session.send(mqtt::PINGREQ).await;
        is_broken(world, session).await;
    }
}

#[tokio::test]
async fn an_anonymous_session_has_no_re_authentication_and_neither_have_its_tickets() {
    let world = World::start(|b| b.allow_anonymous(true)).await;
    let guest = Device::anonymous(&world.broker);
    let connect = mqtt::connect(Level::V5, "guest");
    let mut first = world.session(&guest, &connect).await;
    let (ticket, _) = first.ticket(None, None).await;
    drop(first);
    let guest = guest.resuming(ticket);
    let mut session = world.session(&guest, &connect).await;
    assert!(!session.established.options.has(Capabilities::REAUTH));
    say(&mut session, &request(9)).await;
    is_broken(world, session).await;
}

#[tokio::test]
async fn an_offer_that_nobody_answers_does_not_stay_open() {
    let limits = Limits {
        m3_timeout: Duration::from_secs(1),
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let mut session = session(&world).await;
    say(&mut session, &request(9)).await;
    let disconnect = session.expect(PacketType::Disconnect).await;
    assert_eq!(disconnect[2], 0x87);
    eventually(|| world.metrics.closed("re-authentication") == 1).await;
    drop(session);
    world.stop().await;
}

/// Revoked and enrolled anew between two looks of the front: the session of the old credential ends all the same.
#[tokio::test]
async fn a_session_of_an_earlier_credential_ends() {
    let limits = Limits {
        revocation_poll: Duration::from_millis(300),
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let mut session = session(&world).await;
    let registry: &Registry = &world.registry;
    registry.revoke("s1").await.unwrap();
    registry.enroll_psk("s1").await.unwrap();
    let disconnect = session.expect(PacketType::Disconnect).await;
    assert_eq!(disconnect[2], 0x87);
    eventually(|| world.metrics.closed("revoked") == 1).await;
    drop(session);
    world.stop().await;
}
