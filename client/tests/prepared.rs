//! The first message of a handshake: made beforehand, sent again unchanged, burnt when it was answered.
#![cfg(feature = "responder")]

mod peer;

use std::time::Duration;

use kemqtt_client::{Config, Error, SecureStream, Tickets};
use peer::{CONNACK_5, CONNECT_5, Setup};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

/// What a broker gets that takes the first packet and closes.
async fn first_packet(config: &Config) -> Vec<u8> {
    let (near, mut far) = duplex(64 * 1024);
    let far = tokio::spawn(async move {
        let mut header = [0; 3];
        far.read_exact(&mut header).await.expect("a header");
        let len = usize::from(header[1] & 0x7f) | usize::from(header[2]) << 7;
        let mut packet = header.to_vec();
        packet.resize(3 + len, 0);
        far.read_exact(&mut packet[3..]).await.expect("a packet");
        packet
    });
    let failed = SecureStream::connect(config, near, CONNECT_5).await;
    assert!(matches!(failed, Err(Error::Closed(_))), "{failed:?}");
    far.await.expect("read")
}

/// A whole session with `setup`'s broker.
async fn session(setup: &Setup, config: &Config) {
    let (near, far) = setup.echo(CONNACK_5);
    let (mut stream, connack) = SecureStream::connect(config, near, CONNECT_5).await.expect("connects");
    assert_eq!(connack, CONNACK_5);
    stream.shutdown().await.expect("closes");
    drop(stream);
    far.await.expect("runs").expect("a session");
}

#[tokio::test]
async fn it_is_sent_again_unchanged_until_a_broker_has_answered() {
    let setup = Setup::new();
    let config = setup.config().tickets(None);
    let first = first_packet(&config).await;
    assert_eq!(first_packet(&config).await, first);
    assert_eq!(first_packet(&config.clone()).await, first, "clones share it");
    // That very message opens a session, and is burnt by it.
    session(&setup, &config).await;
    let next = first_packet(&config).await;
    assert_ne!(next, first);
    assert_eq!(next.len(), first.len());
}

#[tokio::test]
async fn what_it_is_made_of_may_not_change() {
    let setup = Setup::new();
    let config = setup.config().tickets(None);
    let first = first_packet(&config).await;
    for other in [
        config.clone().limits(1024, 16_384),
        config.clone().tickets(Some(Tickets::in_memory())),
        config.clone().suite(peer::suite("x25519-mlkem768-ascon-p2")),
    ] {
        assert_ne!(first_packet(&other).await[13..], first[13..]);
    }
    assert_ne!(first_packet(&config).await, first, "there is only one");
}

#[tokio::test(start_paused = true)]
async fn after_a_day_it_is_thrown_away() {
    let setup = Setup::new();
    let config = setup.config().tickets(None);
    config.prepare().expect("prepared");
    let first = first_packet(&config).await;
    config.prepare().expect("prepared");
    assert_eq!(first_packet(&config).await, first, "there was one already");
    tokio::time::advance(Duration::from_secs(24 * 60 * 60 - 60)).await;
    assert_eq!(first_packet(&config).await, first);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_ne!(first_packet(&config).await, first);
}

#[tokio::test]
async fn a_prepared_message_opens_a_session_with_a_ticket_too() {
    let mut setup = Setup::new();
    std::sync::Arc::get_mut(&mut setup.realm)
        .expect("not shared yet")
        .give_tickets()
        .expect("a key");
    let config = setup.config();
    for _ in 0..3 {
        config.prepare().expect("prepared");
        let (near, far) = setup.echo(CONNACK_5);
        let (stream, _) = SecureStream::connect(&config, near, CONNECT_5).await.expect("connects");
        // The echo brings the ticket along.
        let mut stream = peer::round_trip(stream, b"hello").await;
        stream.shutdown().await.expect("closes");
        drop(stream);
        far.await.expect("runs").expect("a session");
    }
}
