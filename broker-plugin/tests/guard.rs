//! What kills rumqttd 0.20.0, first on the bare router, then through the front, where it must harm nobody.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/world.rs"]
mod world;

use std::{panic::catch_unwind, sync::mpsc, thread, time::Duration};

use bytes::BytesMut;
use hybrid_handshake::mqtt::{Connect, Level, PacketType, Place, Properties};
use rumqttd::{
    Notification, Router, RouterConfig,
    local::{LinkBuilder, LinkRx, LinkTx},
    protocol::{
        Disconnect, DisconnectReasonCode, Filter, Packet, Protocol as _, Publish, QoS, RetainForwardRule, Subscribe,
        v5::V5,
    },
};
use tokio::time::{sleep, timeout};

use client::{Session, eventually};
use world::World;

/// A bare router as rumqttd's own listener drives it.
struct Bare(mpsc::Sender<(String, bool, mpsc::Sender<Halves>)>);

type Halves = (LinkTx, LinkRx);

impl Bare {
    fn new() -> Self {
        let config = RouterConfig {
            max_connections: 10,
            max_outgoing_packet_count: 200,
            max_segment_size: 1 << 20,
            max_segment_count: 10,
            ..RouterConfig::default()
        };
        let events = Router::new(0, config).spawn();
        let (wanted, requests) = mpsc::channel::<(String, bool, mpsc::Sender<_>)>();
        // A link to a router that dies just then blocks for ever.
        thread::spawn(move || {
            for (id, clean, reply) in requests {
                let link = LinkBuilder::new(&id, events.clone())
                    .clean_session(clean)
                    .dynamic_filters(true);
                if let Ok((tx, rx, _)) = link.build() {
                    let _ = reply.send((tx, rx));
                }
            }
        });
        Self(wanted)
    }

    fn link(&self, id: &str, clean: bool) -> (LinkTx, LinkRx) {
        self.try_link(id, clean, Duration::from_secs(20)).expect("alive")
    }

    fn try_link(&self, id: &str, clean: bool, patience: Duration) -> Option<(LinkTx, LinkRx)> {
        let (reply, made) = mpsc::channel();
        self.0.send((id.to_owned(), clean, reply)).ok()?;
        made.recv_timeout(patience).ok()
    }

    async fn is_dead(&self) -> bool {
        for _ in 0..100 {
            if self.try_link("probe", true, PATIENCE).is_none() {
                return true;
            }
            sleep(Duration::from_millis(10)).await;
        }
        false
    }
}

/// For a router that may be dead.
const PATIENCE: Duration = Duration::from_secs(1);

fn subscribe(filter: &str, qos: QoS) -> Packet {
    let filter = Filter {
        path: filter.to_owned(),
        qos,
        nolocal: false,
        preserve_retain: false,
        retain_forward_rule: RetainForwardRule::Never,
    };
    Packet::Subscribe(
        Subscribe {
            pkid: 1,
            filters: vec![filter],
        },
        None,
    )
}

fn publish(topic: &'static str) -> Packet {
    Packet::Publish(Publish::new(topic, "x", false), None)
}

fn disconnect() -> Packet {
    Packet::Disconnect(
        Disconnect {
            reason_code: DisconnectReasonCode::NormalDisconnection,
        },
        None,
    )
}

/// Waits for a notification of the kind that `wanted` names.
async fn until(rx: &mut LinkRx, wanted: impl Fn(&Notification) -> bool) {
    let arrives = async { while !rx.next().await.expect("alive").is_some_and(|n| wanted(&n)) {} };
    timeout(Duration::from_secs(5), arrives).await.expect("in time");
}

#[tokio::test]
async fn bare_rumqttd_dies_of_a_topic_that_begins_with_a_letter_beyond_ascii() {
    let router = Bare::new();
    let (mut tx, _rx) = router.link("c", true);
    tx.send(subscribe("#", QoS::AtMostOnce)).await.unwrap();
    tx.send(publish("é/temp")).await.unwrap();
    assert!(router.is_dead().await);
}

