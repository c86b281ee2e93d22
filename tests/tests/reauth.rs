//! Re-authentication over real sockets, while QoS 1 messages flow both ways.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{Backend, Front, Limits, Registry, backend::RumqttdConfig};
use kemqtt_client::{Config, Credential, Pins, Reauthenticate, SuiteId, Tickets, WireEvent};
use kemqtt_tests::{Client, Direction, Log, Realm, Relay};
use rumqttc::v5::{
    ConnectionError, Incoming, StateError,
    mqttbytes::{QoS, v5::DisconnectReasonCode},
};
use tokio::time::{advance, pause, resume, sleep, timeout};

fn rumqttd() -> Backend {
    Backend::rumqttd(RumqttdConfig::default())
}

/// Messages each way.
const COUNT: usize = 150;

/// Publishes `COUNT` messages of many sizes to `to` and receives as many of `from`, in order and each once. Asks for a
/// re-authentication after every `reauth` messages received.
async fn talk(client: &mut Client, from: &str, to: &str, reauth: Option<usize>) -> Result<()> {
    let handle = client.handle.clone();
    let topic = to.to_owned();
    let publisher = tokio::spawn(async move {
        for number in 0..COUNT {
            let mut payload = number.to_string();
            payload.push_str(&" ".repeat(number * 37 % 3000));
            handle.publish(&topic, QoS::AtLeastOnce, false, payload).await?;
        }
        Ok::<_, rumqttc::v5::ClientError>(())
    });
    let (mut received, mut acknowledged) = (Vec::new(), 0);
    while received.len() < COUNT || acknowledged < COUNT {
        let mut step = None;
        client
            .until(|event| {
                match event {
                    Incoming::Publish(publish) => step = Some(publish.clone()),
                    Incoming::PubAck(_) => acknowledged += 1,
                    _ => return false,
                }
                true
            })
            .await?;
        if let Some(publish) = step {
            let text = String::from_utf8(publish.payload.to_vec())?;
            received.push(text.trim_end().parse::<usize>()?);
            if reauth == Some(received.len()) {
                ensure!(client.reauthenticate(), "no session to re-authenticate");
            }
        }
    }
    publisher.await??;
    ensure!(
        received == (0..COUNT).collect::<Vec<_>>(),
        "{from}: lost, doubled or out of order: {received:?}"
    );
    Ok(())
}

async fn subscribe(client: &mut Client, filter: &str) -> Result<()> {
    client.handle.subscribe(filter, QoS::AtLeastOnce).await?;
    client.until(|event| matches!(event, Incoming::SubAck(_))).await
}

/// The broker counts a re-authentication with the first record under the new keys.
async fn until_reauthenticated(client: &mut Client, realm: &Realm, count: u64) -> Result<()> {
    for _ in 0..200 {
        client.run_for(Duration::from_millis(50)).await?;
        if realm.front.metrics().reauthentications.get() == count {
            return Ok(());
        }
    }
    bail!("not re-authenticated")
}

/// Whether the session ends with a DISCONNECT of this reason, which rumqttc makes an error of.
async fn is_told(client: &mut Client, reason: DisconnectReasonCode) -> bool {
    let ended = client.until(|_| false).await.expect_err("runs until the end");
    matches!(
        ended.downcast_ref(),
        Some(ConnectionError::MqttState(StateError::ServerDisconnect { reason_code, .. })) if *reason_code == reason
    )
}

fn reauthentications(log: &Log<WireEvent>) -> usize {
    log.events()
        .iter()
        .filter(|event| matches!(event, WireEvent::Reauthenticated))
        .count()
}

