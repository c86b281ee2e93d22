//! Resumption: tickets come, work, age, and die with what they stand for.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/world.rs"]
mod world;

use std::{fs, os::unix::fs::PermissionsExt as _};

use hybrid_handshake::{
    message::ClientLimits,
    mqtt::{Level, PacketType, ReasonCode},
};
use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig, metrics::Handshake};

use client::{Device, Failure};
use world::World;

fn handshakes(world: &World, device: &Device, mode: u32) -> u64 {
    world
        .metrics
        .handshakes
        .get_or_create(&Handshake {
            suite: device.suite.to_string(),
            mode,
        })
        .get()
}

#[tokio::test]
async fn a_line_of_16_resumptions_and_no_more() {
    let world = World::start(|b| b).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = world.session(&world.device, &connect).await;
    let (mut ticket, lifetime) = session.ticket(Some("s1"), None).await;
    assert_eq!(lifetime, 24 * 60 * 60);
    for n in 1..=16 {
        let device = world.device.resuming(ticket);
        let mut session = world.session(&device, &connect).await;
        session.send(mqtt::PINGREQ).await;
        session.expect(PacketType::Pingresp).await;
        let last = device.ticket.as_ref();
        let lifetime;
        (ticket, lifetime) = session.ticket(Some("s1"), last).await;
        assert_eq!(lifetime == 0, n == 16, "the last session's ticket is worth nothing");
    }
    assert_eq!(handshakes(&world, &world.device, 4), 16);
    let refused = world.connect(&world.device.resuming(ticket), &connect).await;
    assert!(matches!(refused, Err(Failure::Refused(ReasonCode::NotAuthorized))));
    world.stop().await;
}

#[tokio::test]
async fn a_small_device_gets_its_ticket_in_records_of_its_size() {
    let world = World::start(|b| b).await;
    let limits = ClientLimits::new(64, 256).unwrap();
    let device =
        Device::psk(&world.broker, world.device.psk_line.as_deref().unwrap()).with_suite("x25519-ctrulight-ascon");
    let device = Device { limits, ..device };
    let connect = mqtt::connect(Level::V3_1_1, "s1");
    let mut session = world.session(&device, &connect).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    let device = device.resuming(ticket);
    world.session(&device, &connect).await;
    assert_eq!(handshakes(&world, &device, 4), 1);
    world.stop().await;
}

#[tokio::test]
async fn a_ticket_works_once_more_while_the_client_has_no_better_one() {
    let world = World::start(|b| b).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = world.session(&world.device, &connect).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    let device = world.device.resuming(ticket);
    for _ in 0..2 {
        world.session(&device, &connect).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn revocation_and_other_limits_hold_for_tickets() {
    let world = World::start(|b| b).await;
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = world.session(&world.device, &connect).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    let device = world.device.resuming(ticket);
    world.registry.revoke("s1").await.unwrap();
    world
        .refused_inside(&device, &connect, "revoked", ReasonCode::NotAuthorized, 0x87)
        .await;
    world.stop().await;
}

#[tokio::test]
async fn an_altered_ticket_is_rejected() {
    let world = World::start(|b| b).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    let (mut m1, _) = world.device.resuming(ticket).m1();
    m1[33 + 32 + 60] ^= 1;
    let mut wire = world.wire().await;
    wire.send(&client::connect_packet(&m1)).await;
    world.refused(wire, "rejected", ReasonCode::NotAuthorized).await;
    world.stop().await;
}

#[tokio::test]
async fn anonymous_tickets_carry_no_identity_and_end_with_the_permission() {
    let registry = Registry::in_memory().await.unwrap();
    let (kem, group) = (
        hybrid_handshake::suite::KemId::MlKem768,
        hybrid_handshake::suite::Group::X25519,
    );
    let pin = registry.generate_broker_key(kem, group).await.unwrap();
    registry.enroll_psk("s1").await.unwrap();
    let start = async |allowed| {
        let builder = Front::builder()
            .registry(registry.clone())
            .backend(Backend::rumqttd(RumqttdConfig::default()));
        builder.allow_anonymous(allowed).build().await.unwrap()
    };
    let front = start(true).await;
    let device = Device::anonymous(&pin);
    let connect = mqtt::connect(Level::V5, "guest");
    let (_, mut session) = device.connect(front.local_addr(), &connect).await.unwrap();
    let (ticket, _) = session.ticket(None, None).await;
    let device = device.resuming(ticket);
    let (connack, _session) = device.connect(front.local_addr(), &connect).await.unwrap();
    assert_eq!(connack[3], 0);
    let (connack, _session) = device
        .connect(front.local_addr(), &mqtt::connect(Level::V5, "s1"))
        .await
        .unwrap();
    assert_eq!(connack[3], 0x85, "still no device");
    drop((session, _session));
    front.shutdown().await;

    let front = start(false).await;
    let refused = device.connect(front.local_addr(), &connect).await;
    assert!(matches!(refused, Err(Failure::Refused(ReasonCode::NotAuthorized))));
    assert_eq!(front.metrics().refused("mode-or-suite", ReasonCode::NotAuthorized), 1);
    front.shutdown().await;
}

#[tokio::test]
async fn gateways_that_share_a_key_file_take_each_others_tickets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tickets");
    fs::write(&path, "5a".repeat(32)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let one = World::start(|b| b.ticket_file(&path)).await;
    // The second gateway of the realm: same registry, same file.
    let builder = Front::builder()
        .registry(one.registry.clone())
        .backend(Backend::rumqttd(RumqttdConfig::default()));
    let two = builder.ticket_file(&path).build().await.unwrap();
    let connect = mqtt::connect(Level::V5, "s1");
    let mut session = one.session(&one.device, &connect).await;
    let (ticket, _) = session.ticket(Some("s1"), None).await;
    let (connack, session_two) = one
        .device
        .resuming(ticket)
        .connect(two.local_addr(), &connect)
        .await
        .unwrap();
    assert_eq!(connack[3], 0);
    drop((session, session_two));
    two.shutdown().await;
    one.stop().await;
}

#[tokio::test]
async fn without_ticket_keys_the_handshake_goes_on_without_a_ticket() {
    let world = World::start(|b| b.ticket_file("/nonexistent/tickets")).await;
    let mut session = world.session(&world.device, &mqtt::connect(Level::V5, "s1")).await;
    session.send(mqtt::PINGREQ).await;
    session.expect(PacketType::Pingresp).await;
    assert!(session.control.is_empty());
    assert!(
        !session
            .established
            .options
            .has(hybrid_handshake::message::Capabilities::TICKETS)
    );
    world.stop().await;
}
