//! The front over real sockets: sessions, every refusal with its code and counter, floods.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;

use std::{
};

use hybrid_handshake::{
    message::ClientLimits,
    mqtt::{Level, PacketType, ReasonCode},
    suite::{Group, KemId, SuiteId},
};
use kemqtt_broker::{Backend, Front, FrontBuilder, Limits, Registry, backend::RumqttdConfig};

use client::{Device, Failure};

/// A front with one enrolled device, `s1`.
struct World {
    front: Front,
    registry: Registry,
    broker: String,
    device: Device,
}

impl World {
    async fn start(settings: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Self {
        let registry = Registry::in_memory().await.unwrap();
        let broker = registry
            .generate_broker_key(KemId::MlKem768, Group::X25519)
            .await
            .unwrap();
        let psk = registry.enroll_psk("s1").await.unwrap();
        let builder = Front::builder()
            .registry(registry.clone())
            .backend(Backend::rumqttd(RumqttdConfig::default()));
        let front = settings(builder).build().await.unwrap();
        let device = Device::psk(&broker, &psk);
        Self {
            front,
            registry,
            broker,
            device,
        }
    }

    async fn connect(&self, device: &Device, connect: &[u8]) -> Result<(Vec<u8>, client::Session), Failure> {
        device.connect(self.front.local_addr(), connect).await
    }

    /// Stops the front and checks that nothing is left behind.
    async fn stop(self) {
        let Self { front, .. } = self;
        let metrics = front.metrics_handle();
        client::within(front.shutdown()).await;
        let gauges = [
            ("open", metrics.open.get()),
            ("half_open", metrics.half_open.get()),
            ("half_open_bytes", metrics.half_open_bytes.get()),
            ("sessions", metrics.sessions.get()),
            ("router_links", metrics.router_links.get()),
        ];
        assert!(gauges.iter().all(|(_, value)| *value == 0), "{gauges:?}");
    }
}

#[tokio::test]
async fn an_enrolled_device_talks_mqtt_through_the_embedded_broker() {
    let world = World::start(|b| b).await;
    for level in [Level::V5, Level::V3_1_1] {
        let (connack, mut session) = world.connect(&world.device, &mqtt::connect(level, "s1")).await.unwrap();
        assert_eq!((connack[0], connack[2], connack[3]), (0x20, 0, 0), "accepted");
        session.send(&mqtt::subscribe(level, 1, "a/#", 1)).await;
        let suback = session.expect(PacketType::Suback).await;
        assert_eq!(suback.last(), Some(&1));
        session.send(&mqtt::publish(level, "a/b", 1, 7, b"hello")).await;
        let (mut got_ack, mut got_message) = (false, false);
        while !(got_ack && got_message) {
            let packet = session.packet().await.expect("a packet");
            match PacketType::from_first_byte(packet[0]) {
                Some(PacketType::Puback) => got_ack = packet[2..4] == [0, 7],
                Some(PacketType::Publish) => got_message = packet.ends_with(b"hello"),
                other => panic!("{other:?}"),
            }
        }
        session.send(mqtt::DISCONNECT).await;
        assert!(session.packet().await.is_none());
    }
    world.stop().await;
}
