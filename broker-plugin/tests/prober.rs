//! What a prober learns who holds the broker's public key and no credential: nothing about who is enrolled, and how.

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

use hybrid_handshake::mqtt::{
    ReasonCode,
    outer::{FromBroker, read_from_broker},
};
use kemqtt_broker::registry::{Credential, Enrolment};

use client::{Device, StaticKey, auth_packet, connect_packet, psk_line};
use world::World;

/// Everything of a connection that is not fresh randomness or sealed.
#[derive(Debug, PartialEq, Eq)]
struct Trace {
    m1_packet: usize,
    m2_packet: usize,
    /// Record limit, CONNECT limit and options: behind n_B and the broker's time.
    m2_fields: Vec<u8>,
    refusal: Vec<u8>,
}

/// A handshake up to an M3 that proves nothing.
async fn probe(world: &World, device: &Device) -> Trace {
    let (m1, _) = device.m1();
    let mut wire = world.wire().await;
    let packet = connect_packet(&m1);
    wire.send(&packet).await;
    let mut m2 = wire.packet().await.expect("an M2 for everybody");
    let m2_packet = m2.len();
    let Ok(FromBroker::Auth(data)) = read_from_broker(&mut m2) else {
        panic!("AUTH with M2")
    };
    let m2_fields = data[24..30].to_vec();
    wire.send(&auth_packet(&vec![7; device.suite.kem().ct_len() + 60]))
        .await;
    let refusal = wire.packet().await.expect("a refusal");
    assert!(wire.is_closed().await, "nothing behind it");
    Trace {
        m1_packet: packet.len(),
        m2_packet,
        m2_fields,
        refusal,
    }
}

fn with_psk(world: &World, id: &str, suite: &str) -> Device {
    Device::psk(&world.broker, &psk_line(id, 0x5a)).with_suite(suite)
}

fn with_key(world: &World, id: &str, suite: &str) -> Device {
    let device = Device::anonymous(&world.broker).with_suite(suite);
    Device {
        static_key: Some(Arc::new(StaticKey::generate(id, device.suite))),
        ..device
    }
}

async fn enroll(world: &World, id: &str, credential: Credential) {
    let new = Enrolment {
        id,
        credential: &credential,
        client_ids: &[],
        lowest_suite: None,
        topics: None,
        now: 0,
    };
    world.registry.enroll(new).await.unwrap();
}

#[tokio::test]
async fn unknown_wrong_type_wrong_secret_and_revoked_leave_the_same_trace() {
    for suite in ["x25519-mlkem768-chacha20poly1305", "x25519-ctrulight-ascon"] {
        let world = World::start(|b| b).await;
        // Ids of one length or another: box1 pads them.
        enroll(&world, "psk", Credential::Psk([1; 32].into())).await;
        enroll(&world, "revoked-psk", Credential::Psk([2; 32].into())).await;
        let other_suite = if suite.contains("mlkem768") {
            "x25519-ctrulight-ascon"
        } else {
            "x25519-mlkem768-chacha20poly1305"
        };
        for (id, suite) in [
            ("key", suite),
            ("revoked-key", suite),
            ("key-of-another-suite", other_suite),
        ] {
            let key = StaticKey::generate(id, suite.parse().expect("a suite"));
            enroll(&world, id, Credential::Kem(key.encoded.clone())).await;
        }
        for id in ["revoked-psk", "revoked-key"] {
            world.registry.revoke(id).await.unwrap();
        }
        let ids = [
            "psk",
            "key",
            "revoked-psk",
            "revoked-key",
            "key-of-another-suite",
            "nobody",
        ];
        let make: [fn(&World, &str, &str) -> Device; 2] = [with_psk, with_key];
        for make in make {
            let mut traces = Vec::new();
            for id in ids.into_iter().chain(["nobody", "psk"]) {
                traces.push((id, probe(&world, &make(&world, id, suite)).await));
            }
            let (_, first) = &traces[0];
            assert_eq!(first.refusal[..4], [0x20, 0x03, 0x00, 0x87]);
            for (id, trace) in &traces {
                assert_eq!(trace, first, "{suite}: {id}");
            }
        }
        let probes = 2 * (ids.len() as u64 + 2);
        assert_eq!(
            world.metrics.refused("rejected", ReasonCode::NotAuthorized),
            probes,
            "one cause in the log too"
        );
        world.stop().await;
    }
}
