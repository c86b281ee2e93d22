//! Many bad clients at once, and keys that change under a handshake: the right answer, the right counter, nothing left.

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
    fs,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hybrid_handshake::mqtt::{
    Level, PacketType, ReasonCode,
    outer::{FromBroker, read_from_broker},
};
use kemqtt_broker::{Front, Limits, Registry, registry::SealKey};
use tokio::{task::JoinSet, time::sleep};

use client::{Device, Failure, Wire, auth_packet, connect_packet, eventually, within};
use world::World;

/// How far a bad client plays along.
#[derive(Clone, Copy, Debug)]
enum Until {
    Accept,
    M1,
    M2,
    M4,
}

/// What it does then.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Bytes that are nothing.
    Garbage,
    /// A TCP reset.
    Reset,
    /// One byte at a time, for ever.
    Drip,
    /// Nothing, for ever.
    Silence,
}

const STAGES: [Until; 4] = [Until::Accept, Until::M1, Until::M2, Until::M4];
const ACTS: [Then; 4] = [Then::Garbage, Then::Reset, Then::Drip, Then::Silence];

async fn misbehave(address: SocketAddr, device: Device, until: Until, then: Then) {
    // Made before its time begins.
    let (m1, state) = device.m1();
    let mut wire = Wire::open(address).await;
    match until {
        Until::Accept => {}
        Until::M1 => wire.send(&connect_packet(&m1)).await,
        Until::M2 | Until::M4 => {
            wire.send(&connect_packet(&m1)).await;
            let Ok(m2) = device.read_m2(&mut wire).await else {
                return;
            };
            if matches!(until, Until::M4) {
                let connect = mqtt::connect(Level::V5, "bad");
                let Ok((m3, _)) = device.m3(state, &m2, &connect) else {
                    return;
                };
                wire.send(&auth_packet(&m3)).await;
                if wire.packet().await.is_none() {
                    return;
                }
            }
        }
    }
    match then {
        Then::Garbage => {
            wire.send(&[0x5a; 600]).await;
            while wire.stream.try_read(&mut [0; 512]).is_ok_and(|len| len > 0) {}
            wire.is_closed().await;
        }
        #[allow(deprecated, reason = "a linger time of zero does not block")]
        Then::Reset => wire.stream.set_linger(Some(Duration::ZERO)).expect("a socket"),
        Then::Drip => {
            for byte in [0x10, 0x80, 0x08, 0x00, 0x04, b'M'] {
                wire.send(&[byte]).await;
                sleep(Duration::from_millis(60)).await;
            }
        }
        Then::Silence => sleep(Duration::from_millis(400)).await,
    }
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("Linux").count()
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("VmRSS");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_bad_clients_leaves_nothing_and_disturbs_nobody() {
    let limits = Limits {
        half_open: 64,
        connect_timeout: Duration::from_millis(200),
        m3_timeout: Duration::from_millis(200),
        close_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let world = World::start(|b| b.limits(limits)).await;
    let address = world.front.local_addr();
    let bad_line = world.registry.enroll_psk("bad").await.unwrap();
    let bad = || Device::psk(&world.broker, &bad_line);
    // On a busy machine honest clients may be too slow for these limits as well.
    let let_in = async {
        loop {
            if let Ok((_, session)) = world.connect(&world.device, &mqtt::connect(Level::V5, "s1")).await {
                return session;
            }
        }
    };
    let mut honest = within(let_in).await;
    honest.send(&mqtt::subscribe(Level::V5, 1, "echo", 1)).await;
    honest.expect(PacketType::Suback).await;

    // Each kind alone first, so that none of them is evicted: garbage for a record and a reset in a session are among them.
    let each_alone = async {
        while world.metrics.closed("record") == 0 || world.metrics.closed("client-lost") == 0 {
            for until in STAGES {
                for then in ACTS {
                    misbehave(address, bad(), until, then).await;
                }
            }
            eventually(|| world.metrics.open.get() == 1).await;
        }
    };
    within(each_alone).await;

    let (mut tasks, mut sockets, mut memory) = (0, 0, 0);
    for round in 0..4_u16 {
        let mut storm = JoinSet::new();
        for until in STAGES {
            for then in ACTS {
                for _ in 0..4 {
                    storm.spawn(misbehave(address, bad(), until, then));
                }
            }
        }
        for _ in 0..100 {
            storm.spawn(misbehave(address, bad(), Until::Accept, Then::Silence));
        }
        for number in 1..=20 {
            honest
                .send(&mqtt::publish(Level::V5, "echo", 1, number, b"still here"))
                .await;
            // The echo and the acknowledgement, in either order.
            let mut got = [
                honest.packet().await.expect("open"),
                honest.packet().await.expect("open"),
            ];
            got.sort_unstable();
            let kinds = got.each_ref().map(|packet| packet[0] >> 4);
            assert_eq!(kinds, [3, 4], "round {round}, message {number}");
            // Behind the fixed header and the topic.
            honest.send(&mqtt::packet(0x40, &got[0][8..10])).await;
        }
        while storm.join_next().await.is_some() {}
        eventually(|| world.metrics.half_open.get() == 0 && world.metrics.open.get() == 1).await;
        assert_eq!(world.metrics.half_open_bytes.get(), 0);
        let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        if round == 0 {
            // Allocators and caches have had their first fill.
            (tasks, sockets, memory) = (alive(), descriptors(), resident_kib());
        } else {
            eventually(|| alive() <= tasks && descriptors() <= sockets).await;
        }
    }
    let grown = resident_kib().saturating_sub(memory);
    assert!(grown < 8 << 10, "three more storms cost {grown} KiB");
    let metrics = &world.metrics;
    for cause in ["gone", "timeout"] {
        assert!(metrics.refusals_of(cause) > 0, "{cause}: {}", metrics.encode());
    }
    for (cause, code) in [
        ("unexpected-packet", ReasonCode::ProtocolError),
        ("evicted", ReasonCode::QuotaExceeded),
    ] {
        assert!(metrics.refused(cause, code) > 0, "{cause}: {}", metrics.encode());
    }
    drop(honest);
    world.stop().await;
}

/// The keys that opened a ticket are gone before its handshake ends; it ends well all the same, and with a new ticket.
#[tokio::test]
async fn ticket_keys_may_change_in_the_middle_of_a_handshake() {
    let world = World::start(|b| b).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = world.session(&world.device, &connect).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    drop(session);
    let resuming = world.device.resuming(ticket);

    let (m1, state) = resuming.m1();
    let mut wire = world.wire().await;
    wire.send(&connect_packet(&m1)).await;
    let m2 = resuming.read_m2(&mut wire).await.expect("M2");
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    for days in [2, 4] {
        world.registry.ticket_keys(now + days * 86_400).await.unwrap();
    }
    world.front.reload(Front::builder()).await;
    let (m3, state) = resuming.m3(state, &m2, &connect).expect("M3");
    wire.send(&auth_packet(&m3)).await;
    let mut packet = wire.packet().await.expect("CONNACK");
    let FromBroker::Connack(m4) = read_from_broker(&mut packet).expect("success") else {
        panic!("CONNACK expected")
    };
    state.read_m4(m4).expect("the handshake goes on");

    // The old ticket is dead by now.
    let again = resuming.connect(world.front.local_addr(), &connect).await;
    assert_eq!(again.err(), Some(Failure::Refused(ReasonCode::NotAuthorized)));
    assert_eq!(world.metrics.refused("rejected", ReasonCode::NotAuthorized), 1);
    world.session(&world.device, &connect).await;
    drop(wire);
    world.stop().await;
}

/// Tickets and their keys age by the wall clock, and nothing else does.
#[tokio::test]
async fn a_clock_that_jumps_ends_tickets_and_no_session() {
    const HOUR: u64 = 3600;
    let start = 1_800_000_000;
    let time = Arc::new(AtomicU64::new(start));
    let clock = time.clone();
    let world = World::start(|b| b.clock(move || clock.load(Ordering::Relaxed))).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let jump = async |to: u64| {
        time.store(to, Ordering::Relaxed);
        world.front.reload(Front::builder()).await;
    };
    let refused = async |ticket| {
        let before = world.metrics.refused("rejected", ReasonCode::NotAuthorized);
        let again = world.connect(&world.device.resuming(ticket), &connect).await;
        assert_eq!(again.err(), Some(Failure::Refused(ReasonCode::NotAuthorized)));
        assert_eq!(world.metrics.refused("rejected", ReasonCode::NotAuthorized), before + 1);
    };
    let mut session = world.session(&world.device, &connect).await;
    let (first, _) = session.ticket(Some("s1"), None).await;

    jump(start + 25 * HOUR).await;
    session.send(mqtt::PINGREQ).await;
    session.expect(PacketType::Pingresp).await;
    // Its key opens it still, but it is too old.
    refused(first).await;
    let mut other = world
        .session(&world.enroll("s2").await, &mqtt::connect(Level::V5, "s2"))
        .await;
    let (ahead, lifetime) = other.ticket(Some("s2"), None).await;
    assert_eq!(lifetime, 24 * 60 * 60);

    // An hour back: nobody notices.
    jump(start + 24 * HOUR).await;
    let device = world.enroll("s3").await;
    let mut third = world.session(&device, &mqtt::connect(Level::V5, "s3")).await;
    let (kept, _) = third.ticket(Some("s3"), None).await;

    // Far back: keys of days to come would be used for days. They go, and their tickets with them.
    jump(start - 48 * HOUR).await;
    for session in [&mut session, &mut other, &mut third] {
        session.send(mqtt::PINGREQ).await;
        session.expect(PacketType::Pingresp).await;
    }
    refused(ahead).await;
    let again = world
        .connect(&device.resuming(kept), &mqtt::connect(Level::V5, "s3"))
        .await;
    assert_eq!(again.err(), Some(Failure::Refused(ReasonCode::NotAuthorized)));
    let mut full = world.session(&device, &mqtt::connect(Level::V5, "s3")).await;
    let (fresh, _) = full.ticket(Some("s3"), None).await;
    world
        .session(&device.resuming(fresh), &mqtt::connect(Level::V5, "s3"))
        .await;
    drop((session, other, third, full));
    world.stop().await;
}

/// Another program holds the registry's write lock: clients come in all the same, and what was to be noted is noted later.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_registry_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("registry.db");
    let registry = Registry::create(&file, SealKey::generate().unwrap()).await.unwrap();
    let world = World::with_registry(registry, |b| b).await;
    let lock = sqlx::SqlitePool::connect(&format!("sqlite://{}", file.display()))
        .await
        .unwrap();
    let mut locked = lock.acquire().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *locked).await.unwrap();
    let session = within(world.session(&world.device, &mqtt::connect(Level::V5, "s1"))).await;
    sleep(Duration::from_millis(300)).await;
    assert_eq!(world.registry.device("s1").await.unwrap().unwrap().last_seen, None);
    assert_eq!(
        world.metrics.registry_up.get(),
        1,
        "it answers, and more it does not need to"
    );
    sqlx::query("ROLLBACK").execute(&mut *locked).await.unwrap();
    drop(locked);
    let noted = async {
        while world.registry.device("s1").await.unwrap().unwrap().last_seen.is_none() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    within(noted).await;
    drop(session);
    world.stop().await;
}
