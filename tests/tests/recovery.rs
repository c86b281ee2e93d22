//! Whatever gets lost, client and broker find together again, and nobody has to look after them.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use hybrid_handshake::{
    message::m2_len,
    suite::{Group, KemId, Mode},
};
use kemqtt_broker::{Backend, Front, FrontBuilder, Registry, backend::RumqttdConfig, metrics::Handshake};
use kemqtt_client::{Config, Credential, Pins, SecureStream, Step, SuiteId, Tickets, Timeouts, WireEvent};
use kemqtt_tests::{Client, Direction, Log, Lost, Realm, Relay};
use rumqttc::v5::{Incoming, mqttbytes::QoS};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

fn rumqttd() -> Backend {
    Backend::rumqttd(RumqttdConfig::default())
}

/// Longer than any step takes, shorter than a person's patience.
const STEP: Duration = Duration::from_secs(1);

/// For an answer that has to come; the machines that run these tests are small and busy.
const PATIENCE: Duration = Duration::from_secs(10);

fn impatient(config: Config) -> Config {
    let (dial, step) = (STEP, STEP);
    config.timeouts(Timeouts { dial, step })
}

fn handshakes(front: &Front, suite: SuiteId, mode: Mode) -> u64 {
    let (suite, mode) = (suite.to_string(), mode.code().into());
    front
        .metrics()
        .handshakes
        .get_or_create(&Handshake { suite, mode })
        .get()
}

/// Connects as often as it takes; every error is followed by another attempt, as in any rumqttc program.
async fn connect(id: &str, relay: &Relay, config: &Config) -> Result<Client> {
    let mut last = None;
    for _ in 0..6 {
        match Client::connect(id, &relay.address(), config.clone(), |_| {}).await {
            Ok(client) => return Ok(client),
            Err(error) => last = Some(error),
        }
    }
    Err(last.context("no attempt")?)
}

/// Publishes until one message is acknowledged.
async fn publish(mut client: Client, id: &str, relay: &Relay, config: &Config) -> Result<()> {
    for _ in 0..6 {
        let message = id.to_owned();
        client.handle.publish("alive", QoS::AtLeastOnce, false, message).await?;
        let acknowledged = client.until(|event| matches!(event, Incoming::PubAck(_)));
        if let Ok(Ok(())) = timeout(STEP * 3, acknowledged).await {
            client.handle.disconnect().await?;
            client.end().await;
            return Ok(());
        }
        client = connect(id, relay, config).await?;
    }
    anyhow::bail!("{id}: nothing was acknowledged")
}

/// Every message of every flight in every mode, and the first records of the session.
#[tokio::test(flavor = "multi_thread")]
async fn every_message_may_be_lost_once() -> Result<()> {
    let realm = Realm::start(rumqttd()).await?;
    let in_mode = async |mode| lose_each(&realm, mode).await.with_context(|| format!("{mode:?}"));
    tokio::try_join!(
        in_mode(Mode::Kem),
        in_mode(Mode::Psk),
        in_mode(Mode::Anonymous),
        in_mode(Mode::Resume)
    )?;
    assert!(handshakes(&realm.front, SuiteId::HOST_DEFAULT, Mode::Resume) >= 6);
    Ok(())
}

async fn lose_each(realm: &Realm, mode: Mode) -> Result<()> {
    use Direction::{ToBroker, ToClient};
    let relay = Relay::start(realm.front.local_addr()).await?;
    let flights = [
        ("M1", ToBroker, 0),
        ("M2", ToClient, 0),
        ("M3", ToBroker, 1),
        ("M4", ToClient, 1),
        ("TICKET", ToClient, 2),
        ("PUBLISH", ToBroker, 2),
    ];
    for (name, direction, number) in flights {
        let id = format!("{mode:?}-{name}");
        let config = match mode {
            Mode::Kem => realm.device_with_key(&id, SuiteId::HOST_DEFAULT).await?,
            Mode::Psk | Mode::Resume => realm.device(&id).await?,
            Mode::Anonymous => realm.anonymous(),
        };
        let tickets = (mode == Mode::Resume || name == "TICKET").then(Tickets::in_memory);
        let config = impatient(config).tickets(tickets);
        if mode == Mode::Resume {
            publish(connect(&id, &relay, &config).await?, &id, &relay, &config).await?;
        }
        relay.lose(Lost::Message(direction, number));
        let client = connect(&id, &relay, &config).await.context(name)?;
        publish(client, &id, &relay, &config).await.context(name)?;
        assert!(relay.has_lost(), "{id}: nothing was lost");
    }
    Ok(())
}

