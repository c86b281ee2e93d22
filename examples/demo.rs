//! The whole path in one program: an embedded broker behind the secure front, a device that proves itself with a
//! pre-shared key, and an anonymous dashboard, exchanging MQTT 5 messages. Run it with `cargo demo`.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use hybrid_handshake::suite::{Group, KemId, SuiteId};
use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig};
use kemqtt_client::{
    Config, Credential, Observer, Pins, WireEvent,
    rumqttc::{Attached, v5::options},
};
use rumqttc::v5::{
    AsyncClient, Event, EventLoop, Incoming, MqttOptions,
    mqttbytes::{
        QoS,
        v5::{LastWill, Publish},
    },
};
use tokio::time::timeout;

#[tokio::main]
async fn main() -> Result<()> {
    println!("== Broker: rumqttd in this process, behind the secure front");
    let registry = Registry::in_memory().await?;
    let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let psk = registry.enroll_psk("sensor-1").await?;
    let front = Front::builder()
        .listen("127.0.0.1:0")
        .backend(Backend::rumqttd(RumqttdConfig::default()))
        .registry(registry)
        .allow_anonymous(true)
        .build()
        .await?;
    let address = front.local_addr().to_string();
    let pins = Pins::from_text(&pin)?;
    println!(
        "   listens on {address}, broker key ML-KEM-768 + X25519, fingerprint {}\n",
        pins.fingerprint()
    );

    println!("== Anonymous client `dashboard` connects");
    let config = Config::new(pins.clone(), Credential::Anonymous);
    let mut dashboard = Client::connect("dashboard", &address, config, |_| {}).await?;
    dashboard.handle.subscribe("plant/#", QoS::ExactlyOnce).await?;
    dashboard.until(|event| matches!(event, Incoming::SubAck(_))).await?;

    println!("\n== Device `sensor-1` connects with its pre-shared key, and with the suite for small devices");
    let config = Config::new(pins.clone(), Credential::from_text(&psk)?).suite(SuiteId::SENSOR_DEFAULT);
    let will = LastWill::new("plant/sensor-1/status", "lost", QoS::AtLeastOnce, false, None);
    let mut sensor = Client::connect("sensor-1", &address, config, |options| {
        options.set_last_will(will);
    })
    .await?;

    println!("\n== Messages");
    for (qos, text) in [
        (QoS::AtMostOnce, "QoS 0"),
        (QoS::AtLeastOnce, "QoS 1"),
        (QoS::ExactlyOnce, "QoS 2"),
    ] {
        sensor
            .handle
            .publish("plant/sensor-1/temperature", qos, false, text)
            .await?;
        sensor.flush(qos).await?;
        dashboard.receives("plant/sensor-1/temperature", text).await?;
    }
    sensor
        .handle
        .publish("plant/sensor-1/calibration", QoS::AtLeastOnce, true, "retained")
        .await?;
    sensor.flush(QoS::AtLeastOnce).await?;
    dashboard.receives("plant/sensor-1/calibration", "retained").await?;

    println!("\n== A second dashboard comes later and finds the retained message");
    let config = Config::new(pins, Credential::Anonymous);
    let mut late = Client::connect("dashboard-2", &address, config, |_| {}).await?;
    late.handle.subscribe("plant/+/calibration", QoS::AtLeastOnce).await?;
    late.receives("plant/sensor-1/calibration", "retained").await?;

    println!("\n== The device vanishes without a DISCONNECT; its will speaks");
    drop(sensor);
    dashboard.receives("plant/sensor-1/status", "lost").await?;

    front.shutdown().await;
    println!("\nEverything arrived. Nothing of it, not even a client id or a topic, was readable on the wire.");
    Ok(())
}

/// A rumqttc client, its event loop and the bridge that carries it.
struct Client {
    name: &'static str,
    handle: AsyncClient,
    events: EventLoop,
    _bridge: Attached,
}

impl Client {
    async fn connect(
        name: &'static str,
        address: &str,
        config: Config,
        set: impl FnOnce(&mut MqttOptions),
    ) -> Result<Self> {
        let config = config.observer(Arc::new(Wire));
        let (mut options, bridge) = options(name, address, config).await?;
        options.set_keep_alive(Duration::from_secs(30));
        set(&mut options);
        let (handle, events) = AsyncClient::new(options, 16);
        let mut client = Self {
            name,
            handle,
            events,
            _bridge: bridge,
        };
        client.until(|event| matches!(event, Incoming::ConnAck(_))).await?;
        Ok(client)
    }

    /// Waits for `text` on `topic`; anything else that arrives first is an error.
    async fn receives(&mut self, topic: &str, text: &str) -> Result<()> {
        let mut received: Option<Publish> = None;
        self.until(|event| match event {
            Incoming::Publish(publish) => {
                received = Some(publish.clone());
                true
            }
            _ => false,
        })
        .await?;
        let publish = received.context("no message")?;
        ensure!(
            publish.topic == topic && publish.payload == text,
            "{} received {publish:?}",
            self.name
        );
        println!("   {} received {topic}: {text}", self.name);
        Ok(())
    }

    /// Waits until the broker has what was published.
    async fn flush(&mut self, qos: QoS) -> Result<()> {
        match qos {
            QoS::AtMostOnce => self.until_sent().await,
            QoS::AtLeastOnce => self.until(|event| matches!(event, Incoming::PubAck(_))).await,
            QoS::ExactlyOnce => self.until(|event| matches!(event, Incoming::PubComp(_))).await,
        }
    }

    async fn until_sent(&mut self) -> Result<()> {
        loop {
            if let Event::Outgoing(rumqttc::Outgoing::Publish(_)) = self.next().await? {
                return Ok(());
            }
        }
    }

    async fn until(&mut self, mut done: impl FnMut(&Incoming) -> bool) -> Result<()> {
        loop {
            if let Event::Incoming(event) = self.next().await?
                && done(&event)
            {
                return Ok(());
            }
        }
    }

    async fn next(&mut self) -> Result<Event> {
        match timeout(Duration::from_secs(10), self.events.poll()).await {
            Ok(event) => event.with_context(|| format!("{} lost its connection", self.name)),
            Err(_) => bail!("{} waited ten seconds for nothing", self.name),
        }
    }
}

/// Prints the handshake packet by packet.
struct Wire;

impl Observer for Wire {
    fn observe(&self, event: &WireEvent) {
        if !matches!(event, WireEvent::Record { .. }) {
            println!("   {event}");
        }
    }
}
