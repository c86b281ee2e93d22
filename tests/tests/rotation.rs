//! A fleet moves to the next broker key without a hand on any device, and a thief of the current key moves nobody.

use std::time::Duration;

use anyhow::{Context, Result};
use hybrid_handshake::{
    identity::{BrokerKey, BrokerLine, Kid, MAX_KEY_LEN},
    suite::{Group, KemId},
};
use kemqtt_broker::{
    Backend, Front, Limits, Registry,
    backend::RumqttdConfig,
    registry::{KeyState, RegistryError, SealKey, StoredKey},
    rotation::RotationError,
};
use kemqtt_client::{Config, Credential, Pins, SuiteId, Tickets};
use kemqtt_tests::{Client, Postgres};
use rumqttc::v5::{Incoming, mqttbytes::QoS};
use tokio::time::sleep;

/// A registry in a PostgreSQL of its own.
async fn in_postgres() -> Result<(Registry, Postgres)> {
    let server = Postgres::start().await?;
    Ok((Registry::postgres(&server.url(), SealKey::generate()?).await?, server))
}

async fn front(registry: &Registry) -> Result<Front> {
    let limits = Limits {
        revocation_poll: Duration::from_millis(50),
        ..Limits::default()
    };
    Ok(Front::builder()
        .backend(Backend::rumqttd(RumqttdConfig::default()))
        .registry(registry.clone())
        .allow_anonymous(true)
        .limits(limits)
        .build()
        .await?)
}

/// The kid of a pin's key.
fn kid(pin: &str) -> Result<Kid> {
    let mut buffer = [0; MAX_KEY_LEN];
    Ok(BrokerLine::parse(pin, &mut buffer)?.key.kid())
}

fn key_in(pin: &str) -> &str {
    pin.split(' ').nth(1).unwrap_or_default()
}

/// The single current pin of a realm.
async fn pin(registry: &Registry) -> Result<String> {
    let mut lines = registry.broker_lines().await?;
    assert_eq!(lines.len(), 1);
    lines.pop().context("a current key")
}

struct Device {
    id: &'static str,
    pins: Pins,
    config: Config,
}

impl Device {
    fn new(id: &'static str, pins: Pins, credential: Credential) -> Self {
        let config = Config::new(pins.clone(), credential).tickets(Some(Tickets::in_memory()));
        Self { id, pins, config }
    }

    async fn psk(id: &'static str, registry: &Registry, pin: &str) -> Result<Self> {
        let psk = registry.enroll_psk(id).await?;
        Ok(Self::new(id, Pins::from_text(pin)?, Credential::from_text(&psk)?))
    }

    async fn connect(&self, front: &Front) -> Result<Client> {
        let address = front.local_addr().to_string();
        Client::connect(self.id, &address, self.config.clone(), |_| {}).await
    }

    fn knows_next(&self) -> bool {
        format!("{:?}", self.pins).contains("next: Some")
    }
}