/// One device of each credential, each in a full and in a resumed session; the last one takes records of 64 bytes only.
#[tokio::test(flavor = "multi_thread")]
async fn keys_change_under_load_without_loss_in_full_and_resumed_sessions() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let relay = Relay::start(realm.front.local_addr()).await?;
    let psk = realm.device("psk").await?;
    let kem = realm.device_with_key("kem", SuiteId::HOST_DEFAULT).await?;
    let small = realm
        .device("small")
        .await?
        .suite(SuiteId::SENSOR_DEFAULT)
        .limits(64, 256);
    let mut done = 0;
    for (id, config) in [("psk", psk), ("kem", kem), ("small", small)] {
        let config = config.tickets(Some(Tickets::in_memory()));
        for resumed in [false, true] {
            let log = Log::new();
            let config = config.clone().observer(log.clone());
            let mut device = Client::connect(id, &relay.address(), config, |_| {}).await?;
            let mut peer = realm.connect("peer", realm.anonymous()).await?;
            subscribe(&mut device, "down").await?;
            subscribe(&mut peer, "up").await?;
            let (one, other) = tokio::join!(
                talk(&mut device, "down", "up", Some(COUNT / 10)),
                talk(&mut peer, "up", "down", None)
            );
            one.and(other)?;
            done += 1;
            // A busy machine may still be at it; then the rest has the new keys in both directions.
            until_reauthenticated(&mut device, &realm, done).await?;
            let (one, other) = tokio::join!(
                talk(&mut device, "down", "up", None),
                talk(&mut peer, "up", "down", None)
            );
            one.and(other)?;
            assert!(
                log.events()
                    .iter()
                    .any(|event| matches!(event, WireEvent::Established { resumed: was, .. } if *was == resumed)),
                "{id}: resumed = {resumed}"
            );
            assert_eq!(reauthentications(&log), 1, "{id}, resumed = {resumed}");
            for client in [device, peer] {
                client.handle.disconnect().await?;
                client.end().await;
            }
        }
    }
    for direction in [Direction::ToBroker, Direction::ToClient] {
        let changes = [false, true].repeat(6);
        assert_eq!(
            relay.phases(direction),
            changes,
            "{direction:?}: one change per connection"
        );
    }
    assert_eq!(relay.connections(), 6, "no session was lost");
    realm.front.shutdown().await;
    Ok(())
}