#[tokio::test]
async fn bare_rumqttd_dies_of_the_last_member_of_a_share_that_leaves_a_message_unacknowledged() {
    for filters in [&["$share/g/t"][..], &["$share/g/t", "t"]] {
        let router = Bare::new();
        let (mut tx, mut rx) = router.link("member", false);
        for (i, filter) in filters.iter().enumerate() {
            // With a second, plain subscription QoS 0 for the share is not enough.
            let qos = if i + 1 == filters.len() {
                QoS::AtLeastOnce
            } else {
                QoS::AtMostOnce
            };
            tx.send(subscribe(filter, qos)).await.unwrap();
        }
        // With debug assertions it dies of the second SUBSCRIBE already.
        if let Some((mut sender, _sender_rx)) = router.try_link("sender", true, PATIENCE) {
            sender.send(publish("t")).await.unwrap();
            until(&mut rx, |n| matches!(n, Notification::Forward(_))).await;
            sleep(Duration::from_millis(100)).await;
            tx.send(disconnect()).await.unwrap();
        }
        assert!(router.is_dead().await, "{filters:?}");
    }
}

#[test]
fn bare_rumqttd_panics_on_packets_of_a_server() {
    // Its codec has no way to say "not from a client", so the connection's task dies without leaving the router.
    let connack = catch_unwind(|| V5.read_mut(&mut BytesMut::from(&b"\x20\x03\0\0\0"[..]), 100));
    assert!(connack.is_err(), "{connack:?}");
}

#[tokio::test]
async fn bare_rumqttd_dies_of_a_slow_subscriber_that_is_gone_when_it_wakes() {
    let router = Bare::new();
    let (mut tx, mut rx) = router.link("slow", true);
    tx.send(subscribe("t", QoS::AtMostOnce)).await.unwrap();
    let (mut sender, _sender_rx) = router.link("sender", true);
    for _ in 0..400 {
        sender.send(publish("t")).await.unwrap();
    }
    until(&mut rx, |n| matches!(n, Notification::Unschedule)).await;
    // An acknowledgement out of order, or a second client with its id, ends the link before it wakes.
    tx.send(disconnect()).await.unwrap();
    rx.wake().await.unwrap();
    assert!(router.is_dead().await);
}

/// Two clients that must not notice what the first one does.
struct Bystanders {
    world: World,
    watcher: Session,
}

impl Bystanders {
    async fn new() -> Self {
        let world = World::start(|b| b).await;
        let watcher = world.enroll("watcher").await;
        let mut watcher = world.session(&watcher, &mqtt::connect(Level::V5, "watcher")).await;
        watcher.send(&mqtt::subscribe(Level::V5, 1, "#", 0)).await;
        watcher.expect(PacketType::Suback).await;
        Self { world, watcher }
    }

    async fn attacker(&self, connect: &[u8]) -> Session {
        self.world.session(&self.world.device, connect).await
    }

    /// The service goes on, for those who were there and for new ones, on the same router.
    async fn are_unharmed(mut self) {
        let fresh = self.world.enroll("fresh").await;
        let mut fresh = self.world.session(&fresh, &mqtt::connect(Level::V5, "fresh")).await;
        fresh
            .send(&mqtt::publish(Level::V5, "still/here", 1, 1, b"alive"))
            .await;
        fresh.expect(PacketType::Puback).await;
        while !self.watcher.expect(PacketType::Publish).await.ends_with(b"alive") {}
        assert_eq!(self.world.metrics.router_restarts.get(), 0);
        self.world.stop().await;
    }
}

#[tokio::test]
async fn topics_beyond_ascii_work_through_the_front() {
    let mut bystanders = Bystanders::new().await;
    let connect = mqtt::connect_with_will(Level::V5, "s1", "é/will", b"gone");
    let mut session = bystanders.attacker(&connect).await;
    for topic in ["é/temp", "漢", "\u{7f}x", "é"] {
        session.send(&mqtt::publish(Level::V5, topic, 1, 1, b"x")).await;
        session.expect(PacketType::Puback).await;
        let publish = bystanders.watcher.expect(PacketType::Publish).await;
        let topic_len = usize::from(publish[3]);
        assert_eq!(&publish[4..4 + topic_len], topic.as_bytes());
    }
    session.send(&mqtt::subscribe(Level::V5, 2, "é/+", 0)).await;
    session.expect(PacketType::Suback).await;
    session.send(&mqtt::publish(Level::V5, "é/temp", 0, 0, b"mine")).await;
    assert!(
        session.expect(PacketType::Publish).await.ends_with(b"mine"),
        "filters match as before"
    );
    drop(session);
    while !bystanders.watcher.expect(PacketType::Publish).await.ends_with(b"gone") {}
    bystanders.are_unharmed().await;
}

