//! The embedded broker spoken to in plain MQTT.

use std::time::Duration;

use hybrid_handshake::mqtt::{FixedHeader, PacketType};
use rumqttd::protocol::{Packet, Publish};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{sleep, timeout},
};

use super::*;

struct Client {
    stream: BoxedStream,
    v5: bool,
}

/// CONNECT flags and properties, MQTT 5.0 or 3.1.1.
#[derive(Default)]
struct Options<'a> {
    v3: bool,
    clean: bool,
    expiry: u32,
    will: Option<(&'a str, u32)>,
    receive_maximum: Option<u16>,
}

const CLEAN: Options<'_> = Options {
    v3: false,
    clean: true,
    expiry: 0,
    will: None,
    receive_maximum: None,
};
const KEPT: Options<'_> = Options {
    expiry: 100,
    clean: false,
    ..CLEAN
};

fn start() -> Rumqttd {
    Rumqttd::start(RumqttdConfig::default(), Arc::new(Metrics::new()))
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
}

fn packet(first: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut out = vec![first];
    publish::varint(&mut out, body.len());
    out.extend_from_slice(&body);
    out
}

/// Connects; the byte of the CONNACK that says whether there was a session is the second value.
fn origin() -> Origin {
    let address = "127.0.0.1:1".parse().unwrap();
    Origin {
        client: address,
        listener: address,
    }
}

async fn connect(broker: &Rumqttd, id: &str, options: Options<'_>) -> (Client, bool) {
    let (mut client, connack) = try_connect(broker, id, options).await;
    assert_eq!(connack[3], 0, "{connack:02x?}");
    client.v5 = connack.len() > 4;
    (client, connack[2] == 1)
}

async fn try_connect(broker: &Rumqttd, id: &str, options: Options<'_>) -> (Client, Vec<u8>) {
    let Options {
        v3,
        clean,
        expiry,
        will,
        receive_maximum,
    } = options;
    let mut properties = Vec::new();
    if expiry > 0 {
        properties.push(0x11);
        properties.extend(expiry.to_be_bytes());
    }
    if let Some(maximum) = receive_maximum {
        properties.push(0x21);
        properties.extend(maximum.to_be_bytes());
    }
    let flags = if clean { 2 } else { 0 } | if will.is_some() { 4 } else { 0 };
    let mut body = [&string("MQTT")[..], &[if v3 { 4 } else { 5 }, flags, 0, 60]].concat();
    if !v3 {
        body.push(properties.len() as u8);
        body.extend(properties);
    }
    body.extend(string(id));
    if let Some((topic, delay)) = will {
        if !v3 {
            body.extend([5, 0x18]);
            body.extend(delay.to_be_bytes());
        }
        body.extend(string(topic));
        body.extend(string("will"));
    }
    let stream = broker.connect(origin()).await.unwrap();
    let mut client = Client { stream, v5: !v3 };
    client.send(&packet(0x10, &[&body])).await;
    let connack = client.packet().await.expect("a CONNACK");
    (client, connack)
}