/// Lets the session of a client go on until `done`.
async fn run_until(client: &mut Client, done: impl Fn() -> bool) -> Result<()> {
    for _ in 0..1200 {
        client.run_for(Duration::from_millis(25)).await?;
        if done() {
            return Ok(());
        }
    }
    anyhow::bail!("waited too long")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_moves_without_a_hand_on_any_device() -> Result<()> {
    fleet_moves(&Registry::in_memory().await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_moves_without_a_hand_on_any_device_with_postgresql() -> Result<()> {
    let (registry, _server) = in_postgres().await?;
    fleet_moves(&registry).await
}

async fn fleet_moves(registry: &Registry) -> Result<()> {
    // Provisioned without a successor: it is announced when there is one.
    let bare = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let first = registry.announce_successor(&kid(&bare)?).await?;
    let provisioned = pin(registry).await?;
    assert!(provisioned.ends_with(&first.fingerprint.to_string()));
    let front = front(registry).await?;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("broker.pin");
    std::fs::write(&file, &bare)?;
    let mut small = Device::psk("small", registry, &bare).await?;
    small.config = small.config.suite(SuiteId::SENSOR_DEFAULT).limits(64, 256);
    let in_file = Device::new("in-file", Pins::load(&file)?, credential(registry, "in-file").await?);
    let fleet = [
        Device::psk("learns", registry, &bare).await?,
        Device::psk("knows", registry, &provisioned).await?,
        small,
        in_file,
        Device::new("", Pins::from_text(&bare)?, Credential::Anonymous),
    ];
    let away = Device::psk("away", registry, &provisioned).await?;

    let mut clients = Vec::new();
    for device in &fleet {
        let mut client = device.connect(&front).await?;
        run_until(&mut client, || device.pins.successor() == Some(first.fingerprint)).await?;
        clients.push(client);
    }
    assert!(std::fs::read_to_string(&file)?.contains(&first.fingerprint.to_string()));

    // Clients that are connected hear of it at once.
    let second = registry.rotate(&kid(&bare)?, &first.line).await?;
    for (device, client) in fleet.iter().zip(&mut clients) {
        run_until(client, || device.knows_next()).await?;
        assert_eq!(device.pins.fingerprint().kid(), kid(&bare)?, "not before it is proved");
    }
    drop(clients);
    for device in &fleet {
        let mut client = device.connect(&front).await?;
        assert_eq!(device.pins.fingerprint(), first.fingerprint, "{}: moved", device.id);
        assert!(!device.knows_next());
        // And on to the one after it, as soon as that is announced.
        run_until(&mut client, || device.pins.successor() == Some(second.fingerprint)).await?;
        client
            .handle
            .publish("moved", QoS::AtLeastOnce, false, device.id)
            .await?;
        client.until(|event| matches!(event, Incoming::PubAck(_))).await?;
    }
    let text = std::fs::read_to_string(&file)?;
    assert_eq!(key_in(&text), key_in(&pin(registry).await?), "the old key is forgotten");

    // One that was away comes under the retiring key, and moves with its next connection.
    let mut client = away.connect(&front).await?;
    run_until(&mut client, || away.knows_next()).await?;
    drop(client);
    assert_eq!(front.metrics().retiring_key_handshakes.get(), 1);
    away.connect(&front).await?;
    assert_eq!(away.pins.fingerprint(), first.fingerprint);

    let retired = registry.retire().await?;
    assert_eq!(retired.iter().map(|key| key.kid()).collect::<Vec<_>>(), [kid(&bare)?]);
    sleep(Duration::from_millis(300)).await;
    for device in fleet.iter().chain([&away]) {
        device.connect(&front).await?;
    }
    let late = Device::psk("late", registry, &bare).await?;
    assert!(late.connect(&front).await.is_err(), "the first key is gone");
    assert!(fleet.iter().all(|device| device.pins.ignored_news() == 0));
    Ok(())
}

async fn credential(registry: &Registry, id: &str) -> Result<Credential> {
    Ok(Credential::from_text(&registry.enroll_psk(id).await?)?)
}

/// The thief has the private half of the current key, runs a realm of his own on it, and wants the fleet for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_thief_of_the_current_key_moves_nobody() -> Result<()> {
    thief_moves_nobody(&Registry::in_memory().await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thief_of_the_current_key_moves_nobody_with_postgresql() -> Result<()> {
    let (registry, _server) = in_postgres().await?;
    thief_moves_nobody(&registry).await
}

async fn thief_moves_nobody(registry: &Registry) -> Result<()> {
    let bare = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let honest = registry.announce_successor(&kid(&bare)?).await?;
    let mut device = Device::new("", Pins::from_text(&pin(registry).await?)?, Credential::Anonymous);
    device.config = device.config.tickets(None);

    let stolen = registry.broker_keys().await?.pop().context("the key")?;
    let lair = Registry::in_memory().await?;
    lair.add_broker_key(
        &StoredKey {
            successor: None,
            ..stolen
        },
        0,
    )
    .await?;
    let false_successor = lair.announce_successor(&kid(&bare)?).await?;
    let thief = front(&lair).await?;

    // A successor of his: ignored, and counted.
    let mut client = device.connect(&thief).await?;
    run_until(&mut client, || device.pins.ignored_news() == 1).await?;
    assert_eq!(device.pins.successor(), Some(honest.fingerprint));

    // The key itself: not the announced one, so ignored too.
    lair.rotate(&kid(&bare)?, &false_successor.line).await?;
    run_until(&mut client, || device.pins.ignored_news() == 2).await?;
    assert!(!device.knows_next());
    drop(client);
    assert_eq!(device.pins.fingerprint().kid(), kid(&bare)?);

    // The operator notices, rotates, and the fleet is his again.
    let real = front(registry).await?;
    registry.rotate(&kid(&bare)?, &honest.line).await?;
    let mut client = device.connect(&real).await?;
    run_until(&mut client, || device.knows_next()).await?;
    drop(client);
    device.connect(&real).await?;
    assert_eq!(device.pins.fingerprint(), honest.fingerprint);
    assert!(
        device.connect(&thief).await.is_err(),
        "the stolen key is worth nothing now"
    );
    Ok(())
}

#[tokio::test]
async fn a_registry_takes_only_the_announced_successor() -> Result<()> {
    takes_only_the_announced(&Registry::in_memory().await?).await
}

#[tokio::test]
async fn a_registry_takes_only_the_announced_successor_with_postgresql() -> Result<()> {
    let (registry, _server) = in_postgres().await?;
    takes_only_the_announced(&registry).await
}

async fn takes_only_the_announced(registry: &Registry) -> Result<()> {
    let bare = registry.generate_broker_key(KemId::MlKem512, Group::P256).await?;
    let old = kid(&bare)?;
    let successor = registry.announce_successor(&old).await?;
    let again = registry.announce_successor(&old).await;
    assert!(matches!(
        again,
        Err(RotationError::Registry(RegistryError::SuccessorKnown))
    ));

    // The same key file, so that it opens, and yet another key than the announced one.
    let other = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let foreign = registry.announce_successor(&kid(&other)?).await?;
    let wrong = registry.rotate(&old, &foreign.line).await;
    assert!(matches!(
        wrong,
        Err(RotationError::Registry(RegistryError::NotSuccessor))
    ));

    // The right line in a registry with another key file.
    let elsewhere = Registry::in_memory().await?;
    let stored = registry.broker_keys().await?.remove(0);
    elsewhere.add_broker_key(&stored, 0).await?;
    let sealed = elsewhere.rotate(&old, &successor.line).await;
    assert!(matches!(sealed, Err(RotationError::Seal(_))));

    for line in [
        "",
        "hkm1-successor",
        "hkm1-broker x y",
        &successor.line[..60],
        "hkm1-successor AAAA AAAA",
    ] {
        assert!(
            matches!(registry.rotate(&old, line).await, Err(RotationError::Line)),
            "{line}"
        );
    }
    registry.rotate(&old, &successor.line).await?;
    let twice = registry.rotate(&old, &successor.line).await;
    assert!(matches!(
        twice,
        Err(RotationError::Registry(RegistryError::NotSuccessor))
    ));
    let keys = registry.broker_keys().await?;
    let states: Vec<_> = keys
        .iter()
        .map(|key| Ok((BrokerKey::parse(&key.public)?.public().kem(), key.state)))
        .collect::<Result<_>>()?;
    assert_eq!(
        states
            .iter()
            .filter(|state| **state == (KemId::MlKem512, KeyState::Current))
            .count(),
        1
    );
    assert_eq!(
        states
            .iter()
            .filter(|state| **state == (KemId::MlKem512, KeyState::Retiring))
            .count(),
        1
    );
    assert_eq!(registry.retire().await?.len(), 1);
    assert!(registry.retire().await?.is_empty());
    Ok(())
}
