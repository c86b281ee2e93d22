//! Session tickets: resumption, where they are kept, and the ways out when one leads nowhere. News of broker keys.

mod peer;

use std::sync::Arc;

use hybrid_handshake::control::Kind;
use hybrid_handshake::identity::BrokerKey;
use hybrid_handshake::suite::{Group, KemId};
use kemqtt_client::responder::Realm;
use kemqtt_client::{Config, Credential, DeviceId, Error, Pins, SecureStream, Tickets};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use peer::{CONNACK_5, CONNECT_5, Setup};

#[tokio::test]
async fn the_second_session_is_resumed_and_its_ticket_makes_a_third() {
    let setup = with_tickets();
    let config = setup.config();
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    assert_eq!(session(&setup.realm, &config).await, Ok(true));
    assert_eq!(session(&setup.realm, &config).await, Ok(true));
}

#[tokio::test]
async fn sixteen_resumptions_then_a_full_handshake() {
    let setup = with_tickets();
    let config = setup.config();
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    for i in 1..=16 {
        assert_eq!(session(&setup.realm, &config).await, Ok(true), "resumption {i}");
    }
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    assert_eq!(session(&setup.realm, &config).await, Ok(true));
}

#[tokio::test]
async fn no_tickets_unless_both_sides_want_them() {
    let setup = with_tickets();
    let config = setup.config().tickets(None);
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    let setup = Setup::new();
    let config = setup.config();
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
}

#[tokio::test]
async fn a_ticket_serves_its_own_suite_device_and_broker_only() {
    let mut setup = with_tickets();
    let tickets = Tickets::in_memory();
    let config = setup.config().tickets(Some(tickets.clone()));
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    let other_suite = config.clone().suite(peer::suite("x25519-mlkem512-ascon"));
    assert_eq!(session(&setup.realm, &other_suite).await, Ok(false));

    let other = Credential::generate_psk(DeviceId::new("sensor-8").expect("id")).expect("psk");
    Arc::get_mut(&mut setup.realm).expect("alone").enroll(&other);
    let other = Config::new(setup.pins(), other).tickets(Some(tickets.clone()));
    assert_eq!(session(&setup.realm, &other).await, Ok(false));

    let elsewhere = with_tickets();
    let config = elsewhere.config().tickets(Some(tickets));
    assert_eq!(session(&elsewhere.realm, &config).await, Ok(false));
}

#[tokio::test]
async fn after_two_failed_attempts_a_full_handshake_finds_the_way_out() {
    let mut setup = with_tickets();
    let config = setup.config();
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    // Another ticket key: what the client holds does not open any more.
    Arc::get_mut(&mut setup.realm)
        .expect("alone")
        .give_tickets()
        .expect("key");
    assert_eq!(session(&setup.realm, &config).await, Err(()));
    assert_eq!(session(&setup.realm, &config).await, Err(()));
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    assert_eq!(session(&setup.realm, &config).await, Ok(true));
}

#[tokio::test]
async fn a_refusal_inside_a_resumed_session_drops_the_ticket() {
    let setup = with_tickets();
    let config = setup.config();
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
    let (near, far) = duplex(65_536);
    let realm = setup.realm.clone();
    let broker = tokio::spawn(async move {
        let accepted = realm.accept(far).await.expect("handshake");
        let resumed = accepted.is_resumed();
        let _ = accepted.answer(b"\x20\x03\x00\x87\x00").await;
        resumed
    });
    let (_, connack) = SecureStream::connect(&config, near, CONNECT_5).await.expect("M4 opens");
    assert_eq!(connack, b"\x20\x03\x00\x87\x00");
    assert!(broker.await.expect("broker"));
    assert_eq!(session(&setup.realm, &config).await, Ok(false));
}

#[cfg(unix)]
#[tokio::test]
async fn a_ticket_file_is_private_outlives_the_process_and_is_consumed_by_its_use() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("session.ticket");
    let mut setup = with_tickets();
    // A fresh `Tickets` each time, as in another process.
    let config = |setup: &Setup| setup.config().tickets(Some(Tickets::in_file(&path)));
    assert_eq!(session(&setup.realm, &config(&setup)).await, Ok(false));
    assert_eq!(
        std::fs::metadata(&path).expect("written").permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(session(&setup.realm, &config(&setup)).await, Ok(true));
    Arc::get_mut(&mut setup.realm)
        .expect("alone")
        .give_tickets()
        .expect("key");
    assert_eq!(session(&setup.realm, &config(&setup)).await, Err(()));
    assert!(!path.exists(), "a ticket that failed is in nobody's way");
    assert_eq!(session(&setup.realm, &config(&setup)).await, Ok(false));
    // Readable by others: as good as none.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("sets the mode");
    assert_eq!(session(&setup.realm, &config(&setup)).await, Ok(false));
}

