//! One registry in PostgreSQL for several gateways.

use std::{collections::HashMap, time::Duration};

use anyhow::{Context, Result, ensure};
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_broker::{
    Backend, Front, Limits, Registry, RegistryError,
    backend::RumqttdConfig,
    policy::TopicRules,
    registry::{Credential, Enrolment, SealError, SealKey},
};
use kemqtt_client::{Config, Credential as ClientCredential, Pins};
use kemqtt_tests::{Client, Office, Postgres};
use rumqttc::v5::{Incoming, mqttbytes::QoS};
use tokio::time::{Instant, sleep, timeout};

/// A database and two registries open on it, as two gateways have them.
struct Pair {
    server: Postgres,
    folder: tempfile::TempDir,
    one: Registry,
    two: Registry,
}

impl Pair {
    async fn start() -> Result<Self> {
        let (server, folder) = (Postgres::start().await?, tempfile::tempdir()?);
        let file = folder.path().join("seal.key");
        let one = Registry::postgres(&server.url(), SealKey::create(&file)?).await?;
        let two = Registry::postgres(&server.url(), SealKey::load(&file)?).await?;
        Ok(Self {
            server,
            folder,
            one,
            two,
        })
    }

    async fn front(registry: &Registry, poll: Duration) -> Result<Front> {
        let limits = Limits {
            revocation_poll: poll,
            ..Limits::default()
        };
        let builder = Front::builder().registry(registry.clone()).limits(limits);
        Ok(builder
            .backend(Backend::rumqttd(RumqttdConfig::default()))
            .build()
            .await?)
    }

    /// Enrols through the first, for use at both.
    async fn device(&self, id: &str) -> Result<Config> {
        let pins = Pins::from_text(&self.one.broker_lines().await?.concat())?;
        let psk = self.one.enroll_psk(id).await?;
        Ok(Config::new(pins, ClientCredential::from_text(&psk)?))
    }
}

async fn connect(front: &Front, id: &str, config: &Config) -> Result<Client> {
    Client::connect(id, &front.local_addr().to_string(), config.clone(), |_| {}).await
}

/// Waits for the DISCONNECT of a revoked device.
async fn ended(session: &mut Client) -> Result<()> {
    told(session, "NotAuthorized").await
}

