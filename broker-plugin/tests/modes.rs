//! Devices with static keys, and broker keys and suites over P-256.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/world.rs"]
mod world;

use std::sync::Arc;

use hybrid_handshake::{
    mqtt::{Level, PacketType, ReasonCode},
    suite::{Group, KemId},
};
use kemqtt_broker::{
    Backend, Front, Registry,
    backend::RumqttdConfig,
    registry::{Credential, Enrolment},
};

use client::{Device, StaticKey, auth_packet, connect_packet};
use world::World;

async fn enroll(registry: &Registry, key: &StaticKey) {
    let credential = Credential::Kem(key.encoded.clone());
    let id = key.id.as_str();
    let new = Enrolment {
        id,
        credential: &credential,
        client_ids: &[],
        lowest_suite: None,
        topics: None,
        now: 0,
    };
    registry.enroll(new).await.unwrap();
}

fn device(world: &World, id: &str, suite: &str) -> Device {
    let device = Device::anonymous(&world.broker).with_suite(suite);
    Device {
        static_key: Some(Arc::new(StaticKey::generate(id, device.suite))),
        ..device
    }
}

#[tokio::test]
async fn a_device_with_a_static_key_connects_and_resumes() {
    let world = World::start(|b| b).await;
    for (id, suite) in [
        ("k1", "x25519-mlkem768-chacha20poly1305"),
        ("k2", "x25519-ctrulight-ascon"),
    ] {
        let device = device(&world, id, suite);
        enroll(&world.registry, device.static_key.as_ref().unwrap()).await;
        let connect = mqtt::connect(Level::V5, "");
        let mut session = world.session(&device, &connect).await;
        session.send(mqtt::PINGREQ).await;
        session.expect(PacketType::Pingresp).await;
        let (ticket, _) = session.ticket(Some(id), None).await;
        world.session(&device.resuming(ticket), &connect).await;
    }
    world.stop().await;
}

#[tokio::test]
async fn an_unknown_id_and_a_wrong_key_look_the_same_in_mode_1() {
    let world = World::start(|b| b).await;
    let known = device(&world, "k1", "x25519-ctrulight-ascon");
    enroll(&world.registry, known.static_key.as_ref().unwrap()).await;
    let wrong = device(&world, "k1", "x25519-ctrulight-ascon");
    let unknown = device(&world, "nobody", "x25519-ctrulight-ascon");
    // `s1` has a pre-shared key: in mode 1 it is as good as unknown.
    let other_kind = device(&world, "s1", "x25519-ctrulight-ascon");
    let mut m2_len = None;
    for device in [&wrong, &unknown, &other_kind] {
        let (m1, _) = device.m1();
        let mut wire = world.wire().await;
        wire.send(&connect_packet(&m1)).await;
        let m2 = device.read_m2(&mut wire).await.expect("an M2 for everybody");
        assert_eq!(*m2_len.get_or_insert(m2.len()), m2.len());
        wire.send(&auth_packet(&[7; 512 + 100])).await;
        assert_eq!(wire.refusal().await, Ok(ReasonCode::NotAuthorized));
    }
    assert_eq!(world.metrics.refused("rejected", ReasonCode::NotAuthorized), 3);
    world.stop().await;
}

#[tokio::test]
async fn broker_keys_over_both_groups_serve_side_by_side() {
    let registry = Registry::in_memory().await.unwrap();
    let x25519 = registry
        .generate_broker_key(KemId::MlKem768, Group::X25519)
        .await
        .unwrap();
    let p256 = registry
        .generate_broker_key(KemId::MlKem512, Group::P256)
        .await
        .unwrap();
    let psk = registry.enroll_psk("s1").await.unwrap();
    let builder = Front::builder()
        .registry(registry)
        .backend(Backend::rumqttd(RumqttdConfig::default()));
    let front = builder.build().await.unwrap();
    assert_eq!(front.broker_lines().await.unwrap(), [x25519.clone(), p256.clone()]);
    for (pin, suite) in [
        (&x25519, "x25519-mlkem768-chacha20poly1305"),
        (&p256, "p256-mlkem768-chacha20poly1305"),
        (&p256, "p256-ctrulight-ascon"),
    ] {
        let device = Device::psk(pin, &psk).with_suite(suite);
        let (connack, _session) = device
            .connect(front.local_addr(), &mqtt::connect(Level::V5, "s1"))
            .await
            .unwrap();
        assert_eq!(connack[3], 0, "{suite}");
    }
    front.shutdown().await;
}