/// The clock of this test is moved, so that the second one does not come too early.
#[tokio::test]
async fn the_key_phase_comes_back_with_the_second_one() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let relay = Relay::start(realm.front.local_addr()).await?;
    let log = Log::new();
    let config = realm.device("sensor-1").await?.observer(log.clone());
    let mut client = Client::connect("sensor-1", &relay.address(), config, |options| {
        options.set_keep_alive(Duration::from_secs(3600));
    })
    .await?;
    for count in 1..=3 {
        assert!(client.reauthenticate());
        until_reauthenticated(&mut client, &realm, count).await?;
        assert_eq!(reauthentications(&log) as u64, count);
        pause();
        advance(Duration::from_secs(62)).await;
        resume();
    }
    client
        .handle
        .publish("still/there", QoS::AtLeastOnce, false, "x")
        .await?;
    client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    let phases = [false, true, false, true];
    assert_eq!(relay.phases(Direction::ToBroker), phases);
    assert_eq!(relay.phases(Direction::ToClient), phases);
    assert_eq!(relay.connections(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn records_and_bytes_ask_for_it_as_well_as_people() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let limits = [
        Reauthenticate {
            every: None,
            records: Some(20),
            bytes: None,
        },
        Reauthenticate {
            every: None,
            records: None,
            bytes: Some(5_000),
        },
        Reauthenticate {
            every: Some(Duration::from_secs(1)),
            records: None,
            bytes: None,
        },
    ];
    for (number, when) in limits.into_iter().enumerate() {
        let log = Log::new();
        let id = format!("device-{number}");
        let config = realm.device(&id).await?.observer(log.clone()).reauthenticate(when);
        let mut client = realm.connect(&id, config).await?;
        assert_eq!(reauthentications(&log), 0, "not before it is due");
        for _ in 0..20 {
            client
                .handle
                .publish("some", QoS::AtLeastOnce, false, vec![0; 300])
                .await?;
            client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
        }
        for _ in 0..100 {
            if reauthentications(&log) > 0 {
                break;
            }
            client.run_for(Duration::from_millis(100)).await?;
        }
        client.run_for(Duration::from_millis(300)).await?;
        assert_eq!(reauthentications(&log), 1, "{when:?}");
    }
    Ok(())
}

/// A device that was revoked, and a registry that is gone.
#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_prove_it_any_more_is_out() -> Result<()> {
    // Revocations are found by the re-authentication, not by the poll.
    let limits = Limits {
        revocation_poll: Duration::from_secs(3600),
        ..Limits::default()
    };
    let registry = Registry::in_memory().await?;
    let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let front = Front::builder()
        .backend(rumqttd())
        .registry(registry.clone())
        .limits(limits)
        .build()
        .await?;
    let address = front.local_addr().to_string();
    let config = async |id: &str| -> Result<Config> {
        let psk = registry.enroll_psk(id).await?;
        Ok(Config::new(Pins::from_text(&pin)?, Credential::from_text(&psk)?))
    };

    let mut client = Client::connect("revoked", &address, config("revoked").await?, |_| {}).await?;
    registry.revoke("revoked").await?;
    assert!(client.reauthenticate());
    assert!(is_told(&mut client, DisconnectReasonCode::NotAuthorized).await);
    wait(|| front.metrics().closed("revoked") == 1).await;

    let mut client = Client::connect("orphan", &address, config("orphan").await?, |_| {}).await?;
    registry.close().await;
    assert!(client.reauthenticate());
    assert!(is_told(&mut client, DisconnectReasonCode::ServerBusy).await);
    wait(|| front.metrics().closed("registry") == 1).await;
    assert_eq!(front.metrics().reauthentications.get(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_re_authentication_ends_at_its_age() -> Result<()> {
    let registry = Registry::in_memory().await?;
    let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let limits = Limits {
        session_age: Duration::from_secs(6),
        ..Limits::default()
    };
    let front = Front::builder()
        .backend(rumqttd())
        .registry(registry.clone())
        .limits(limits)
        .build()
        .await?;
    let address = front.local_addr().to_string();
    let mut clients = Vec::new();
    for (id, every) in [("lazy", None), ("eager", Some(Duration::from_secs(3)))] {
        let psk = registry.enroll_psk(id).await?;
        let when = Reauthenticate {
            every,
            records: None,
            bytes: None,
        };
        let config = Config::new(Pins::from_text(&pin)?, Credential::from_text(&psk)?).reauthenticate(when);
        clients.push(Client::connect(id, &address, config, |_| {}).await?);
    }
    let [lazy, eager] = &mut clients[..] else {
        unreachable!("two clients")
    };
    let told = tokio::select! {
        told = is_told(lazy, DisconnectReasonCode::MaximumConnectTime) => told,
        ended = eager.until(|_| false) => bail!("ended first: {ended:?}"),
    };
    assert!(told);
    wait(|| front.metrics().closed("age") == 1).await;
    assert_eq!(front.metrics().reauthentications.get(), 1);
    eager
        .handle
        .publish("still/there", QoS::AtLeastOnce, false, "x")
        .await?;
    eager.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_anonymous_session_has_nothing_to_prove() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let log = Log::new();
    let when = Reauthenticate {
        every: Some(Duration::from_millis(100)),
        records: Some(1),
        bytes: Some(1),
    };
    let config = realm.anonymous().observer(log.clone()).reauthenticate(when);
    for _ in 0..2 {
        let mut client = realm.connect("guest", config.clone()).await?;
        client.reauthenticate();
        client.run_for(Duration::from_millis(300)).await?;
        client
            .handle
            .publish("still/there", QoS::AtLeastOnce, false, "x")
            .await?;
        client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    }
    assert_eq!(reauthentications(&log), 0);
    Ok(())
}

async fn wait(done: impl Fn() -> bool) {
    let waited = timeout(Duration::from_secs(10), async {
        while !done() {
            sleep(Duration::from_millis(20)).await;
        }
    });
    waited.await.expect("in time");
}
