//! rumqttc and its fork over the secure channel.
#![cfg(all(unix, feature = "rumqttc"))]

mod peer;

use std::time::Duration;

use kemqtt_client::{Config, Credential, DeviceId, Error};
use peer::{Setup, mqtt, payload};
use tokio::time::timeout;

#[tokio::test]
async fn rumqttc_speaks_mqtt_5_through_two_changed_lines() {
    use rumqttc::v5::mqttbytes::{QoS, v5::Packet};
    use rumqttc::v5::{AsyncClient, Event};

    let setup = Setup::new();
    let broker = mqtt::listen(setup.realm.clone()).await;
    let (options, attached) = kemqtt_client::rumqttc::v5::options("c", &broker, setup.config())
        .await
        .expect("bridge");
    let (client, mut events) = AsyncClient::new(options, 10);
    client.subscribe("t/#", QoS::AtMostOnce).await.expect("queues");
    // Larger than rumqttc's own limit of 10 KiB.
    client
        .publish("t/a", QoS::AtLeastOnce, false, payload(100_000))
        .await
        .expect("queues");
    let message = timeout(Duration::from_secs(10), async {
        loop {
            if let Event::Incoming(Packet::Publish(publish)) = events.poll().await.expect("event") {
                return publish;
            }
        }
    });
    let message = message.await.expect("in time");
    assert_eq!(
        (&message.topic[..], &message.payload[..]),
        (&b"t/a"[..], &payload(100_000)[..])
    );
    drop(events);
    timeout(Duration::from_secs(10), attached.idle())
        .await
        .expect("the bridge ends with the event loop");
    assert!(attached.take_error().is_none());
}

#[tokio::test]
async fn rumqttc_speaks_mqtt_3_1_1_and_comes_back_after_a_loss() {
    use rumqttc::{AsyncClient, Event, Packet, QoS};

    let setup = Setup::new();
    let broker = mqtt::listen(setup.realm.clone()).await;
    let (options, _attached) = kemqtt_client::rumqttc::v4::options("c", &broker, setup.config())
        .await
        .expect("bridge");
    let (client, mut events) = AsyncClient::new(options, 10);
    for _ in 0..2 {
        timeout(Duration::from_secs(10), async {
            while !matches!(events.poll().await, Ok(Event::Incoming(Packet::ConnAck(_)))) {}
            client.publish("t", QoS::ExactlyOnce, false, "x").await.expect("queues");
            while !matches!(events.poll().await, Ok(Event::Incoming(Packet::PubComp(_)))) {}
            // A DISCONNECT makes the broker close; polling on reconnects, which is a new handshake.
            client.disconnect().await.expect("queues");
            while events.poll().await.is_ok() {}
        })
        .await
        .expect("in time");
    }
}

#[tokio::test]
async fn rumqttc_hears_a_refusal_and_the_program_can_ask_why() {
    use rumqttc::v5::mqttbytes::v5::ConnectReturnCode;
    use rumqttc::v5::{AsyncClient, ConnectionError};

    let setup = Setup::new();
    let broker = mqtt::listen(setup.realm.clone()).await;
    let stranger = Credential::generate_psk(DeviceId::new("stranger").expect("id")).expect("psk");
    let config = Config::new(setup.pins(), stranger);
    let (options, attached) = kemqtt_client::rumqttc::v5::options("c", &broker, config)
        .await
        .expect("bridge");
    let (_client, mut events) = AsyncClient::new(options, 10);
    let error = events.poll().await.expect_err("refused");
    assert!(
        matches!(
            error,
            ConnectionError::ConnectionRefused(ConnectReturnCode::NotAuthorized)
        ),
        "{error}"
    );
    attached.idle().await;
    assert!(matches!(attached.take_error(), Some(Error::Unproven(_))));
}

#[cfg(feature = "rumqttc-next")]
#[tokio::test]
async fn the_fork_needs_no_socket() {
    use kemqtt_client::Bridge;
    use rumqttc_next::mqttbytes::v5::Packet;
    use rumqttc_next::{AsyncClient, Event, MqttOptions, PublishOptions};

    let setup = Setup::new();
    let broker = mqtt::listen(setup.realm.clone()).await;
    let mut options = MqttOptions::new("c", "unused");
    kemqtt_client::rumqttc_next::attach(&mut options, Bridge::new(broker, setup.config()).expect("bridge"));
    let (client, mut events) = AsyncClient::builder(options).build();
    client
        .publish("t", "x", PublishOptions::at_least_once())
        .await
        .expect("queues");
    timeout(Duration::from_secs(10), async {
        while !matches!(events.poll().await.expect("event"), Event::Incoming(Packet::PubAck(_))) {}
    })
    .await
    .expect("in time");
}