/// Waits for a DISCONNECT with this reason.
async fn told(session: &mut Client, reason: &str) -> Result<()> {
    let error = session.until(|_| false).await.expect_err("nothing satisfies it");
    ensure!(error.to_string().contains(reason), "{error}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_see_one_realm() -> Result<()> {
    let pair = Pair::start().await?;
    let line = pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    assert_eq!(pair.two.broker_lines().await?, [line]);
    assert!(
        pair.two
            .generate_broker_key(KemId::MlKem768, Group::X25519)
            .await
            .is_err()
    );

    let (credential, client_ids) = (
        Credential::Psk([7; 32].into()),
        ["valve".to_owned(), "a%_\\".to_owned()],
    );
    let own = TopicRules {
        publish: Some(vec!["sensors/{id}/#".to_owned(), "\u{e9} 'x".to_owned()]),
        subscribe: None,
    };
    let new = |id| Enrolment {
        id,
        credential: &credential,
        client_ids: &client_ids,
        lowest_suite: Some(0x0222),
        topics: Some(&own),
        now: 1_700_000_000,
    };
    pair.one.enroll(new("s1")).await?;
    let device = pair.two.device("s1").await?.context("enrolled")?;
    assert!(matches!(&device.credential, Credential::Psk(psk) if **psk == [7; 32]));
    assert_eq!(device.client_ids, client_ids);
    assert_eq!((&device.topics, device.rules), (&own, 0));
    assert_eq!(
        (device.lowest_suite, device.generation, device.last_seen),
        (Some(0x0222), 1, None)
    );
    assert!(matches!(pair.two.enroll(new("s1")).await, Err(RegistryError::DuplicateId(id)) if id == "s1"));
    assert!(matches!(pair.two.enroll(new("s2")).await, Err(RegistryError::SharedCredential(id)) if id == "s1"));
    for (id, reserved) in [
        ("s1", true),
        ("valve", true),
        ("a%_\\", true),
        ("val", false),
        ("aXX\\", false),
    ] {
        assert_eq!(pair.two.is_reserved_client_id(id).await?, reserved, "{id}");
    }

    pair.one
        .seen(&HashMap::from([("s1".to_owned(), 1_700_000_001)]))
        .await?;
    assert_eq!(pair.two.overview(10).await?[0].last_seen, Some(1_700_000_001));
    let changed = TopicRules {
        publish: None,
        subscribe: Some(Vec::new()),
    };
    for (rules, count) in [(changed, 1), (TopicRules::default(), 2), (own, 3)] {
        pair.two.set_topics("s1", &rules).await?;
        let device = pair.one.device("s1").await?.context("enrolled")?;
        assert_eq!((&device.topics, device.rules), (&rules, count));
        assert_eq!(pair.one.overview(10).await?[0].topics, rules);
    }
    pair.two.revoke("s1").await?;
    assert_eq!(pair.one.revoked().await?, ["s1"]);
    assert!(matches!(
        pair.one.revoke("s9").await,
        Err(RegistryError::UnknownDevice(_))
    ));
    assert_eq!(*pair.one.decoy_secret().await?, *pair.two.decoy_secret().await?);

    let stranger = Registry::postgres(&pair.server.url(), SealKey::generate()?).await;
    assert!(matches!(stranger, Err(RegistryError::Seal(SealError::Sealed))));
    drop(pair.folder);
    Ok(())
}

/// Gateways that need a new ticket key at the same moment agree on one, and keep the one before.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_agree_on_ticket_keys() -> Result<()> {
    let pair = Pair::start().await?;
    let mut before = None;
    for day in [0, 25 * 3600, 50 * 3600] {
        let now = 1_700_000_000 + day;
        let asked: Vec<_> = (0..8)
            .map(|i| {
                let registry = if i % 2 == 0 { pair.one.clone() } else { pair.two.clone() };
                tokio::spawn(async move { registry.ticket_keys(now).await })
            })
            .collect();
        let mut keys = Vec::new();
        for asked in asked {
            let (current, previous) = asked.await??;
            keys.push((*current.expose(), previous.map(|key| *key.expose())));
        }
        assert!(keys.iter().all(|key| *key == keys[0]), "day {day}");
        assert_eq!(keys[0].1, before, "day {day}");
        before = Some(keys[0].0);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_closes_sessions_on_every_gateway_without_a_poll() -> Result<()> {
    let pair = Pair::start().await?;
    pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let never = Duration::from_secs(3600);
    let fronts = [
        Pair::front(&pair.one, never).await?,
        Pair::front(&pair.two, never).await?,
    ];
    let (bad, good) = (pair.device("bad").await?, pair.device("good").await?);
    let mut sessions = Vec::new();
    for front in &fronts {
        sessions.push((connect(front, "bad", &bad).await?, connect(front, "good", &good).await?));
    }
    pair.two.revoke("bad").await?;
    let deadline = Instant::now() + Duration::from_secs(10);
    for (front, (bad_session, good_session)) in fronts.iter().zip(&mut sessions) {
        tokio::time::timeout_at(deadline, ended(bad_session))
            .await
            .context("still open")??;
        good_session.run_for(Duration::from_millis(100)).await?;
        // The client may know before it is counted.
        while front.metrics().closed("revoked") != 1 || front.metrics().sessions.get() != 1 {
            ensure!(Instant::now() < deadline, "{}", front.metrics().encode());
            sleep(Duration::from_millis(20)).await;
        }
        assert!(connect(front, "bad", &bad).await.is_err());
    }
    Ok(())
}

/// Told by one gateway, counted at the other at once.
#[tokio::test(flavor = "multi_thread")]
async fn new_topic_rules_end_sessions_on_another_gateway_without_a_poll() -> Result<()> {
    let pair = Pair::start().await?;
    pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let front = Pair::front(&pair.one, Duration::from_secs(3600)).await?;
    let (bound, free) = (pair.device("bound").await?, pair.device("free").await?);
    let mut session = connect(&front, "bound", &bound).await?;
    let mut other = connect(&front, "free", &free).await?;
    let own = TopicRules {
        publish: Some(vec!["sensors/{id}".to_owned()]),
        subscribe: None,
    };
    pair.two.set_topics("bound", &own).await?;
    timeout(Duration::from_secs(10), told(&mut session, "AdministrativeAction"))
        .await
        .context("still open")??;
    other.run_for(Duration::from_millis(100)).await?;
    let mut session = connect(&front, "bound", &bound).await?;
    for topic in ["sensors/bound", "sensors/free"] {
        session.handle.publish(topic, QoS::AtLeastOnce, false, "x").await?;
        if topic == "sensors/bound" {
            session.until(|event| matches!(event, Incoming::PubAck(_))).await?;
        }
    }
    ended(&mut session).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_of_one_gateway_resumes_at_the_other() -> Result<()> {
    let pair = Pair::start().await?;
    pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let poll = Limits::default().revocation_poll;
    let fronts = [Pair::front(&pair.one, poll).await?, Pair::front(&pair.two, poll).await?];
    let config = pair.device("s1").await?;
    drop(Client::with_ticket("s1", &fronts[0].local_addr().to_string(), config.clone()).await?);
    let _second = connect(&fronts[1], "s1", &config).await?;
    // The client knows before it is counted.
    let end = Instant::now() + Duration::from_secs(10);
    while !fronts[1].metrics().encode().contains("mode=\"4\"} 1") {
        ensure!(Instant::now() < end, "{}", fronts[1].metrics().encode());
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Gateways tell each other of changes, and not of having looked for some.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_without_news_leave_each_other_alone() -> Result<()> {
    let pair = Pair::start().await?;
    pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let poll = Duration::from_millis(100);
    let _fronts = [Pair::front(&pair.one, poll).await?, Pair::front(&pair.two, poll).await?];
    let mut changes = pair.one.changes();
    changes.next().await;
    // What they told when they started ends within a few of these; an echo does not.
    let mut heard = 0;
    while timeout(Duration::from_secs(2), changes.next()).await.is_ok() {
        heard += 1;
        ensure!(heard < 20, "an echo");
    }
    pair.two.ticket_keys(4_000_000_000).await?;
    timeout(Duration::from_secs(10), changes.next())
        .await
        .context("a new key is news")?;
    Ok(())
}

/// While the server is away sessions go on and new ones are told; when it is back, so are revocations.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_outlive_the_server() -> Result<()> {
    let mut pair = Pair::start().await?;
    pair.one.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    let front = Pair::front(&pair.one, Duration::from_secs(2)).await?;
    let config = pair.device("s1").await?;
    let mut session = connect(&front, "s1", &config).await?;

    pair.server.kill().await?;
    let refused = connect(&front, "s1", &config.clone().tickets(None)).await;
    assert!(format!("{:?}", refused.err().context("must fail")?).contains("ServerUnavailable"));
    assert_eq!(front.metrics().registry_up.get(), 0);
    assert!(front.metrics().registry_failures("device") >= 1);
    session.run_for(Duration::from_millis(200)).await?;

    pair.server.restart().await?;
    let again = async {
        while connect(&front, "s1", &config.clone().tickets(None)).await.is_err() {
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(20), again).await.context("not back")?;
    let (mut session, _) = (connect(&front, "s1", &config).await?, session);
    pair.two.revoke("s1").await?;
    timeout(Duration::from_secs(10), ended(&mut session))
        .await
        .context("still open")??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_take_a_database() -> Result<()> {
    let server = Postgres::start().await?;
    let office = Office::open(Some(server.url())).await?;
    office.run(&["init", "--key", "mlkem512/x25519"]).await?;
    office.device("pump-1").await?;
    assert!(office.run(&["list"]).await?.contains("pump-1"));
    let shown = office
        .run(&["topics", "pump-1", "--allow-publish", "sensors/{id}/#"])
        .await?;
    assert!(shown.contains("sensors/{id}/#"), "{shown}");
    assert!(office.run(&["list"]).await?.contains("publish=sensors/{id}/#"));
    office.run(&["revoke", "pump-1"]).await?;
    assert!(office.run(&["list"]).await?.contains("revoked"));

    let rotate = ["rotate-key", "--key", "mlkem512/x25519"];
    let before = office.run(&["rotate-key", "--list"]).await?;
    let announced = successor(&before).context("announced by init")?;
    let out = office.run(&rotate).await?;
    assert!(out.contains(&format!("current {announced}")), "{out}");
    let after = office.run(&["rotate-key", "--list"]).await?;
    assert_eq!(
        (after.matches("current ").count(), after.matches("retiring ").count()),
        (2, 1)
    );
    assert_ne!(successor(&after), Some(announced), "the new key has its own");
    office.run(&["rotate-key", "--retire"]).await?;
    assert!(!office.run(&["rotate-key", "--list"]).await?.contains("retiring"));

    let stranger = Office::open(Some(server.url())).await;
    let error = format!("{:#}", stranger.err().context("another key file must not open it")?);
    assert!(error.contains("wrong key file"), "{error}");
    Ok(())
}

/// The announced successor of the current ML-KEM-512 key, from `rotate-key --list`.
fn successor(list: &str) -> Option<&str> {
    let mut keys = list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    keys.find(|words| words[..2] == ["current", "mlkem512/x25519"])?
        .last()
        .copied()
}
