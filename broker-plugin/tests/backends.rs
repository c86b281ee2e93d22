//! Other brokers behind the front, played by a script: what they see, what passes, and how fast it may pass.

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

use hybrid_handshake::mqtt::{
    Connack, Connect, FixedHeader, Level, PacketType, Place, Properties, Property, ReasonCode,
};
use kemqtt_broker::Backend;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixListener},
    time::{sleep, timeout},
};

use client::{Device, Session, eventually, within};
use world::World;

const ACCEPTED: &[u8] = b"\x20\x03\0\0\0";

/// A front before a listener that the test plays.
async fn world(guard: bool) -> (World, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let backend = Backend::tcp(listener.local_addr().unwrap().to_string());
    let backend = if guard { backend } else { backend.without_guard() };
    let world = World::over(backend, |b| b.backend_password("between us").allow_anonymous(true)).await;
    (world, listener)
}

async fn read_packet(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut packet = Vec::new();
    loop {
        if let Some(header) = FixedHeader::read(&packet).unwrap() {
            let start = packet.len();
            packet.resize(header.packet_len() as usize, 0);
            within(stream.read_exact(&mut packet[start..])).await.ok()?;
            return Some(packet);
        }
        packet.push(within(stream.read_u8()).await.ok()?);
    }
}

/// Connects `device`; the broker answers with `connack`. Gives both ends and the CONNECT that the broker saw.
async fn connected(
    world: &World,
    listener: &TcpListener,
    device: &Device,
    connect: &[u8],
    connack: &[u8],
) -> (Vec<u8>, Session, TcpStream, Vec<u8>) {
    let broker = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let connect = read_packet(&mut stream).await.unwrap();
        stream.write_all(connack).await.unwrap();
        (stream, connect)
    };
    let (client, (stream, seen)) = tokio::join!(world.connect(device, connect), broker);
    let (connack, session) = client.unwrap();
    (connack, session, stream, seen)
}

#[tokio::test]
async fn the_back_end_sees_the_identity_and_everything_else_unchanged() {
    let (world, listener) = world(true).await;
    for level in [Level::V5, Level::V3_1_1, Level::V3_1] {
        let will = hybrid_handshake::mqtt::Will {
            qos: hybrid_handshake::mqtt::Qos::ExactlyOnce,
            retain: true,
            properties: Properties::EMPTY,
            topic: "w",
            payload: b"\xff\0",
        };
        let properties = match level {
            Level::V5 => Properties::check(b"\x11\0\0\0\x05\x26\0\x01k\0\x01v", Place::Connect).unwrap(),
            _ => Properties::EMPTY,
        };
        let sent = Connect {
            clean_start: false,
            keep_alive_s: 77,
            properties,
            will: Some(will),
            user_name: Some("whoever"),
            password: Some(b"guess"),
            ..Connect::new(level, "s1")
        };
        let connack: &[u8] = if level == Level::V5 { ACCEPTED } else { b"\x20\x02\0\0" };
        let (_, _, _, seen) = connected(&world, &listener, &world.device, &mqtt::written(sent), connack).await;
        let want = Connect {
            user_name: Some("kem:s1"),
            password: Some(b"between us"),
            ..sent
        };
        assert_eq!(seen, mqtt::written(want));
    }
    // Nobody to vouch for: the login is the client's own.
    let anonymous = Device::anonymous(&world.broker);
    let sent = Connect {
        user_name: Some("guest"),
        password: Some(b"guess"),
        ..Connect::new(Level::V5, "g")
    };
    let (_, _, _, seen) = connected(&world, &listener, &anonymous, &mqtt::written(sent), ACCEPTED).await;
    assert_eq!(seen, mqtt::written(sent));
    world.stop().await;
}

