//! Every refusal of the protocol, with its reason code, its counter and an orderly close.

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
    Error,
    mqtt::{Connect, Level, ReasonCode},
};
use kemqtt_broker::{Backend, Limits, backend::RumqttdConfig};
use tokio::net::TcpListener;

use client::{Device, Failure, auth_packet, connect_packet, eventually, psk_line};
use world::World;

/// Sends `m1` in its packet; it must be refused.
async fn m1_refused(world: &World, m1: &[u8], cause: &'static str, code: ReasonCode) {
    let mut wire = world.wire().await;
    wire.send(&connect_packet(m1)).await;
    world.refused(wire, cause, code).await;
}

#[tokio::test]
async fn m1_with_a_bent_field_is_refused_with_its_code() {
    for (at, value, cause, code) in [
        (0, 2, "unsupported", ReasonCode::BadAuthenticationMethod), // version
        (1, 0x7f, "unsupported", ReasonCode::BadAuthenticationMethod), // suite
        (3, 9, "unsupported", ReasonCode::BadAuthenticationMethod), // mode
        (9, 0, "unsupported", ReasonCode::BadAuthenticationMethod), // kid
        (4, 1, "malformed", ReasonCode::MalformedPacket),           // flags
        (5, 0xff, "malformed", ReasonCode::MalformedPacket),        // record limit
        (7, 0xff, "malformed", ReasonCode::MalformedPacket),        // packet limit
        (3, 4, "malformed", ReasonCode::MalformedPacket),           // mode 4 has another length
        (3, 3, "mode-or-suite", ReasonCode::NotAuthorized),         // anonymous
        (20, 1, "rejected", ReasonCode::NotAuthorized),             // nonce
    ] {
        let world = World::start(|b| b).await;
        let (mut m1, _) = world.device.m1();
        m1[at] = if at == 9 || at == 20 { !m1[at] } else { value };
        m1_refused(&world, &m1, cause, code).await;
        world.stop().await;
    }
}

#[tokio::test]
async fn a_shortened_m1_is_malformed_and_a_bent_box1_rejected() {
    let world = World::start(|b| b).await;
    let (m1, _) = world.device.m1();
    m1_refused(&world, &m1[..m1.len() - 1], "malformed", ReasonCode::MalformedPacket).await;
    let mut bent = m1;
    *bent.last_mut().unwrap() ^= 1;
    m1_refused(&world, &bent, "rejected", ReasonCode::NotAuthorized).await;
    world.stop().await;
}

#[tokio::test]
async fn plain_mqtt_clients_get_an_answer_in_their_version() {
    let world = World::start(|b| b).await;
    for (packet, connack) in [
        (mqtt::connect(Level::V3_1_1, "c"), &b"\x20\x02\0\x05"[..]),
        (mqtt::connect(Level::V3_1, "c"), b"\x20\x02\0\x05"),
        (b"\x10\x0d\0\x04MQTT\x06\x02\0\0\0\0\0".to_vec(), b"\x20\x03\0\x84\0"),
    ] {
        let mut wire = world.wire().await;
        wire.send(&packet).await;
        assert_eq!(wire.packet().await.unwrap(), connack);
        assert!(wire.is_closed().await);
    }
    let mut wire = world.wire().await;
    wire.send(&mqtt::connect(Level::V5, "c")).await;
    let connack = wire.packet().await.unwrap();
    assert_eq!(connack[3], 0x8c);
    assert!(String::from_utf8_lossy(&connack).contains("HKM1"), "says what it wants");
    assert_eq!(
        world.metrics.refused("plain-mqtt", ReasonCode::BadAuthenticationMethod),
        3
    );
    world.stop().await;
}