/// A small device asks for M2 piece by piece.
#[tokio::test(flavor = "multi_thread")]
async fn every_piece_of_m2_may_be_lost_once() -> Result<()> {
    let realm = Realm::start_with(rumqttd(), KemId::MlKem512, Group::X25519, false).await?;
    let relay = Relay::start(realm.front.local_addr()).await?;
    let pieces = m2_len(SuiteId::SENSOR_DEFAULT, Mode::Psk).div_ceil(238);
    assert_eq!(pieces, 4);
    for number in 0..pieces {
        for direction in [Direction::ToClient, Direction::ToBroker] {
            let id = format!("{direction:?}-{number}");
            let config = realm.device(&id).await?.suite(SuiteId::SENSOR_DEFAULT).limits(64, 256);
            let config = impatient(config).tickets(None);
            // Towards the broker, behind M1: the requests for the next piece, then M3.
            let shift = usize::from(direction == Direction::ToBroker);
            relay.lose(Lost::Message(direction, number + shift));
            let client = connect(&id, &relay, &config).await?;
            publish(client, &id, &relay, &config).await?;
            assert!(relay.has_lost(), "{id}");
        }
    }
    Ok(())
}

/// 0x19, 0x18, 0x18, 0x00 and the record that shows the new key.
#[tokio::test(flavor = "multi_thread")]
async fn every_message_of_a_re_authentication_may_be_lost_once() -> Result<()> {
    use Direction::{ToBroker, ToClient};
    let realm = Realm::start(rumqttd()).await?;
    let relay = Relay::start(realm.front.local_addr()).await?;
    let flights = [
        (ToBroker, 0),
        (ToClient, 0),
        (ToBroker, 1),
        (ToClient, 1),
        (ToBroker, 2),
    ];
    for (number, (direction, control)) in flights.into_iter().enumerate() {
        let id = format!("device-{number}");
        // Without tickets, the first control record of a session is one of these.
        let config = impatient(realm.device(&id).await?).tickets(None);
        let mut client = connect(&id, &relay, &config).await?;
        relay.lose(Lost::Control(direction, control));
        assert!(client.reauthenticate());
        // As long as it takes to notice, or not: the next message finds out.
        let _ = client.run_for(Duration::from_millis(300)).await;
        publish(client, &id, &relay, &config).await?;
        assert!(relay.has_lost(), "{direction:?} {control}");
    }
    Ok(())
}

/// A gateway of `registry`.
async fn gateway(registry: &Registry, set: impl FnOnce(FrontBuilder) -> FrontBuilder) -> Result<Front> {
    let builder = Front::builder().backend(rumqttd()).registry(registry.clone());
    Ok(set(builder).build().await?)
}

async fn registry() -> Result<(Registry, String)> {
    let registry = Registry::in_memory().await?;
    let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
    Ok((registry, pin))
}

/// One attempt to connect: the code of the inner CONNACK, or the refusal.
async fn attempt(front: &Front, config: &Config, id: &str) -> Result<u8, kemqtt_client::Error> {
    let mut connect = b"\x10\x00\x00\x04MQTT\x05\x02\x00\x3c\x00\x00".to_vec();
    connect.push(id.len() as u8);
    connect.extend_from_slice(id.as_bytes());
    connect[1] = connect.len() as u8 - 2;
    let tcp = TcpStream::connect(front.local_addr()).await.expect("listens");
    let (mut stream, connack) = SecureStream::connect(config, tcp, &connect).await?;
    // The ticket is behind the CONNACK, and in front of the answer to this.
    let answered = async {
        stream.write_all(b"\xc0\x00").await?;
        stream.flush().await?;
        stream.read_exact(&mut [0; 2]).await
    };
    let _ = timeout(PATIENCE, answered).await;
    Ok(connack[3])
}