impl Client {
    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("connected");
    }

    async fn packet(&mut self) -> Option<Vec<u8>> {
        let mut packet = Vec::new();
        loop {
            if let Some(header) = FixedHeader::read(&packet).unwrap() {
                let start = packet.len();
                packet.resize(header.packet_len() as usize, 0);
                self.stream.read_exact(&mut packet[start..]).await.ok()?;
                return Some(packet);
            }
            packet.push(
                timeout(Duration::from_secs(10), self.stream.read_u8())
                    .await
                    .expect("in time")
                    .ok()?,
            );
        }
    }

    /// The next packet, of type `kind`.
    async fn expect(&mut self, kind: PacketType) -> Vec<u8> {
        let packet = self.packet().await.unwrap_or_else(|| panic!("{kind:?} expected"));
        assert_eq!(PacketType::from_first_byte(packet[0]), Some(kind), "{packet:02x?}");
        packet
    }

    /// Nothing is on its way: the answer to a PINGREQ is the next packet, and still is after a while.
    async fn expect_silence(&mut self) {
        for _ in 0..2 {
            sleep(Duration::from_millis(50)).await;
            self.send(&[0xc0, 0]).await;
            self.expect(PacketType::Pingresp).await;
        }
    }

    fn properties(&self) -> &'static [u8] {
        if self.v5 { &[0] } else { &[] }
    }

    async fn subscribe(&mut self, filter: &str, qos: u8) -> u8 {
        self.send(&packet(0x82, &[&[0, 1], self.properties(), &string(filter), &[qos]]))
            .await;
        loop {
            let packet = self.packet().await.expect("a SUBACK");
            if packet[0] == 0x90 {
                return packet[packet.len() - 1];
            }
        }
    }

    async fn unsubscribe(&mut self, filter: &str) -> Vec<u8> {
        self.send(&packet(0xa2, &[&[0, 2], self.properties(), &string(filter)]))
            .await;
        self.expect(PacketType::Unsuback).await
    }

    async fn publish(&mut self, topic: &str, first: u8, payload: &str) {
        let id: &[u8] = if first & 6 > 0 { &[0, 9] } else { &[] };
        self.send(&packet(
            0x30 | first,
            &[&string(topic), id, self.properties(), payload.as_bytes()],
        ))
        .await;
        match first >> 1 & 3 {
            1 => drop(self.expect(PacketType::Puback).await),
            2 => {
                self.expect(PacketType::Pubrec).await;
                self.send(&[0x62, 2, 0, 9]).await;
                self.expect(PacketType::Pubcomp).await;
            }
            _ => {}
        }
    }

    /// The next packet is a PUBLISH: its first byte, packet id and payload, acknowledged if it is QoS 1.
    async fn message(&mut self) -> (u8, u16, String) {
        let (first, id, payload) = self.unacknowledged().await;
        if first >> 1 & 3 == 1 {
            let [high, low] = id.to_be_bytes();
            self.send(&[0x40, 2, high, low]).await;
        }
        (first, id, payload)
    }

    async fn unacknowledged(&mut self) -> (u8, u16, String) {
        let packet = self.expect(PacketType::Publish).await;
        let (header, body) = FixedHeader::split(&packet).unwrap();
        let version = if self.v5 {
            crate::guard::Version::V5
        } else {
            crate::guard::Version::V3
        };
        let publish = crate::guard::read_publish(version, header.flags, body).unwrap();
        (
            packet[0],
            publish.packet_id.unwrap_or(0),
            String::from_utf8(publish.payload.to_vec()).unwrap(),
        )
    }

    async fn disconnect(mut self) {
        self.send(&[0xe0, 0]).await;
        assert_eq!(self.packet().await, None);
    }
}

