//! Topic rules of devices and of anonymous clients over real sockets, and what becomes of sessions when rules or policy
//! change.

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

use hybrid_handshake::mqtt::{Connect, Level, PacketType, ReasonCode};
use kemqtt_broker::{
    Backend, Front, FrontBuilder, Limits, RegistryError,
    metrics::Violation,
    policy::{ClientIdPolicy, TopicRules},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use client::{Device, Session, eventually, within};
use world::World;

const BOTH: [Level; 2] = [Level::V5, Level::V3_1_1];
const PUBLISHING: &str = "publishing not allowed";
const SUBSCRIPTION: &str = "subscription not allowed";

fn rules(publish: &[&str], subscribe: &[&str]) -> TopicRules {
    let list = |filters: &[&str]| Some(filters.iter().map(|&filter| filter.to_owned()).collect());
    TopicRules {
        publish: list(publish),
        subscribe: list(subscribe),
    }
}

fn quick(builder: FrontBuilder) -> FrontBuilder {
    builder.limits(Limits {
        revocation_poll: Duration::from_millis(20),
        close_timeout: Duration::from_millis(200),
        ..Limits::default()
    })
}

/// PUBLISH at QoS 0 with a topic alias.
fn aliased(topic: &str, alias: u8, payload: &[u8]) -> Vec<u8> {
    let name = [&(topic.len() as u16).to_be_bytes()[..], topic.as_bytes()].concat();
    mqtt::packet(0x30, &[&name[..], &[3, 0x23, 0, alias], payload].concat())
}

fn stopped(world: &World, what: &'static str) -> u64 {
    world.metrics.violations.get_or_create(&Violation { what }).get()
}

async fn publishes(session: &mut Session, level: Level, topic: &str) {
    session.send(&mqtt::publish(level, topic, 1, 9, b"x")).await;
    while session.packet().await.expect("connected")[0] != 0x40 {}
}

async fn subscribes(session: &mut Session, level: Level, filter: &str) {
    session.send(&mqtt::subscribe(level, 8, filter, 0)).await;
    let suback = session.expect(PacketType::Suback).await;
    assert_eq!(suback.last(), Some(&0), "{filter}");
}

/// The session is closed, and MQTT 5 says why.
async fn is_told(session: &mut Session, level: Level, code: ReasonCode) {
    if level.is_v5() {
        assert_eq!(session.expect(PacketType::Disconnect).await[2], code as u8);
    }
    assert!(session.packet().await.is_none());
}

#[tokio::test]
async fn a_device_is_kept_to_its_own_rules_in_both_versions() {
    let world = World::start(|b| b).await;
    let device = world.enroll("s2").await;
    let own = rules(&["sensors/{id}/#", "news"], &["commands/{id}/+", "news/#"]);
    world.registry.set_topics("s2", &own).await.unwrap();
    let mut watcher = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    subscribes(&mut watcher, Level::V5, "#").await;
    let mut refused = [0, 0];
    for level in BOTH {
        for (packet, what) in [
            (mqtt::publish(level, "sensors/s1/t", 0, 0, b"no"), PUBLISHING),
            (mqtt::publish(level, "sensors", 1, 1, b"no"), PUBLISHING),
            (mqtt::publish(level, "news/x", 2, 1, b"no"), PUBLISHING),
            (mqtt::publish(level, "$SYS/x", 0, 0, b"no"), PUBLISHING),
            // Longer than what is in one record: its head is enough.
            (mqtt::publish(level, "other", 0, 0, &[0; 60_000]), PUBLISHING),
            (mqtt::subscribe(level, 1, "#", 0), SUBSCRIPTION),
            (mqtt::subscribe(level, 1, "+/s2/x", 0), SUBSCRIPTION),
            (mqtt::subscribe(level, 1, "commands/s2/#", 0), SUBSCRIPTION),
            (mqtt::subscribe(level, 1, "commands/s1/x", 0), SUBSCRIPTION),
            (mqtt::subscribe(level, 1, "$share/g/sensors/s2/t", 0), SUBSCRIPTION),
        ] {
            let mut session = world.session(&device, &mqtt::connect(level, "s2")).await;
            publishes(&mut session, level, "sensors/s2/t").await;
            assert!(watcher.expect(PacketType::Publish).await.ends_with(b"x"));
            for filter in ["commands/s2/+", "commands/s2/x", "$share/g/news/#"] {
                subscribes(&mut session, level, filter).await;
            }
            session.send(&packet).await;
            is_told(&mut session, level, ReasonCode::NotAuthorized).await;
            refused[usize::from(what == SUBSCRIPTION)] += 1;
            assert_eq!(
                [stopped(&world, PUBLISHING), stopped(&world, SUBSCRIPTION)],
                refused,
                "{packet:02x?}"
            );
        }
    }
    // Nothing that was refused has come through, and nobody else is bound.
    watcher.send(&mqtt::publish(Level::V5, "other", 0, 0, b"end")).await;
    assert!(watcher.expect(PacketType::Publish).await.ends_with(b"end"));
    assert_eq!(world.metrics.closed("guard"), refused[0] + refused[1]);
    world.stop().await;
}

/// The first refused entry of a SUBSCRIBE counts, wherever it stands.
#[tokio::test]
async fn one_refused_filter_refuses_the_subscribe() {
    let world = World::start(|b| b.topics(rules(&[], &["a/#"]))).await;
    for body in [&b"\0\x01\0\0\x03a/b\0\0\x01b\0"[..], b"\0\x01\0\0\x01b\0\0\x03a/b\0"] {
        let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
        session.send(&mqtt::packet(0x82, body)).await;
        is_told(&mut session, Level::V5, ReasonCode::NotAuthorized).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn an_alias_stands_for_the_topic_that_set_it() {
    let world = World::start(|b| b.topics(rules(&["a/#"], &["a/#"]))).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = world.session(&world.device, &connect).await;
    subscribes(&mut session, Level::V5, "a/#").await;
    session.send(&aliased("a/b", 1, b"set")).await;
    session.send(&aliased("", 1, b"used")).await;
    for payload in ["set", "used"] {
        assert!(session.expect(PacketType::Publish).await.ends_with(payload.as_bytes()));
    }
    // Neither setting it to another topic nor using one that was not set leads out.
    session.send(&aliased("b", 1, b"no")).await;
    is_told(&mut session, Level::V5, ReasonCode::NotAuthorized).await;
    let mut session = world.session(&world.device, &connect).await;
    session.send(&aliased("", 1, b"no")).await;
    is_told(&mut session, Level::V5, ReasonCode::ProtocolError).await;
    world.stop().await;
}

#[tokio::test]
async fn a_will_outside_of_the_rules_is_refused_in_the_connack() {
    let world = World::start(|b| b.topics(rules(&["wills/{id}"], &["#"]))).await;
    for (level, byte) in [(Level::V5, 0x87), (Level::V3_1_1, 5)] {
        let connect = mqtt::connect_with_will(level, "s1", "wills/s2", b"x");
        let code = ReasonCode::NotAuthorized;
        world
            .refused_inside(&world.device, &connect, "will-topic", code, byte)
            .await;
        let connect = mqtt::connect_with_will(level, "s1", "wills/s1", b"x");
        world.session(&world.device, &connect).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn rules_of_a_device_come_before_the_general_ones_list_by_list() {
    let world = World::start(|b| b.topics(rules(&["general/{id}"], &["general/#"]))).await;
    let own = TopicRules {
        publish: Some(vec!["own/{id}".to_owned()]),
        subscribe: None,
    };
    world.registry.set_topics("s1", &own).await.unwrap();
    for (topic, filter, refused) in [
        ("own/s1", "general/+", mqtt::publish(Level::V5, "general/s1", 0, 0, b"")),
        ("own/s1", "general/#", mqtt::subscribe(Level::V5, 1, "own/s1", 0)),
    ] {
        let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
        publishes(&mut session, Level::V5, topic).await;
        subscribes(&mut session, Level::V5, filter).await;
        session.send(&refused).await;
        is_told(&mut session, Level::V5, ReasonCode::NotAuthorized).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn anonymous_clients_have_rules_of_their_own() {
    let anonymous_may = async |settings: fn(FrontBuilder) -> FrontBuilder, topic: &str, filter: &str| {
        let world = World::start(|b| settings(b.allow_anonymous(true))).await;
        let guest = Device::anonymous(&world.broker);
        for level in BOTH {
            let mut session = world.session(&guest, &mqtt::connect(level, "guest")).await;
            publishes(&mut session, level, topic).await;
            subscribes(&mut session, level, filter).await;
            session.send(&mqtt::subscribe(level, 1, "plant/{id}", 0)).await;
            is_told(&mut session, level, ReasonCode::NotAuthorized).await;
        }
        world.stop().await;
    };
    // Those of all clients without {id}, one list of their own, or both.
    let general = |b: FrontBuilder| b.topics(rules(&["news"], &["news/#", "plant/{id}"]));
    anonymous_may(general, "news", "news/x").await;
    let one = |b: FrontBuilder| {
        let subscribe = rules(&[], &["guests/#"]).subscribe;
        let own = TopicRules {
            publish: None,
            subscribe,
        };
        b.topics(rules(&["news"], &["news/#"])).anonymous_topics(own)
    };
    anonymous_may(one, "news", "guests/x").await;
    let both = |b: FrontBuilder| b.anonymous_topics(rules(&["guests/in"], &["guests/out"]));
    anonymous_may(both, "guests/in", "guests/out").await;
}

#[tokio::test]
async fn anonymous_rules_do_not_bind_devices() {
    let world = World::start(|b| b.allow_anonymous(true).anonymous_topics(rules(&[], &[]))).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    publishes(&mut session, Level::V5, "anything").await;
    let mut guest = world
        .session(&Device::anonymous(&world.broker), &mqtt::connect(Level::V5, "g"))
        .await;
    guest.send(&mqtt::publish(Level::V5, "anything", 0, 0, b"")).await;
    is_told(&mut guest, Level::V5, ReasonCode::NotAuthorized).await;
    world.stop().await;
}

#[tokio::test]
async fn a_session_under_other_rules_ends_and_the_next_has_the_new_ones() {
    let world = World::start(quick).await;
    let other = world.enroll("s2").await;
    let mut other = world.session(&other, &mqtt::connect(Level::V5, "s2")).await;
    let mut ended = 0;
    for level in BOTH {
        let connect = mqtt::connect(level, "s1");
        for own in [rules(&["a"], &["a"]), rules(&["b"], &[]), TopicRules::default()] {
            let mut session = world.session(&world.device, &connect).await;
            world.registry.set_topics("s1", &own).await.unwrap();
            is_told(&mut session, level, ReasonCode::AdministrativeAction).await;
            ended += 1;
            eventually(|| world.metrics.closed("topics") == ended).await;
            let mut session = world.session(&world.device, &connect).await;
            let (allowed, refused) = match own.publish.as_deref() {
                Some([topic]) => (topic.as_str(), Some("c")),
                _ => ("c", None),
            };
            publishes(&mut session, level, allowed).await;
            if let Some(topic) = refused {
                session.send(&mqtt::publish(level, topic, 0, 0, b"")).await;
                is_told(&mut session, level, ReasonCode::NotAuthorized).await;
            }
        }
    }
    publishes(&mut other, Level::V5, "still/here").await;
    world.stop().await;
}

#[tokio::test]
async fn what_is_no_filter_is_not_stored() {
    let world = World::start(|b| b).await;
    for filter in ["a#", "$share/g/a", ""] {
        let stored = world.registry.set_topics("s1", &rules(&["a"], &[filter])).await;
        assert!(matches!(stored, Err(RegistryError::TopicFilter(bad)) if bad == filter));
    }
    let unknown = world.registry.set_topics("s9", &rules(&[], &[])).await;
    assert!(matches!(unknown, Err(RegistryError::UnknownDevice(id)) if id == "s9"));
    assert_eq!(
        world.registry.device("s1").await.unwrap().unwrap().topics,
        TopicRules::default()
    );
    world.stop().await;
}

/// A back end that the test plays: it takes one CONNECT.
async fn accept(listener: &TcpListener) -> tokio::net::TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    assert_eq!(within(stream.read_u8()).await.unwrap(), 0x10);
    let mut rest = vec![0; usize::from(within(stream.read_u8()).await.unwrap())];
    within(stream.read_exact(&mut rest)).await.unwrap();
    stream
}

const ACCEPTED: &[u8] = b"\x20\x03\0\0\0";

#[tokio::test]
async fn rules_count_where_the_guard_is_switched_off() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let backend = Backend::tcp(listener.local_addr().unwrap().to_string()).without_guard();
    let world = World::over(backend, |b| b).await;
    world.registry.set_topics("s1", &rules(&["a"], &[])).await.unwrap();
    let connect = mqtt::connect(Level::V5, "s1");
    let broker = async {
        let mut stream = accept(&listener).await;
        stream.write_all(ACCEPTED).await.unwrap();
        stream
    };
    let (mut session, mut broker) = tokio::join!(world.session(&world.device, &connect), broker);
    let allowed = mqtt::publish(Level::V5, "a", 0, 0, b"x");
    session.send(&allowed).await;
    session.send(&mqtt::publish(Level::V5, "b", 0, 0, b"x")).await;
    is_told(&mut session, Level::V5, ReasonCode::NotAuthorized).await;
    let mut seen = Vec::new();
    within(broker.read_to_end(&mut seen)).await.unwrap();
    assert_eq!(seen, allowed);
    world.stop().await;
}

/// A reload while the back end still thinks about the CONNECT.
#[tokio::test]
async fn a_session_that_begins_during_a_reload_is_judged_by_the_new_policy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let backend = Backend::tcp(listener.local_addr().unwrap().to_string());
    let world = World::over(backend, |b| b).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let broker = async {
        let mut stream = accept(&listener).await;
        world.front.reload(Front::builder().topics(rules(&[], &[]))).await;
        stream.write_all(ACCEPTED).await.unwrap();
        stream
    };
    let (mut session, _broker) = tokio::join!(world.session(&world.device, &connect), broker);
    is_told(&mut session, Level::V5, ReasonCode::AdministrativeAction).await;
    eventually(|| world.metrics.closed("topics") == 1).await;
    world.stop().await;
}

#[tokio::test]
async fn a_reload_ends_the_sessions_that_the_policy_no_longer_allows() {
    let all = |b: FrontBuilder| b.allow_anonymous(true).client_id(ClientIdPolicy::Prefix);
    for level in BOTH {
        let world = World::start(all).await;
        let weak = world.enroll("s2").await.with_suite("x25519-ctrulight-ascon");
        let stays = mqtt::connect(level, "s1");
        let named = mqtt::written(Connect {
            user_name: Some("gate:guest"),
            ..Connect::new(level, "named")
        });
        let guest = Device::anonymous(&world.broker);
        let connect = async || {
            let mut stays = world.session(&world.device, &stays).await;
            subscribes(&mut stays, level, "a/#").await;
            [
                stays,
                world.session(&world.device, &mqtt::connect(level, "s1/more")).await,
                world.session(&guest, &mqtt::connect(level, "guest")).await,
                world.session(&weak, &mqtt::connect(level, "s2")).await,
                world.session(&guest, &named).await,
            ]
        };
        let mut sessions = connect().await;
        let strongest = "x25519-mlkem768-chacha20poly1305".parse().unwrap();
        for (policy, leaves) in [
            // The same again.
            (all(Front::builder()), None),
            (all(Front::builder()).user_prefix("gate:"), Some(4)),
            (all(Front::builder()).lowest_suite(strongest), Some(3)),
            (Front::builder().client_id(ClientIdPolicy::Prefix), Some(2)),
            (Front::builder(), Some(1)),
        ] {
            let ended = world.metrics.closed("policy");
            world.front.reload(policy).await;
            if let Some(number) = leaves {
                is_told(&mut sessions[number], level, ReasonCode::AdministrativeAction).await;
                eventually(|| world.metrics.closed("policy") == ended + 1).await;
            }
            for session in &mut sessions[..leaves.unwrap_or(5)] {
                session.send(mqtt::PINGREQ).await;
                session.expect(PacketType::Pingresp).await;
            }
        }
        world.stop().await;
    }
}

#[tokio::test]
async fn a_reload_of_the_topics_ends_only_sessions_with_other_rules() {
    let world = World::start(|b| b.allow_anonymous(true)).await;
    let own = world.enroll("s2").await;
    world.registry.set_topics("s2", &rules(&["a"], &["a"])).await.unwrap();
    let guest = Device::anonymous(&world.broker);
    let mut general = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let mut own = world.session(&own, &mqtt::connect(Level::V5, "s2")).await;
    let mut guest = world.session(&guest, &mqtt::connect(Level::V5, "guest")).await;
    let policy = Front::builder()
        .allow_anonymous(true)
        .topics(rules(&["{id}/#"], &["#"]))
        .anonymous_topics(rules(&["#"], &["#"]));
    world.front.reload(policy).await;
    is_told(&mut general, Level::V5, ReasonCode::AdministrativeAction).await;
    eventually(|| world.metrics.closed("topics") == 1).await;
    publishes(&mut own, Level::V5, "a").await;
    publishes(&mut guest, Level::V5, "anything").await;
    let mut general = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    publishes(&mut general, Level::V5, "s1/x").await;
    general.send(&mqtt::publish(Level::V5, "s2/x", 0, 0, b"")).await;
    is_told(&mut general, Level::V5, ReasonCode::NotAuthorized).await;
    world.stop().await;
}