#[tokio::test]
async fn what_is_no_connect_is_refused_before_it_is_read() {
    for (bytes, cause, code) in [
        (&b"\x16\x03\x01\x02\0"[..], "malformed", ReasonCode::MalformedPacket), // a TLS ClientHello
        (b"GET / HTTP/1.1\r\n\r\n", "malformed", ReasonCode::MalformedPacket),
        (b"\xc0\0", "unexpected-packet", ReasonCode::ProtocolError),
        (b"\x10\x81\x80\x01", "too-large", ReasonCode::PacketTooLarge), // 16,385 bytes
        (b"\x10\xff\xff\xff\xff\x01", "malformed", ReasonCode::MalformedPacket),
        (b"\x10\x02\0\x04", "malformed", ReasonCode::MalformedPacket),
    ] {
        let world = World::start(|b| b).await;
        let mut wire = world.wire().await;
        wire.send(bytes).await;
        world.refused(wire, cause, code).await;
        world.stop().await;
    }
}

#[tokio::test]
async fn only_auth_and_disconnect_may_follow_m1() {
    let world = World::start(|b| b).await;
    let (m1, _) = world.device.m1();
    let mut wire = world.wire().await;
    wire.send(&connect_packet(&m1)).await;
    world.device.read_m2(&mut wire).await.unwrap();
    wire.send(&mqtt::publish(Level::V5, "a", 0, 0, b"x")).await;
    world
        .refused(wire, "unexpected-packet", ReasonCode::ProtocolError)
        .await;

    let mut wire = world.wire().await;
    wire.send(&connect_packet(&m1)).await;
    world.device.read_m2(&mut wire).await.unwrap();
    wire.send(mqtt::DISCONNECT).await;
    assert!(wire.is_closed().await);
    assert_eq!(world.metrics.refusals_of("gone"), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_wrong_m3_is_rejected_whoever_sends_it() {
    let world = World::start(|b| b).await;
    let unknown = Device::psk(&world.broker, &psk_line("nobody", 1));
    let wrong = Device::psk(&world.broker, &psk_line("s1", 1));
    for device in [&world.device, &unknown, &wrong] {
        let (m1, mut state) = device.m1();
        let mut wire = world.wire().await;
        wire.send(&connect_packet(&m1)).await;
        let m2 = device.read_m2(&mut wire).await.expect("the same M2 for everybody");
        if device.psk_line != world.device.psk_line {
            let opened = state.read_m2(&m2, &mut hybrid_handshake::drbg::Drbg::broker(&[1; 32]));
            assert_eq!(opened.err(), Some(Error::Rejected), "only the right key opens box2");
        }
        wire.send(&auth_packet(&[7; 1088 + 100])).await;
        assert_eq!(wire.refusal().await, Ok(ReasonCode::NotAuthorized));
    }
    assert_eq!(world.metrics.refused("rejected", ReasonCode::NotAuthorized), 3);
    world.stop().await;
}

#[tokio::test]
async fn m3_has_a_length_and_a_limit() {
    let limits = Limits {
        connect: 1024,
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let (m1, _) = world.device.m1();
    for (m3, cause, code) in [
        (vec![0; 1088 + 15], "malformed", ReasonCode::MalformedPacket),
        (vec![0; 1088 + 1025 + 16], "too-large", ReasonCode::PacketTooLarge),
        (vec![0; 1088 + 4096], "too-large", ReasonCode::PacketTooLarge),
    ] {
        let before = world.metrics.refused(cause, code);
        let mut wire = world.wire().await;
        wire.send(&connect_packet(&m1)).await;
        world.device.read_m2(&mut wire).await.unwrap();
        wire.send(&auth_packet(&m3)).await;
        assert_eq!(wire.refusal().await, Ok(code));
        assert_eq!(world.metrics.refused(cause, code), before + 1);
    }
    world.stop().await;
}

#[tokio::test]
async fn a_listener_has_a_lowest_suite() {
    let world = World::start(|b| b.lowest_suite("x25519-mlkem768-chacha20poly1305".parse().unwrap())).await;
    world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let weaker =
        Device::psk(&world.broker, world.device.psk_line.as_deref().unwrap()).with_suite("x25519-ctrulight-ascon");
    m1_refused(&world, &weaker.m1().0, "mode-or-suite", ReasonCode::NotAuthorized).await;
    world.stop().await;
}

#[tokio::test]
async fn an_unreachable_registry_is_said_so() {
    let world = World::start(|b| b).await;
    world.registry.close().await;
    m1_refused(&world, &world.device.m1().0, "registry", ReasonCode::ServerUnavailable).await;
    world.stop().await;
}

#[tokio::test]
async fn known_clients_are_told_the_real_reason_in_their_version() {
    let world = World::start(|b| b.allow_anonymous(true)).await;
    let revoked = world.enroll("gone").await;
    world.registry.revoke("gone").await.unwrap();
    let anonymous = Device::anonymous(&world.broker);
    let as_device = |level| {
        mqtt::written(Connect {
            user_name: Some("kem:s1"),
            ..Connect::new(level, "x")
        })
    };
    let code = ReasonCode::NotAuthorized;
    for (level, not_authorized, id_invalid) in [(Level::V5, 0x87, 0x85), (Level::V3_1_1, 5, 2)] {
        let connect = mqtt::connect(level, "gone");
        world
            .refused_inside(&revoked, &connect, "revoked", code, not_authorized)
            .await;
        let invalid = ReasonCode::ClientIdentifierNotValid;
        let foreign = mqtt::connect(level, "s2");
        world
            .refused_inside(&world.device, &foreign, "client-id", invalid, id_invalid)
            .await;
        for taken in ["s1", "s1/x"] {
            world
                .refused_inside(
                    &anonymous,
                    &mqtt::connect(level, taken),
                    "client-id",
                    invalid,
                    id_invalid,
                )
                .await;
        }
        world
            .refused_inside(&anonymous, &as_device(level), "user-name", code, not_authorized)
            .await;
    }
    let unsupported = ReasonCode::UnsupportedProtocolVersion;
    let level_6 = b"\x10\x0d\0\x04MQTT\x06\x02\0\0\0\0\0";
    world
        .refused_inside(&world.device, level_6, "protocol-level", unsupported, 0x84)
        .await;
    let malformed = ReasonCode::MalformedPacket;
    world
        .refused_inside(
            &world.device,
            b"\x10\x0c\0\x04MQTT\x04\x03\0\0\0\0",
            "connect-malformed",
            malformed,
            5,
        )
        .await;
    world
        .refused_inside(&world.device, mqtt::PINGREQ, "connect-malformed", malformed, 0x81)
        .await;
    world.stop().await;
}

#[tokio::test]
async fn a_device_has_a_lowest_suite_of_its_own() {
    use kemqtt_broker::registry::{Credential, Enrolment};
    let world = World::start(|b| b).await;
    let credential = Credential::Psk([9; 32].into());
    let new = Enrolment {
        id: "s2",
        credential: &credential,
        client_ids: &[],
        lowest_suite: Some(0x0222),
        topics: None,
        now: 0,
    };
    world.registry.enroll(new).await.unwrap();
    let device = Device::psk(&world.broker, &psk_line("s2", 9));
    world.session(&device, &mqtt::connect(Level::V5, "s2")).await;
    let weaker = Device::psk(&world.broker, &psk_line("s2", 9)).with_suite("x25519-ctrulight-ascon");
    let connect = mqtt::connect(Level::V5, "s2");
    world
        .refused_inside(
            &weaker,
            &connect,
            "device-mode-or-suite",
            ReasonCode::NotAuthorized,
            0x87,
        )
        .await;
    world.stop().await;
}

#[tokio::test]
async fn a_back_end_that_is_not_there_is_said_so() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let world = World::over(Backend::tcp(closed.to_string()), |b| b).await;
    let code = ReasonCode::ServerUnavailable;
    for (level, byte) in [(Level::V5, 0x88), (Level::V3_1_1, 3)] {
        world
            .refused_inside(
                &world.device,
                &mqtt::connect(level, "s1"),
                "backend-unreachable",
                code,
                byte,
            )
            .await;
    }
    world.stop().await;
}

#[tokio::test]
async fn a_full_embedded_broker_refuses_in_its_connack() {
    let config = RumqttdConfig {
        max_connections: 1,
        ..RumqttdConfig::default()
    };
    let world = World::over(Backend::rumqttd(config), |b| b).await;
    let other = world.enroll("s2").await;
    let session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    world
        .refused_inside(
            &other,
            &mqtt::connect(Level::V5, "s2"),
            "backend",
            ReasonCode::QuotaExceeded,
            0x97,
        )
        .await;
    drop(session);
    world.stop().await;
}

#[tokio::test]
async fn slow_clients_are_dropped_without_a_word() {
    let limits = Limits {
        connect_timeout: Duration::from_millis(500),
        m3_timeout: Duration::from_millis(100),
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let mut idle = world.wire().await;
    let mut drip = world.wire().await;
    drip.send(&[0x10]).await;
    // Made before its time begins.
    let (m1, _) = world.device.m1();
    let mut half = world.wire().await;
    half.send(&connect_packet(&m1)).await;
    world.device.read_m2(&mut half).await.unwrap();
    for wire in [&mut idle, &mut drip, &mut half] {
        assert!(wire.is_closed().await);
    }
    drop((idle, drip, half));
    assert_eq!(world.metrics.refusals_of("timeout"), 3);
    world.stop().await;
}

#[tokio::test]
async fn a_flood_evicts_the_oldest_half_open_connections() {
    let limits = Limits {
        half_open: 3,
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let mut wires = Vec::new();
    for _ in 0..6 {
        wires.push(world.wire().await);
        // In the order of their numbers.
        eventually(|| world.metrics.connections.get() == wires.len() as u64).await;
    }
    for wire in &mut wires[..3] {
        assert_eq!(wire.refusal().await, Ok(ReasonCode::QuotaExceeded));
    }
    assert_eq!(world.metrics.refused("evicted", ReasonCode::QuotaExceeded), 3);
    assert_eq!(world.metrics.half_open.get(), 3);
    // An honest client gets through, at the cost of one more of them.
    world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    drop(wires);
    world.stop().await;
}

#[tokio::test]
async fn the_connection_limit_and_the_rate_are_told_only_to_clients_that_speak_hkm1() {
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    m1_refused(&world, &world.device.m1().0, "full", ReasonCode::QuotaExceeded).await;
    let mut plain = world.wire().await;
    plain.send(&mqtt::connect(Level::V3_1_1, "c")).await;
    assert_eq!(plain.packet().await.unwrap(), b"\x20\x02\0\x05");
    drop(session);
    world.stop().await;

    let limits = Limits {
        source_rate: 1,
        source_burst: 1,
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let first = world.wire().await;
    m1_refused(&world, &world.device.m1().0, "rate", ReasonCode::ConnectionRateExceeded).await;
    drop(first);
    world.stop().await;
}

#[tokio::test]
async fn half_open_memory_is_bounded() {
    let limits = Limits {
        half_open_bytes: 1500,
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let (m1, _) = world.device.m1();
    let mut first = world.wire().await;
    first.send(&connect_packet(&m1)).await;
    world.device.read_m2(&mut first).await.unwrap();
    assert_eq!(world.metrics.half_open_bytes.get(), 1230);
    let refused = world.connect(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    // Both come from one source, so the older one had to go, and what is left holds no M3.
    assert!(
        matches!(refused, Err(Failure::Refused(ReasonCode::QuotaExceeded))),
        "{:?}",
        refused.err()
    );
    assert_eq!(first.refusal().await, Ok(ReasonCode::QuotaExceeded));
    assert_eq!(world.metrics.refused("evicted", ReasonCode::QuotaExceeded), 1);
    assert_eq!(world.metrics.refused("full", ReasonCode::QuotaExceeded), 1);
    world.stop().await;
}