fn resumptions(log: &Log<WireEvent>) -> Vec<bool> {
    let events = log.events().into_iter();
    events
        .filter_map(|event| match event {
            WireEvent::Established { resumed, .. } => Some(resumed),
            _ => None,
        })
        .collect()
}

fn device(pin: &str, psk: &str) -> Result<(Config, Arc<Log<WireEvent>>)> {
    let log = Log::new();
    let config = Config::new(Pins::from_text(pin)?, Credential::from_text(psk)?);
    Ok((config.observer(log.clone()), log))
}

/// Two lines of the ticket file, as `T` rotates away.
fn ticket_file(keys: &[u8]) -> Result<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new()?;
    let lines: Vec<String> = keys.iter().map(|key| format!("{key:02x}").repeat(32)).collect();
    std::fs::write(file.path(), lines.join("\n"))?;
    Ok(file)
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_ticket_key_the_third_attempt_is_a_full_handshake() -> Result<()> {
    let (registry, pin) = registry().await?;
    let (config, log) = device(&pin, &registry.enroll_psk("s1").await?)?;
    let (one, next, other) = (ticket_file(&[1])?, ticket_file(&[2, 1])?, ticket_file(&[3, 2])?);
    let front = gateway(&registry, |b| b.ticket_file(one.path())).await?;
    assert_eq!(attempt(&front, &config, "s1").await?, 0);
    front.shutdown().await;

    // Rotated once: the key before it still opens.
    let front = gateway(&registry, |b| b.ticket_file(next.path())).await?;
    assert_eq!(attempt(&front, &config, "s1").await?, 0);
    front.shutdown().await;
    assert_eq!(resumptions(&log), [false, true]);

    // That session's ticket is sealed under key 2, and key 2 opens here, but nothing opens there.
    for (keys, expected) in [(&other, true), (&one, false)] {
        let front = gateway(&registry, |b| b.ticket_file(keys.path())).await?;
        if !expected {
            for _ in 0..2 {
                let refused = attempt(&front, &config, "s1").await.expect_err("the ticket is dead");
                assert!(
                    matches!(refused, kemqtt_client::Error::Refused { code } if code as u8 == 0x87),
                    "{refused}"
                );
            }
        }
        assert_eq!(attempt(&front, &config, "s1").await?, 0, "the first or the third");
        assert_eq!(resumptions(&log).last(), Some(&expected));
        // And with the new ticket all is as before.
        assert_eq!(attempt(&front, &config, "s1").await?, 0);
        assert_eq!(resumptions(&log).last(), Some(&true));
        front.shutdown().await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_that_share_the_ticket_key_resume_each_others_sessions() -> Result<()> {
    let (registry, pin) = registry().await?;
    let (config, log) = device(&pin, &registry.enroll_psk("s1").await?)?;
    let (one, two) = (gateway(&registry, |b| b).await?, gateway(&registry, |b| b).await?);
    for front in [&one, &two, &one, &two] {
        assert_eq!(attempt(front, &config, "s1").await?, 0);
    }
    assert_eq!(resumptions(&log), [false, true, true, true]);

    // The refusal is inside: who is not the device does not learn that it was revoked.
    registry.revoke("s1").await?;
    assert_eq!(attempt(&one, &config, "s1").await?, 0x87);
    assert_eq!(resumptions(&log).len(), 5);
    // The ticket is gone with it; the credential is no better.
    assert_eq!(attempt(&two, &config, "s1").await?, 0x87);
    assert_eq!(resumptions(&log).last(), Some(&false));
    Ok(())
}

/// A new credential makes a new generation; tickets of the old one end with it, whoever holds them.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_enrolled_again_cannot_go_on_with_its_ticket() -> Result<()> {
    let (registry, pin) = registry().await?;
    let (old, log) = device(&pin, &registry.enroll_psk("s1").await?)?;
    let front = gateway(&registry, |b| b).await?;
    assert_eq!(attempt(&front, &old, "s1").await?, 0);
    registry.revoke("s1").await?;
    let (new, _) = device(&pin, &registry.enroll_psk("s1").await?)?;
    assert_eq!(
        attempt(&front, &old, "s1").await?,
        0x87,
        "by the ticket: refused inside"
    );
    assert_eq!(resumptions(&log), [false, true]);
    let refused = attempt(&front, &old, "s1")
        .await
        .expect_err("by the old credential: not even inside");
    // A broker without its secret cannot make a box2 that opens for it.
    assert!(matches!(refused, kemqtt_client::Error::Unproven(Step::M2)), "{refused}");
    assert_eq!(attempt(&front, &new, "s1").await?, 0);
    Ok(())
}

/// Same `T`, another broker key: the ticket is bound to the one it was given under.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_of_one_realm_does_not_open_in_another() -> Result<()> {
    let shared = ticket_file(&[7])?;
    let (here, pin) = registry().await?;
    let (there, other_pin) = registry().await?;
    // The same name with the same secret in both realms, so that the ticket is all that differs.
    let psk = here.enroll_psk("s1").await?;
    let bytes = match Credential::from_text(&psk)? {
        Credential::Psk { psk, .. } => *psk.expose(),
        _ => unreachable!("a pre-shared key"),
    };
    let credential = kemqtt_broker::registry::Credential::Psk(bytes.into());
    let new = kemqtt_broker::registry::Enrolment {
        id: "s1",
        credential: &credential,
        client_ids: &[],
        lowest_suite: None,
        topics: None,
        now: 0,
    };
    there.enroll(new).await?;
    let (first, second) = (
        gateway(&here, |b| b.ticket_file(shared.path())).await?,
        gateway(&there, |b| b.ticket_file(shared.path())).await?,
    );
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("session.ticket");
    let log = Log::new();
    let in_realm = |pin: &str, tickets: Tickets| -> Result<Config> {
        let config = Config::new(Pins::from_text(pin)?, Credential::from_text(&psk)?);
        Ok(config.tickets(Some(tickets)).observer(log.clone()))
    };
    assert_eq!(
        attempt(&first, &in_realm(&pin, Tickets::in_file(&path))?, "s1").await?,
        0
    );
    // A client does not even try.
    let text = std::fs::read_to_string(&path)?;
    assert_eq!(
        attempt(&second, &in_realm(&other_pin, Tickets::in_file(&path))?, "s1").await?,
        0
    );
    assert_eq!(resumptions(&log), [false, false]);
    // One that relabels its ticket is refused: the kid is in the associated data, and h0 in the transcript.
    let fingerprint = |pin: &str| Pins::from_text(pin).map(|pins| pins.fingerprint().to_string());
    let relabelled = text.replace(&fingerprint(&pin)?, &fingerprint(&other_pin)?);
    assert_ne!(relabelled, text);
    std::fs::remove_file(&path).ok();
    write_private(&path, &relabelled)?;
    let refused = attempt(&second, &in_realm(&other_pin, Tickets::in_file(&path))?, "s1").await;
    let refused = refused.expect_err("a ticket of another realm");
    assert!(
        matches!(refused, kemqtt_client::Error::Refused { code } if code as u8 == 0x87),
        "{refused}"
    );
    // The same ticket at home.
    write_private(&path, &text)?;
    assert_eq!(
        attempt(&first, &in_realm(&pin, Tickets::in_file(&path))?, "s1").await?,
        0
    );
    assert_eq!(resumptions(&log), [false, false, true]);
    Ok(())
}

fn write_private(path: &std::path::Path, text: &str) -> Result<()> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}
