//! Whole sessions over real sockets with the embedded rumqttd.

use std::time::Duration;

use anyhow::Result;
use hybrid_handshake::suite::{AnySuite, Group, KemId, Mode, Profile, Suite, SuiteId};
use kemqtt_broker::{Backend, backend::RumqttdConfig};
use kemqtt_client::{Direction, Message, Packet, WireEvent};
use kemqtt_tests::{Client, Log, Realm};
use rumqttc::v5::{
    Incoming,
    mqttbytes::{
        QoS,
        v5::{ConnectReturnCode, LastWill},
    },
};

fn rumqttd() -> Backend {
    Backend::rumqttd(RumqttdConfig::default())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_qos_arrives_once_and_in_order() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let mut receiver = realm.connect("receiver", realm.anonymous()).await?;
    receiver.handle.subscribe("plant/#", QoS::ExactlyOnce).await?;
    receiver.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    let mut sender = realm.connect("sensor-1", realm.device("sensor-1").await?).await?;
    for (number, qos) in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce]
        .into_iter()
        .cycle()
        .take(30)
        .enumerate()
    {
        sender
            .handle
            .publish("plant/value", qos, false, number.to_string())
            .await?;
    }
    let receive = async {
        for number in 0..30 {
            let message = receiver.message().await?;
            assert_eq!(
                (&message.topic[..], &message.payload[..]),
                (&b"plant/value"[..], number.to_string().as_bytes())
            );
        }
        anyhow::Ok(())
    };
    tokio::select! {
        received = receive => received?,
        ended = sender.until(|_| false) => anyhow::bail!("the sender has ended: {ended:?}"),
    }
    realm.front.shutdown().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retained_message_waits_for_a_later_subscriber() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let mut sender = realm.connect("sensor-1", realm.device("sensor-1").await?).await?;
    sender
        .handle
        .publish("plant/calibration", QoS::AtLeastOnce, true, "1.02")
        .await?;
    sender.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    let mut late = realm.connect("late", realm.anonymous()).await?;
    late.handle.subscribe("plant/+", QoS::AtLeastOnce).await?;
    let message = late.message().await?;
    assert_eq!(
        (&message.topic[..], &message.payload[..], message.retain),
        (&b"plant/calibration"[..], &b"1.02"[..], true)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_client_speaks_through_its_will_and_a_leaving_one_does_not() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let mut receiver = realm.connect("receiver", realm.anonymous()).await?;
    receiver.handle.subscribe("plant/#", QoS::AtLeastOnce).await?;
    receiver.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    for (id, leaves) in [("leaving", true), ("lost", false)] {
        let will = LastWill::new(format!("plant/{id}"), "gone", QoS::AtLeastOnce, false, None);
        let config = realm.device(id).await?;
        let mut client = Client::connect(id, &realm.address(), config, |options| {
            options.set_last_will(will);
        })
        .await?;
        if leaves {
            client.handle.disconnect().await?;
            // The event loop ends with the DISCONNECT that it sends.
            let _ = client.run_for(Duration::from_secs(1)).await;
        }
        drop(client);
    }
    let message = receiver.message().await?;
    assert_eq!(
        (&message.topic[..], &message.payload[..]),
        (&b"plant/lost"[..], &b"gone"[..])
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_suite_carries_a_message() -> Result<()> {
    for (kem, group) in [(KemId::MlKem512, Group::X25519), (KemId::MlKem768, Group::P256)] {
        let realm = Realm::start_with(rumqttd(), kem, group, true).await?;
        let suites = AnySuite::all()
            .map(|suite| suite.id())
            .filter(|suite| suite.group() == group);
        let mut count = 0;
        for suite in suites {
            let id = format!("device-{:04x}", suite.code());
            let mut client = realm.connect(&id, realm.device(&id).await?.suite(suite)).await?;
            client.handle.subscribe(&id, QoS::AtMostOnce).await?;
            client.until(|event| matches!(event, Incoming::SubAck(_))).await?;
            client
                .handle
                .publish(&id, QoS::AtMostOnce, false, suite.to_string())
                .await?;
            assert_eq!(client.message().await?.payload, suite.to_string().as_bytes());
            if Mode::Anonymous.allowed_in(suite.profile()) {
                realm.connect("", realm.anonymous().suite(suite)).await?;
            } else {
                assert_eq!(suite.profile(), Profile::P1);
            }
            count += 1;
        }
        assert!(count >= 4, "{group:?}: only {count} suites");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_handshake_is_four_packets() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let log = Log::new();
    let config = realm.device("sensor-1").await?.observer(log.clone());
    realm.connect("sensor-1", config).await?;
    let packets: Vec<_> = log
        .events()
        .into_iter()
        .filter_map(|event| match event {
            WireEvent::Handshake {
                direction,
                packet,
                message,
                ..
            } => Some((direction, packet, message)),
            _ => None,
        })
        .collect();
    let expected = [
        (Direction::ToBroker, Packet::Connect, Some(Message::M1)),
        (Direction::FromBroker, Packet::Auth, Some(Message::M2)),
        (Direction::ToBroker, Packet::Auth, Some(Message::M3)),
        (Direction::FromBroker, Packet::Connack, Some(Message::M4)),
    ];
    assert_eq!(packets, expected);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_refused() -> Result<()> {
    let realm = Realm::start_with(rumqttd(), KemId::MlKem768, Group::X25519, false).await?;
    let other = Realm::start(rumqttd()).await?;

    let anonymous = realm.connect("", realm.anonymous()).await;
    assert_eq!(
        Client::refusal(anonymous),
        ConnectReturnCode::NotAuthorized,
        "anonymous clients are off"
    );

    // A client of another realm pins another key, so this broker does not even know the name of the key.
    let foreign = realm.connect("foreign", other.device("foreign").await?).await;
    assert_eq!(
        Client::refusal(foreign),
        ConnectReturnCode::BadAuthenticationMethod,
        "a foreign key"
    );

    let config = realm.device("known").await?;
    realm.registry.revoke("known").await?;
    let revoked = realm.connect("known", config).await;
    assert_eq!(
        Client::refusal(revoked),
        ConnectReturnCode::NotAuthorized,
        "a revoked device"
    );

    let config = realm.device("mine").await?;
    let stolen = realm.connect("yours", config).await;
    assert_eq!(
        Client::refusal(stolen),
        ConnectReturnCode::ClientIdentifierNotValid,
        "somebody else's client id"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_when_all_clients_are_gone() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    for number in 0..8 {
        let mut client = realm.connect("", realm.anonymous()).await?;
        client
            .handle
            .publish(format!("leak/{number}"), QoS::AtLeastOnce, false, "x")
            .await?;
        client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    }
    let metrics = realm.front.metrics();
    for _ in 0..100 {
        if metrics.open.get() == 0 && metrics.half_open_bytes.get() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(
        (
            metrics.open.get(),
            metrics.half_open.get(),
            metrics.half_open_bytes.get()
        ),
        (0, 0, 0)
    );
    assert_eq!(metrics.connections.get(), 8);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_message_passes() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let mut client = realm.connect("", realm.anonymous()).await?;
    client.handle.subscribe("large", QoS::AtLeastOnce).await?;
    client.until(|event| matches!(event, Incoming::SubAck(_))).await?;
    let payload: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    client
        .handle
        .publish("large", QoS::AtLeastOnce, false, payload.clone())
        .await?;
    assert_eq!(client.message().await?.payload, payload);
    Ok(())
}

#[test]
fn the_defaults_are_the_documented_ones() {
    assert_eq!(
        (SuiteId::HOST_DEFAULT.code(), SuiteId::SENSOR_DEFAULT.code()),
        (0x0222, 0x1011)
    );
}