#[tokio::test]
async fn the_first_successor_counts_and_only_its_key_replaces_the_pin() {
    let next = Realm::generate(KemId::MlKem512, Group::X25519).expect("key");
    let stranger = Realm::generate(KemId::MlKem768, Group::X25519).expect("key");
    let (next_pins, stranger_pins) = (pins(&next), pins(&stranger));
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("broker.pin");

    let mut setup = Setup::new();
    std::fs::write(&path, setup.realm.pin()).expect("writes");
    let shared = Pins::load(&path).expect("loads");
    let config = Config::new(shared.clone(), setup.device.clone());
    let realm = Arc::get_mut(&mut setup.realm).expect("alone");
    realm.say(Kind::Successor, next_pins.fingerprint().as_bytes());
    realm.say(Kind::Successor, stranger_pins.fingerprint().as_bytes());
    realm.say(Kind::NextKey, &encoded(&stranger));
    session(&setup.realm, &config).await.expect("session");
    assert_eq!(shared.successor(), Some(next_pins.fingerprint()), "the first one");
    let reloaded = Pins::load(&path).expect("loads");
    assert_eq!(
        (reloaded.fingerprint(), reloaded.successor()),
        (shared.fingerprint(), shared.successor())
    );

    Arc::get_mut(&mut setup.realm)
        .expect("alone")
        .say(Kind::NextKey, &encoded(&next));
    session(&setup.realm, &config).await.expect("session");
    assert_eq!(
        std::fs::read_to_string(&path).expect("reads").lines().count(),
        2,
        "both keys while the new one is unproven"
    );

    // The broker has only the new key now. The client tries new and old in turn, and forgets the old after the first success.
    let mut next = next;
    next.enroll(&setup.device);
    let next = Arc::new(next);
    session(&next, &config).await.expect("the new key first");
    assert_eq!(shared.fingerprint(), next_pins.fingerprint());
    assert_eq!(session(&setup.realm, &config).await, Err(()), "the old key is gone");
    assert_eq!(Pins::load(&path).expect("loads").fingerprint(), next_pins.fingerprint());
}

#[tokio::test]
async fn during_a_rotation_the_old_key_gets_its_turn() {
    let next = Realm::generate(KemId::MlKem768, Group::X25519).expect("key");
    let setup = Setup::new();
    let text = format!("{} {}\n{}\n", setup.realm.pin(), pins(&next).fingerprint(), next.pin());
    let config = Config::new(Pins::from_text(&text).expect("pins"), setup.device.clone());
    assert_eq!(
        session(&setup.realm, &config).await,
        Err(()),
        "the new one, which this broker does not have yet"
    );
    assert_eq!(session(&setup.realm, &config).await, Ok(false), "the old one");
}

#[tokio::test]
async fn a_control_message_that_nobody_agreed_on_closes_the_connection() {
    let mut setup = Setup::new();
    Arc::get_mut(&mut setup.realm)
        .expect("alone")
        .say(Kind::NextKey, b"not a key");
    assert_eq!(
        session(&setup.realm, &setup.config()).await,
        Ok(false),
        "malformed news is ignored"
    );
    let realm = Arc::get_mut(&mut setup.realm).expect("alone");
    for _ in 0..16 {
        realm.say(Kind::Successor, &[7; 32]);
    }
    let (near, far) = duplex(65_536);
    let realm = setup.realm.clone();
    tokio::spawn(async move { peer::echo(&realm, far, CONNACK_5).await });
    let (mut stream, _) = SecureStream::connect(&setup.config(), near, CONNECT_5)
        .await
        .expect("handshake");
    let error = stream
        .read(&mut [0])
        .await
        .expect_err("17 messages in a minute")
        .downcast::<Error>()
        .expect("typed");
    assert!(
        matches!(
            error,
            Error::Protocol {
                source: hybrid_handshake::Error::TooOften,
                ..
            }
        ),
        "{error}"
    );
}

/// One session with a byte in each direction, so that everything the broker says at its start is heard. Gives whether it
/// was resumed.
async fn session(realm: &Arc<Realm>, config: &Config) -> Result<bool, ()> {
    let (near, far) = duplex(65_536);
    let realm = realm.clone();
    let broker = tokio::spawn(async move {
        let accepted = realm.accept(far).await.ok()?;
        let resumed = accepted.is_resumed();
        let mut stream = accepted.answer(CONNACK_5).await.ok()?;
        let byte = stream.read_u8().await.ok()?;
        stream.write_u8(byte).await.ok()?;
        stream.flush().await.ok()?;
        Some(resumed)
    });
    let connected = SecureStream::connect(config, near, CONNECT_5).await;
    if let Ok((stream, _)) = connected {
        peer::round_trip(stream, b"x").await;
    }
    broker.await.expect("broker").ok_or(())
}

fn with_tickets() -> Setup {
    let mut setup = Setup::new();
    Arc::get_mut(&mut setup.realm)
        .expect("alone")
        .give_tickets()
        .expect("key");
    setup
}

fn pins(realm: &Realm) -> Pins {
    Pins::from_text(realm.pin()).expect("pin")
}

/// `kem | group | pk_B | gx_B` of a realm.
fn encoded(realm: &Realm) -> Vec<u8> {
    use base64::Engine;
    let key = realm.pin().split(' ').nth(1).expect("key");
    let bytes = base64::engine::general_purpose::STANDARD.decode(key).expect("base64");
    assert!(BrokerKey::parse(&bytes).is_ok());
    bytes
}