#[tokio::test]
async fn every_qos_arrives() {
    let broker = start();
    let (mut sender, _) = connect(&broker, "sender", CLEAN).await;
    for (qos, v3) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
        let (mut taker, _) = connect(&broker, "taker", Options { v3, ..CLEAN }).await;
        assert_eq!(taker.subscribe("t/+", qos).await, qos);
        for n in 0..250 {
            sender.publish("t/x", qos << 1, &n.to_string()).await;
        }
        let (mut got, mut released) = (0, 0);
        while got < 250 || (qos == 2 && released < 250) {
            let packet = taker.packet().await.expect("connected");
            if packet[0] == 0x62 {
                taker.send(&[0x70, 2, packet[2], packet[3]]).await;
                released += 1;
                continue;
            }
            // Topic `t/x`, then the packet id.
            assert_eq!((packet[0] >> 4, packet[0] >> 1 & 3), (3, qos));
            assert!(packet.ends_with(got.to_string().as_bytes()));
            match qos {
                0 => {}
                1 => taker.send(&[0x40, 2, packet[7], packet[8]]).await,
                _ => taker.send(&[0x50, 2, packet[7], packet[8]]).await,
            }
            got += 1;
        }
        taker.disconnect().await;
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn a_kept_session_gets_what_it_missed() {
    let broker = start();
    for v3 in [false, true] {
        let id = if v3 { "old" } else { "new" };
        let kept = || Options { v3, ..KEPT };
        let (mut taker, present) = connect(&broker, id, kept()).await;
        assert!(!present);
        taker.subscribe("t", 1).await;
        taker.disconnect().await;
        let (mut sender, _) = connect(&broker, "sender", CLEAN).await;
        sender.publish("t", 2, "missed").await;
        let (mut taker, present) = connect(&broker, id, kept()).await;
        assert!(present);
        assert_eq!(taker.unacknowledged().await.2, "missed");
        drop(taker);
        let (mut taker, _) = connect(&broker, id, kept()).await;
        assert_eq!(
            taker.message().await.2,
            "missed",
            "again, because it was not acknowledged"
        );
        taker.expect_silence().await;
        let unsuback = taker.unsubscribe("t").await;
        assert!(v3 || unsuback.last() == Some(&0), "known after a resumption");
        sender.publish("t", 2, "no more").await;
        taker.expect_silence().await;
        taker.disconnect().await;
        let (_, present) = connect(&broker, id, Options { clean: true, ..kept() }).await;
        assert!(!present, "a clean start forgets it");
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn a_session_expires_after_its_time_and_not_before() {
    let broker = start();
    let short = || Options { expiry: 1, ..KEPT };
    // The time of the last connection counts; a busy machine must not be too late for the second one.
    let (mut taker, _) = connect(&broker, "c", Options { expiry: 60, ..KEPT }).await;
    taker.subscribe("t", 1).await;
    taker.disconnect().await;
    sleep(Duration::from_millis(300)).await;
    let (taker, present) = connect(&broker, "c", short()).await;
    assert!(present);
    taker.disconnect().await;
    sleep(Duration::from_millis(1500)).await;
    let (_, present) = connect(&broker, "c", short()).await;
    assert!(!present);
    broker.shutdown().await;
}

#[tokio::test]
async fn a_will_waits_for_its_delay_and_a_new_connection_stops_it() {
    let broker = start();
    let (mut watcher, _) = connect(&broker, "watcher", CLEAN).await;
    watcher.subscribe("will", 0).await;
    let delayed = || Options {
        will: Some(("will", 2)),
        ..KEPT
    };
    drop(connect(&broker, "c", delayed()).await);
    watcher.expect_silence().await;
    let (client, _) = connect(&broker, "c", delayed()).await;
    sleep(Duration::from_millis(2200)).await;
    watcher.expect_silence().await;
    let lost = std::time::Instant::now();
    drop(client);
    assert_eq!(watcher.message().await.2, "will");
    assert!(lost.elapsed() >= Duration::from_millis(1950), "{:?}", lost.elapsed());

    // A session that ends with its connection does not wait.
    drop(
        connect(
            &broker,
            "d",
            Options {
                will: Some(("will", 100)),
                ..CLEAN
            },
        )
        .await,
    );
    assert_eq!(watcher.message().await.2, "will");
    // DISCONNECT 0x04 asks for it, 0x00 does not want it.
    let (mut client, _) = connect(
        &broker,
        "d",
        Options {
            will: Some(("will", 0)),
            ..CLEAN
        },
    )
    .await;
    client.send(&[0xe0, 1, 4]).await;
    assert_eq!(watcher.message().await.2, "will");
    let (client, _) = connect(
        &broker,
        "d",
        Options {
            will: Some(("will", 0)),
            ..CLEAN
        },
    )
    .await;
    client.disconnect().await;
    watcher.expect_silence().await;
    broker.shutdown().await;
}

#[tokio::test]
async fn subscriptions_are_answered_one_by_one() {
    let broker = start();
    let (mut client, _) = connect(&broker, "c", CLEAN).await;
    client
        .send(&packet(
            0x82,
            &[
                &[0, 1, 0],
                &string("a"),
                &[2],
                &string("$SYS/#"),
                &[0],
                &string("$share/g/b"),
                &[1],
            ],
        ))
        .await;
    assert_eq!(client.expect(PacketType::Suback).await[5..], [2, 0x8f, 0]);
    assert_eq!(client.unsubscribe("a").await[5..], [0]);
    assert_eq!(client.unsubscribe("a").await[5..], [0x11]);
    assert_eq!(client.unsubscribe("$share/g/b").await[5..], [0]);
    let (mut old, _) = connect(&broker, "old", Options { v3: true, ..CLEAN }).await;
    assert_eq!(old.subscribe("$SYS/#", 0).await, 0x80);
    assert_eq!(old.unsubscribe("none").await, [0xb0, 2, 0, 2]);
    for n in 0..256 {
        assert_eq!(client.subscribe(&format!("f/{n}"), 0).await, 0);
    }
    assert_eq!(
        client.subscribe("f/256", 0).await,
        0x97,
        "the router never frees a filter"
    );
    broker.shutdown().await;
}

#[tokio::test]
async fn retained_messages_come_with_a_subscription_and_again_with_the_next() {
    let broker = start();
    let (mut client, _) = connect(&broker, "c", CLEAN).await;
    client.publish("r/é", 1, "kept").await;
    for _ in 0..2 {
        client.subscribe("r/#", 0).await;
        assert_eq!(client.message().await, (0x31, 0, "kept".to_owned()));
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn members_of_a_shared_subscription_take_turns_per_filter() {
    let broker = start();
    let (mut a, _) = connect(&broker, "a", CLEAN).await;
    let (mut b, _) = connect(&broker, "b", CLEAN).await;
    for filter in ["$share/g/one", "$share/g/two"] {
        a.subscribe(filter, 1).await;
    }
    b.subscribe("$share/g/one", 1).await;
    let (mut sender, _) = connect(&broker, "sender", CLEAN).await;
    for n in 0..10 {
        sender.publish("one", 2, &n.to_string()).await;
    }
    sender.publish("two", 2, "two").await;
    let (mut got_a, mut got_b) = (Vec::new(), Vec::new());
    let all = async {
        while got_a.len() + got_b.len() < 11 {
            sleep(Duration::from_millis(20)).await;
            got_a.append(&mut drain(&mut a).await);
            got_b.append(&mut drain(&mut b).await);
        }
    };
    timeout(Duration::from_secs(10), all).await.expect("in time");
    for client in [&mut a, &mut b] {
        client.expect_silence().await;
    }
    assert!(
        got_a.contains(&"two".to_owned()) && !got_b.is_empty() && got_a.len() > 1,
        "{got_a:?} {got_b:?}"
    );
    got_a.append(&mut got_b);
    assert_eq!(got_a.len(), 11, "each message once");
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_has_left_a_shared_subscription_gets_nothing_more() {
    let broker = start();
    let (mut stays, _) = connect(&broker, "stays", CLEAN).await;
    let (mut sender, _) = connect(&broker, "sender", CLEAN).await;
    stays.subscribe("$share/g/t", 1).await;
    for round in 0..40 {
        let (mut leaves, _) = connect(&broker, "leaves", CLEAN).await;
        leaves.subscribe("$share/g/t", 1).await;
        if round % 2 == 0 {
            leaves.send(&[0xe0, 0]).await;
            assert_eq!(leaves.packet().await, None);
        } else {
            leaves.unsubscribe("$share/g/t").await;
        }
        for payload in ["0", "1"] {
            sender.publish("t", 2, payload).await;
            let got = timeout(Duration::from_secs(2), stays.expect(PacketType::Publish)).await;
            assert!(
                got.unwrap_or_else(|_| panic!("lost in round {round}"))
                    .ends_with(payload.as_bytes())
            );
        }
    }
    broker.shutdown().await;
}

async fn drain(client: &mut Client) -> Vec<String> {
    client.send(&[0xc0, 0]).await;
    let mut got = Vec::new();
    loop {
        let packet = client.packet().await.expect("connected");
        if packet[0] == 0xd0 {
            return got;
        }
        got.push(
            String::from_utf8(packet[packet.len() - if packet.ends_with(b"two") { 3 } else { 1 }..].to_vec()).unwrap(),
        );
    }
}

#[tokio::test]
async fn receive_maximum_is_kept() {
    let broker = start();
    let (mut taker, _) = connect(
        &broker,
        "taker",
        Options {
            receive_maximum: Some(2),
            ..CLEAN
        },
    )
    .await;
    taker.subscribe("t", 1).await;
    let (mut sender, _) = connect(&broker, "sender", CLEAN).await;
    for n in 0..5 {
        sender.publish("t", 2, &n.to_string()).await;
    }
    let first = taker.unacknowledged().await;
    let second = taker.unacknowledged().await;
    taker.expect_silence().await;
    // Out of order: the router would end the connection.
    for (_, id, _) in [second, first] {
        taker.send(&[0x40, 2, 0, id as u8]).await;
    }
    for n in 2..5 {
        assert_eq!(taker.message().await.2, n.to_string());
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn connects_that_it_cannot_serve_are_refused_with_a_reason() {
    let broker = start();
    let (_, connack) = try_connect(
        &broker,
        "",
        Options {
            v3: true,
            clean: false,
            ..CLEAN
        },
    )
    .await;
    assert_eq!(connack, [0x20, 2, 0, 2], "empty id without clean session");
    let mut client = Client {
        stream: broker.connect(origin()).await.unwrap(),
        v5: true,
    };
    let body = [
        &string("MQTT")[..],
        &[5, 2, 0, 60, 8, 0x15],
        &string("SCRAM")[..],
        &string("c"),
    ]
    .concat();
    client.send(&packet(0x10, &[&body])).await;
    assert_eq!(
        client.packet().await.unwrap(),
        [0x20, 3, 0, 0x8c, 0],
        "enhanced authentication"
    );
    broker.shutdown().await;
}

#[tokio::test]
async fn a_dead_router_is_replaced_and_clients_are_told() {
    let broker = start();
    let (mut victim, _) = connect(&broker, "victim", Options { expiry: 100, ..CLEAN }).await;
    victim.subscribe("#", 1).await;
    // Past the guard, as only a test can: rumqttd slices this topic after its first byte.
    let (mut link, mut rx, _) = broker.0.hub.private_link("%killer").await.unwrap();
    link.send([Packet::Publish(Publish::new("é", "x", false), None)])
        .await
        .unwrap();
    while rx.next().await.is_ok() {}
    assert_eq!(victim.expect(PacketType::Disconnect).await, [0xe0, 1, 0x89]);
    assert_eq!(victim.packet().await, None);
    let again = async {
        loop {
            let (client, connack) = try_connect(&broker, "victim", KEPT).await;
            if connack[3] == 0 {
                assert_eq!(connack[2], 0, "no session survives");
                return client;
            }
            assert_eq!(connack[3], 0x88);
            sleep(Duration::from_millis(10)).await;
        }
    };
    let mut client = timeout(Duration::from_secs(10), again).await.expect("replaced");
    client.subscribe("t", 0).await;
    client.publish("t", 2, "alive").await;
    broker.shutdown().await;
}