#[tokio::test]
async fn a_share_may_be_left_with_an_unacknowledged_message() {
    let bystanders = Bystanders::new().await;
    let expiry = Properties::check(b"\x11\0\0\0\x64", Place::Connect).unwrap();
    let persistent = mqtt::written(Connect {
        clean_start: false,
        properties: expiry,
        keep_alive_s: 60,
        ..Connect::new(Level::V5, "s1")
    });
    for leave in [mqtt::DISCONNECT, b""] {
        let mut session = bystanders.attacker(&persistent).await;
        for (id, filter) in [(1, "$share/g/t"), (2, "t")] {
            session.send(&mqtt::subscribe(Level::V5, id, filter, 1)).await;
            while session.packet().await.expect("connected")[0] != 0x90 {}
        }
        session.send(&mqtt::publish(Level::V5, "t", 0, 0, b"x")).await;
        for _ in 0..2 {
            session.expect(PacketType::Publish).await;
        }
        session.send(&mqtt::unsubscribe(Level::V5, 3, "$share/g/t")).await;
        session.expect(PacketType::Unsuback).await;
        session.send(leave).await;
        drop(session);
    }
    bystanders.are_unharmed().await;
}

#[tokio::test]
async fn packets_of_a_server_end_the_session_that_sends_them_and_free_its_place() {
    let bystanders = Bystanders::new().await;
    let before = bystanders.world.metrics.router_links.get();
    for packet in [
        &b"\x20\x03\0\0\0"[..],
        b"\x90\x04\0\x01\0\0",
        b"\xb0\x04\0\x01\0\0",
        b"\xd0\0",
        b"\x10\0",
    ] {
        let mut session = bystanders.attacker(&mqtt::connect(Level::V5, "s1")).await;
        session.send(packet).await;
        assert_eq!(session.expect(PacketType::Disconnect).await[2], 0x82);
        assert!(session.packet().await.is_none());
    }
    eventually(|| bystanders.world.metrics.router_links.get() == before).await;
    bystanders.are_unharmed().await;
}

#[tokio::test]
async fn acknowledgements_out_of_order_do_not_reach_the_router() {
    let bystanders = Bystanders::new().await;
    let mut session = bystanders.attacker(&mqtt::connect(Level::V5, "s1")).await;
    session.send(&mqtt::subscribe(Level::V5, 1, "t", 1)).await;
    session.expect(PacketType::Suback).await;
    // Unsolicited ones of every kind, and a PUBREL for nothing.
    session
        .send(b"\x40\x02\0\x05\x50\x02\0\x05\x70\x02\0\x05\x62\x02\0\x05")
        .await;
    assert_eq!(session.expect(PacketType::Pubrel).await[4], 0x92);
    assert_eq!(session.expect(PacketType::Pubcomp).await[4], 0x92);
    for n in 0..2 {
        session.send(&mqtt::publish(Level::V5, "t", 0, 0, &[n])).await;
    }
    let ids: Vec<u8> = [
        session.expect(PacketType::Publish).await,
        session.expect(PacketType::Publish).await,
    ]
    .iter()
    .map(|publish| publish[6])
    .collect();
    session.send(&[0x40, 2, 0, ids[1], 0x40, 2, 0, ids[0]]).await;
    session.send(&mqtt::publish(Level::V5, "t", 0, 0, b"after")).await;
    assert!(session.expect(PacketType::Publish).await.ends_with(b"after"));
    bystanders.are_unharmed().await;
}

#[tokio::test]
async fn a_slow_subscriber_that_is_taken_over_harms_nobody() {
    let bystanders = Bystanders::new().await;
    let mut slow = bystanders.attacker(&mqtt::connect(Level::V5, "s1")).await;
    slow.send(&mqtt::subscribe(Level::V5, 1, "flood", 0)).await;
    slow.expect(PacketType::Suback).await;
    let sender = bystanders.world.enroll("sender").await;
    let mut sender = bystanders
        .world
        .session(&sender, &mqtt::connect(Level::V5, "sender"))
        .await;
    for n in 0..400_u16 {
        // Together more than every buffer between router and client, which does not read.
        sender
            .send(&mqtt::publish(Level::V5, "flood", 0, 0, &[n as u8; 4000]))
            .await;
    }
    sender.send(mqtt::PINGREQ).await;
    sender.expect(PacketType::Pingresp).await;
    let mut second = bystanders.attacker(&mqtt::connect(Level::V5, "s1")).await;
    second.send(mqtt::PINGREQ).await;
    second.expect(PacketType::Pingresp).await;
    drop(slow);
    bystanders.are_unharmed().await;
}
