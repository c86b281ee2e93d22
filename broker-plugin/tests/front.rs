//! Sessions through the front over real sockets: suites, modes, pieces, identity, the ways a session ends.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/world.rs"]
mod world;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hybrid_handshake::{
    message::ClientLimits,
    mqtt::{Connack, Connect, Level, PacketType, Property, ReasonCode},
    record::Content,
};
use kemqtt_broker::{Limits, policy::ClientIdPolicy};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use client::{Device, Session, eventually, within};
use world::World;

/// One message through `session` and back.
async fn echo(session: &mut Session, level: Level, qos: u8) {
    session.send(&mqtt::subscribe(level, 1, "a/#", qos)).await;
    let suback = session.expect(PacketType::Suback).await;
    assert_eq!(suback.last(), Some(&qos));
    session.send(&mqtt::publish(level, "a/b", qos, 7, b"hello")).await;
    let (mut acked, mut got) = (qos == 0, false);
    while !(acked && got) {
        let packet = session.packet().await.expect("a packet");
        match PacketType::from_first_byte(packet[0]) {
            Some(PacketType::Puback) => acked = packet[2..4] == [0, 7],
            Some(PacketType::Publish) => got = packet.ends_with(b"hello"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_enrolled_device_talks_mqtt_through_the_embedded_broker() {
    let world = World::start(|b| b).await;
    for level in [Level::V5, Level::V3_1_1, Level::V3_1] {
        let mut session = world.session(&world.device, &mqtt::connect(level, "s1")).await;
        echo(&mut session, level, 1).await;
        session.send(mqtt::DISCONNECT).await;
        assert!(session.packet().await.is_none());
    }
    let registry = world.registry.clone();
    world.stop().await;
    let device = registry.device("s1").await.unwrap().unwrap();
    assert!(device.last_seen.is_some());
}

#[tokio::test]
async fn every_profile_and_aead_works() {
    let world = World::start(|b| b).await;
    for suite in [
        "x25519-mlkem768-chacha20poly1305",
        "x25519-mlkem768-chacha20poly1305-p1",
        "x25519-ctrulight-ascon",
        "x25519-ctrulight-ascon-p2",
    ] {
        let device = Device {
            suite: suite.parse().unwrap(),
            ..world.enroll(&suite[suite.len() - 20..].replace('-', "_")).await
        };
        let mut session = world.session(&device, &mqtt::connect(Level::V5, "")).await;
        echo(&mut session, Level::V5, 0).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn a_small_device_gets_m2_in_pieces_and_records_of_its_size() {
    let world = World::start(|b| b).await;
    let limits = ClientLimits::new(64, 256).unwrap();
    let device = Device {
        limits,
        ..Device::psk(&world.broker, world.device.psk_line.as_deref().unwrap())
    };
    let mut session = world.session(&device, &mqtt::connect(Level::V3_1_1, "s1")).await;
    echo(&mut session, Level::V3_1_1, 0).await;
    session
        .send(&mqtt::publish(Level::V3_1_1, "a/long", 0, 0, &[7; 1000]))
        .await;
    assert!(session.expect(PacketType::Publish).await.ends_with(&[7; 1000]));
    world.stop().await;
}

#[tokio::test]
async fn large_messages_stream_both_ways() {
    let world = World::start(|b| b).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    session.send(&mqtt::subscribe(Level::V5, 1, "a", 0)).await;
    session.expect(PacketType::Suback).await;
    let payload: Vec<u8> = (0..300_000).map(|i| (i % 251) as u8).collect();
    session.send(&mqtt::publish(Level::V5, "a", 0, 0, &payload)).await;
    assert!(session.expect(PacketType::Publish).await.ends_with(&payload));
    world.stop().await;
}

#[tokio::test]
async fn anonymous_clients_are_let_in_only_where_they_are_allowed() {
    let world = World::start(|b| b.allow_anonymous(true)).await;
    let anonymous = Device::anonymous(&world.broker);
    let mut session = world.session(&anonymous, &mqtt::connect(Level::V5, "guest")).await;
    echo(&mut session, Level::V5, 0).await;
    let (connack, _session) = world.connect(&anonymous, &mqtt::connect(Level::V5, "")).await.unwrap();
    let connack = Connack::parse(&connack, Level::V5).unwrap();
    assert!(
        connack
            .properties
            .iter()
            .any(|p| matches!(p, Property::AssignedClientIdentifier(id) if id.starts_with("auto-")))
    );
    world.stop().await;
}

#[tokio::test]
async fn an_empty_client_id_becomes_the_device_id() {
    let world = World::start(|b| b).await;
    let (connack, _session) = world
        .connect(&world.device, &mqtt::connect(Level::V5, ""))
        .await
        .unwrap();
    let connack = Connack::parse(&connack, Level::V5).unwrap();
    assert!(
        connack
            .properties
            .iter()
            .any(|p| p == Property::AssignedClientIdentifier("s1"))
    );
    world.stop().await;
}

#[tokio::test]
async fn keep_alive_0_gets_one_of_the_broker() {
    let world = World::start(|b| b).await;
    let connect = mqtt::written(Connect::new(Level::V5, "s1"));
    let (connack, _session) = world.connect(&world.device, &connect).await.unwrap();
    let connack = Connack::parse(&connack, Level::V5).unwrap();
    assert!(connack.properties.iter().any(|p| p == Property::ServerKeepAlive(600)));
    world.stop().await;
}

#[tokio::test]
async fn a_silent_client_is_disconnected_after_one_and_a_half_keep_alives() {
    let world = World::start(|b| b).await;
    let connect = mqtt::written(Connect {
        keep_alive_s: 1,
        ..Connect::new(Level::V5, "s1")
    });
    let mut session = world.session(&world.device, &connect).await;
    let start = std::time::Instant::now();
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        session.send(mqtt::PINGREQ).await;
        session.expect(PacketType::Pingresp).await;
    }
    assert_eq!(session.expect(PacketType::Disconnect).await, [0xe0, 1, 0x8d]);
    assert!(start.elapsed() >= Duration::from_millis(3_100), "{:?}", start.elapsed());
    world.stop().await;
}

#[tokio::test]
async fn prefix_policy_lets_a_device_have_several_client_ids() {
    let world = World::start(|b| b.client_id(ClientIdPolicy::Prefix)).await;
    let mut one = world.session(&world.device, &mqtt::connect(Level::V5, "s1/one")).await;
    let mut two = world.session(&world.device, &mqtt::connect(Level::V5, "s1/two")).await;
    echo(&mut one, Level::V5, 0).await;
    echo(&mut two, Level::V5, 0).await;
    world.stop().await;
}

#[tokio::test]
async fn a_second_connection_takes_the_client_id_over() {
    let world = World::start(|b| b).await;
    let mut first = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let mut second = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    assert_eq!(first.expect(PacketType::Disconnect).await, [0xe0, 1, 0x8e]);
    assert!(first.packet().await.is_none());
    echo(&mut second, Level::V5, 0).await;
    world.stop().await;
}

/// Subscribes a second device to the will of the first.
async fn watch_will(world: &World) -> (Session, Session) {
    let watcher = world.enroll("watcher").await;
    let mut watcher = world.session(&watcher, &mqtt::connect(Level::V5, "watcher")).await;
    watcher.send(&mqtt::subscribe(Level::V5, 1, "will/#", 0)).await;
    watcher.expect(PacketType::Suback).await;
    let connect = mqtt::connect_with_will(Level::V5, "s1", "will/s1", b"gone");
    (watcher, world.session(&world.device, &connect).await)
}

#[tokio::test]
async fn a_record_that_does_not_open_ends_the_session_and_the_will_fires() {
    let world = World::start(|b| b).await;
    let (mut watcher, mut session) = watch_will(&world).await;
    let mut record = session.seal(Content::Data, mqtt::DISCONNECT);
    *record.last_mut().unwrap() ^= 1;
    session.wire.send(&record).await;
    assert!(session.packet().await.is_none());
    assert!(watcher.expect(PacketType::Publish).await.ends_with(b"gone"));
    assert_eq!(world.metrics.closed("record"), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_lost_connection_fires_the_will_and_a_goodbye_does_not() {
    let world = World::start(|b| b).await;
    let (mut watcher, mut session) = watch_will(&world).await;
    session.send(mqtt::DISCONNECT).await;
    assert!(session.packet().await.is_none());
    watcher.send(mqtt::PINGREQ).await;
    watcher.expect(PacketType::Pingresp).await;

    let connect = mqtt::connect_with_will(Level::V5, "s1", "will/s1", b"lost");
    let session = world.session(&world.device, &connect).await;
    drop(session);
    assert!(watcher.expect(PacketType::Publish).await.ends_with(b"lost"));
    world.stop().await;
}

#[tokio::test]
async fn the_guard_ends_a_session_with_a_reason_and_the_will_fires() {
    let world = World::start(|b| b).await;
    let (mut watcher, mut session) = watch_will(&world).await;
    session.send(&[0x90, 3, 0, 1, 0]).await;
    let disconnect = session.expect(PacketType::Disconnect).await;
    assert_eq!(disconnect[2], ReasonCode::ProtocolError as u8, "{disconnect:02x?}");
    assert!(session.packet().await.is_none());
    assert!(watcher.expect(PacketType::Publish).await.ends_with(b"gone"));
    assert_eq!(world.metrics.closed("guard"), 1);
    world.stop().await;
}

#[tokio::test]
async fn empty_control_records_are_taken_at_most_16_a_minute() {
    let world = World::start(|b| b).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    for _ in 0..16 {
        let record = session.seal(Content::Control, b"");
        session.wire.send(&record).await;
    }
    echo(&mut session, Level::V5, 0).await;
    let record = session.seal(Content::Control, b"");
    session.wire.send(&record).await;
    assert!(session.packet().await.is_none());
    world.stop().await;
}

#[tokio::test]
async fn control_messages_that_are_not_in_the_options_end_the_session() {
    let world = World::start(|b| b).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let record = session.seal(Content::Control, &[4, 0, 1, 0x19]);
    session.wire.send(&record).await;
    assert!(session.packet().await.is_none());
    world.stop().await;
}

#[tokio::test]
async fn a_revoked_device_loses_its_session() {
    let limits = Limits {
        revocation_poll: Duration::from_millis(20),
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let other = world.enroll("s2").await;
    let mut other = world.session(&other, &mqtt::connect(Level::V5, "s2")).await;
    world.registry.revoke("s1").await.unwrap();
    let disconnect = session.expect(PacketType::Disconnect).await;
    assert_eq!(disconnect[2], ReasonCode::NotAuthorized as u8);
    assert!(session.packet().await.is_none());
    echo(&mut other, Level::V5, 0).await;
    world.stop().await;
}

#[tokio::test]
async fn shutdown_tells_every_client() {
    let world = World::start(|b| b).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let half_open = world.wire().await;
    let stop = tokio::spawn(world.stop());
    let disconnect = session.expect(PacketType::Disconnect).await;
    assert_eq!(disconnect[2], ReasonCode::ServerShuttingDown as u8);
    drop((session, half_open));
    within(stop).await.unwrap();
}

#[tokio::test]
async fn the_observer_sees_the_four_packets_and_no_more() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let world = World::start({
        let seen = seen.clone();
        move |b| b.observer(move |event| seen.lock().unwrap().push(event.to_string()))
    })
    .await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    // A socket closed with something unread is reset.
    session.ticket(Some("s1"), None).await;
    drop(session);
    eventually(|| world.metrics.closed("client-closed") == 1).await;
    world.stop().await;
    let seen = seen.lock().unwrap();
    let suite = "(x25519-mlkem768-chacha20poly1305)";
    // M1 is 33 + 32 + 1088 + 50 bytes, M2 30 + 32 + 1184 + 16; their packets add 27 and 16.
    assert_eq!(seen[0], "CONNECT in 1230 B");
    assert_eq!(seen[1], format!("AUTH out 1278 B {suite}"));
    assert!(
        seen[2].starts_with("AUTH in 1") && seen[2].ends_with(suite),
        "{}",
        seen[2]
    );
    assert!(
        seen[3].starts_with("CONNACK out ") && seen[3].ends_with(suite),
        "{}",
        seen[3]
    );
    assert!(seen[4].starts_with("established in "), "{}", seen[4]);
    assert_eq!(seen[5], format!("closed: client-closed {suite}"));
    assert_eq!(seen.len(), 6);
}

#[tokio::test]
async fn metrics_and_health_are_served_on_loopback() {
    let world = World::start(|b| b.metrics("127.0.0.1:0".parse().unwrap())).await;
    let _session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let get = async |path: &str| {
        let mut stream = TcpStream::connect(world.front.metrics_addr().unwrap()).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        within(stream.read_to_string(&mut text)).await.unwrap();
        text
    };
    assert!(get("/health").await.ends_with("ok\n"));
    let metrics = get("/metrics").await;
    for line in [
        "kemqtt_sessions 1",
        "kemqtt_half_open 0",
        r#"kemqtt_handshakes_total{suite="x25519-mlkem768-chacha20poly1305",mode="2"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
    world.stop().await;
}