#[tokio::test]
async fn the_connack_comes_back_but_for_addresses_of_our_own_network() {
    let (world, listener) = world(true).await;
    let connack = b"\x20\x15\x01\0\x12\x21\0\x0a\x1c\0\x05inner\x1f\0\x04text";
    let (got, _, _, _) = connected(
        &world,
        &listener,
        &world.device,
        &mqtt::connect(Level::V5, "s1"),
        connack,
    )
    .await;
    assert_eq!(got, b"\x20\x0d\x01\0\x0a\x21\0\x0a\x1f\0\x04text");
    // A refusal of the back end passes too, and ends the session.
    let refusal = b"\x20\x03\0\x86\0";
    let (got, mut session, _, _) = connected(
        &world,
        &listener,
        &world.device,
        &mqtt::connect(Level::V5, "s1"),
        refusal,
    )
    .await;
    assert_eq!(got, refusal);
    assert!(session.wire.is_closed().await);
    assert_eq!(world.metrics.refused("backend", ReasonCode::BadUserNameOrPassword), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_connack_over_the_clients_limit_loses_its_text_first() {
    let (world, listener) = world(true).await;
    let limits = hybrid_handshake::message::ClientLimits::new(64, 128).unwrap();
    let device = Device {
        limits,
        ..Device::psk(&world.broker, world.device.psk_line.as_deref().unwrap())
    };
    let with = |property: u8| [&[0x20, 105, 0, 0, 102, property, 0, 99][..], &[b'a'; 99]].concat();
    let connect = mqtt::connect(Level::V5, "s1");
    let (got, _, _, _) = connected(&world, &listener, &device, &connect, &with(0x1f)).await;
    assert_eq!(got, ACCEPTED);
    let (got, _, _, _) = connected(&world, &listener, &device, &connect, &with(0x12)).await;
    assert_eq!(got, b"\x20\x03\0\x95\0", "an assigned id cannot be left out");
    assert_eq!(
        world.metrics.refused("connack-too-large", ReasonCode::PacketTooLarge),
        1
    );
    world.stop().await;
}

#[tokio::test]
async fn a_back_end_that_is_no_broker_is_unreachable() {
    let (world, listener) = world(true).await;
    let code = ReasonCode::ServerUnavailable;
    for answer in [
        &b""[..],
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x30\x03\0\x01a",
        b"\x20\x02\0\0",
        b"\x20\x80\x80\x08",
    ] {
        let broker = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_packet(&mut stream).await.unwrap();
            stream.write_all(answer).await.unwrap();
        };
        let connect = mqtt::connect(Level::V5, "s1");
        let refused = world.refused_inside(&world.device, &connect, "backend-unreachable", code, 0x88);
        tokio::join!(refused, broker);
    }
    world.stop().await;
}

#[tokio::test]
async fn packets_pass_in_both_directions_byte_by_byte_the_same() {
    for guard in [true, false] {
        let (world, listener) = world(guard).await;
        let connect = mqtt::connect(Level::V5, "s1");
        let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
        let payload = vec![7; 100_000];
        let mut up = mqtt::subscribe(Level::V5, 1, "a/+", 2);
        up.extend(mqtt::publish(Level::V5, "é", 2, 5, &payload));
        up.extend(b"\xf0\x09\x18\x07\x15\0\x04SASL".iter().copied().take(11));
        let up_len = up.len();
        session.send(&up).await;
        let mut seen = vec![0; up_len];
        within(broker.read_exact(&mut seen)).await.unwrap();
        assert_eq!(seen, up);
        let down = mqtt::publish(Level::V5, "b", 0, 0, &payload);
        broker.write_all(&down).await.unwrap();
        assert_eq!(session.packet().await.unwrap(), down);
        world.stop().await;
    }
}

#[tokio::test]
async fn without_the_guard_the_back_end_judges() {
    let (world, listener) = world(false).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    session.send(b"\x90\x03\0\x01\0").await;
    assert_eq!(read_packet(&mut broker).await.unwrap(), b"\x90\x03\0\x01\0");
    world.stop().await;
}

#[tokio::test]
async fn a_publish_is_passed_on_before_it_is_whole() {
    let (world, listener) = world(true).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    let packet = mqtt::publish(Level::V5, "a", 0, 0, &vec![7; 1 << 20]);
    session.send(&packet[..1000]).await;
    let mut seen = vec![0; 1000];
    within(broker.read_exact(&mut seen)).await.expect("not held back");
    // And downwards.
    broker.write_all(&packet[..1000]).await.unwrap();
    sent_down(&world, 1000).await;
    world.stop().await;
}

/// Waits until so many bytes of the back end have gone to clients.
async fn sent_down(world: &World, bytes: u64) {
    let direction = kemqtt_broker::metrics::Direction { direction: "out" };
    eventually(|| world.metrics.bytes.get_or_create(&direction).get() == bytes).await;
}

/// Feeds one side until nothing more is taken; returns the bytes that were.
async fn taken(mut send: impl AsyncFnMut(&[u8])) -> usize {
    let piece = mqtt::publish(Level::V5, "a", 0, 0, &vec![7; 60_000]);
    let mut bytes = 0;
    while timeout(Duration::from_millis(500), send(&piece)).await.is_ok() {
        bytes += piece.len();
        assert!(bytes < 64 << 20, "no back-pressure");
    }
    bytes
}

#[tokio::test]
async fn a_slow_reader_slows_the_writer_on_the_other_side() {
    let (world, listener) = world(true).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    // Neither side reads: both must come to a stop, in what sockets and one buffer hold.
    taken(async |piece| session.send(piece).await).await;
    taken(async |piece| broker.write_all(piece).await.unwrap()).await;
    drop((session, broker));
    world.stop().await;
}

#[tokio::test]
async fn the_back_end_learns_how_the_client_left() {
    let (world, listener) = world(true).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    session.send(mqtt::DISCONNECT).await;
    drop(session);
    assert_eq!(read_packet(&mut broker).await.unwrap(), mqtt::DISCONNECT);
    assert_eq!(read_packet(&mut broker).await, None);
    drop(broker);

    let (_, session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    drop(session);
    assert_eq!(read_packet(&mut broker).await, None, "no DISCONNECT: the will is due");
    world.stop().await;
}

#[tokio::test]
async fn the_client_gets_the_last_words_of_the_back_end() {
    let (world, listener) = world(true).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    broker.write_all(b"\xe0\x01\x8b").await.unwrap();
    drop(broker);
    assert_eq!(session.expect(PacketType::Disconnect).await, b"\xe0\x01\x8b");
    assert!(session.packet().await.is_none());
    drop(session);
    eventually(|| world.metrics.closed("backend-closed") == 1).await;
    world.stop().await;
}

#[tokio::test]
async fn our_disconnect_waits_for_the_end_of_the_back_ends_packet() {
    let (world, listener) = world(true).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let (_, mut session, mut broker, _) = connected(&world, &listener, &world.device, &connect, ACCEPTED).await;
    let publish = mqtt::publish(Level::V5, "a", 0, 0, &[7; 100]);
    broker.write_all(&publish[..50]).await.unwrap();
    sent_down(&world, 50).await;
    session.send(b"\x90\x03\0\x01\0").await;
    sleep(Duration::from_millis(100)).await;
    broker.write_all(&publish[50..]).await.unwrap();
    assert_eq!(session.packet().await.unwrap(), publish);
    assert_eq!(session.expect(PacketType::Disconnect).await[2], 0x82);
    world.stop().await;
}

#[tokio::test]
async fn a_unix_socket_serves_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mqtt.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let world = World::over(Backend::unix(&path), |b| b).await;
    let broker = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let connect = read_packet(&mut stream).await.unwrap();
        stream.write_all(ACCEPTED).await.unwrap();
        (stream, connect)
    };
    let connect = mqtt::connect(Level::V5, "");
    let (client, (mut stream, seen)) = tokio::join!(world.connect(&world.device, &connect), broker);
    let (connack, mut session) = client.unwrap();
    let seen = Connect::parse(&seen).unwrap();
    assert_eq!(
        (seen.client_id, seen.user_name, seen.password),
        ("s1", Some("kem:s1"), None)
    );
    let connack = Connack::parse(&connack, Level::V5).unwrap();
    assert!(
        connack
            .properties
            .iter()
            .any(|p| p == Property::AssignedClientIdentifier("s1"))
    );
    session.send(mqtt::PINGREQ).await;
    assert_eq!(read_packet(&mut stream).await.unwrap(), mqtt::PINGREQ);
    world.stop().await;
}
