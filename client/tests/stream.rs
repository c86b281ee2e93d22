//! The secure stream against a broker built from the same state machines.

mod peer;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use kemqtt_client::{Config, ConfigError, Credential, DeviceId, Error, Observer, SecureStream, Step, WireEvent};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use peer::{CONNACK_4, CONNACK_5, CONNECT_4, CONNECT_5, Seen, Setup, payload, round_trip, suite};

#[tokio::test]
async fn both_aeads_profiles_and_modes_carry_connect_connack_and_data() {
    let setup = Setup::new();
    for name in [
        "x25519-mlkem768-chacha20poly1305",
        "x25519-mlkem512-ascon",
        "x25519-mlkem1024-ascon-p2",
        "x25519-ctrulight-ascon",
    ] {
        for (credential, device) in [(setup.device.clone(), setup.device.id()), (Credential::Anonymous, None)] {
            let config = Config::new(setup.pins(), credential).suite(suite(name));
            if config.check() == Err(ConfigError::Mode) {
                assert!(
                    device.is_none() && !name.ends_with("-p2"),
                    "only anonymous clients need P2"
                );
                continue;
            }
            for (connect, connack) in [(CONNECT_5, CONNACK_5), (CONNECT_4, CONNACK_4)] {
                let (wire, broker) = setup.echo(connack);
                let (stream, answer) = SecureStream::connect(&config, wire, connect).await.expect(name);
                assert_eq!(answer, connack);
                assert_eq!(stream.suite().to_string(), name);
                let mut stream = round_trip(stream, &payload(100_000)).await;
                stream.shutdown().await.expect("closes");
                assert_eq!(stream.read(&mut [0]).await.expect("the broker closes too"), 0);
                let seen = broker.await.expect("broker").expect("handshake");
                assert_eq!(
                    seen,
                    Seen {
                        device,
                        connect: connect.to_vec(),
                        echoed: 100_000
                    }
                );
            }
        }
    }
}

#[tokio::test]
async fn a_device_with_a_key_pair_connects_with_every_kind_of_suite() {
    let mut setup = Setup::new();
    for name in [
        "x25519-mlkem768-chacha20poly1305",
        "x25519-ctrulight-ascon",
        "x25519-ntruplus768-ascon-p2",
    ] {
        let id = DeviceId::new(&format!("pump-{}", name.len())).expect("id");
        let device = Credential::generate_key(id, suite(name)).expect("key");
        Arc::get_mut(&mut setup.realm).expect("alone").enroll(&device);
        let config = Config::new(setup.pins(), device.clone()).suite(suite(name));
        let (wire, broker) = setup.echo(CONNACK_5);
        let (mut stream, _) = SecureStream::connect(&config, wire, CONNECT_5).await.expect(name);
        stream.shutdown().await.expect("closes");
        assert_eq!(broker.await.expect("broker").expect("handshake").device, Some(id));

        let other_kem = Config::new(setup.pins(), device).suite(suite("x25519-mlkem512-ascon"));
        assert_eq!(other_kem.check(), Err(ConfigError::DeviceKey));
    }
    // The enrolled name with another key.
    let id = DeviceId::new("pump-22").expect("id");
    let stranger = Credential::generate_key(id, suite("x25519-ctrulight-ascon")).expect("key");
    let config = Config::new(setup.pins(), stranger).suite(suite("x25519-ctrulight-ascon"));
    let (wire, _broker) = setup.echo(CONNACK_5);
    let error = SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect_err("not enrolled");
    assert!(matches!(error, Error::Unproven(Step::M2)), "{error}");
}

#[tokio::test]
async fn five_megabytes_pass_and_the_ratchet_turns_on_small_records() {
    let setup = Setup::new();
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (stream, _) = SecureStream::connect(&setup.config(), wire, CONNECT_5)
        .await
        .expect("handshake");
    round_trip(stream, &payload(5_000_000)).await;

    // 64-byte records: 2^16 of them are 4 MiB, so that the broker's direction replaces its secret once on the way.
    let (wire, _broker) = setup.echo(CONNACK_5);
    let config = setup.config().limits(64, 16_384);
    let (stream, _) = SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect("handshake");
    round_trip(stream, &payload(5_000_000)).await;
}

#[tokio::test]
async fn a_small_packet_limit_gets_m2_in_pieces() {
    let setup = Setup::new();
    let log = Arc::new(Log::default());
    let config = setup.config().limits(256, 256).observer(log.clone());
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (stream, connack) = SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect("handshake");
    assert_eq!(connack, CONNACK_5);
    round_trip(stream, &payload(10_000)).await;
    // M2 of this suite: 30 + 32 + 1184 + 16 bytes, in pieces of 256 - 18.
    assert_eq!(log.count("M2"), 1262_usize.div_ceil(238));
    assert!(log.lengths("M2").all(|len| len <= 256));
}

#[tokio::test]
async fn one_byte_per_segment_in_both_directions_changes_nothing() {
    let setup = Setup::new();
    let (wire, broker) = setup.echo(CONNACK_5);
    let (mut stream, connack) = SecureStream::connect(&setup.config(), Dribble(wire), CONNECT_5)
        .await
        .expect("handshake");
    assert_eq!(connack, CONNACK_5);
    for len in [1, 15, 16, 17, 1000] {
        let data = payload(len);
        stream.write_all(&data).await.expect("writes");
        stream.flush().await.expect("flushes");
        let mut back = vec![0; len];
        stream.read_exact(&mut back).await.expect("reads");
        assert_eq!(back, data);
    }
    drop(stream);
    assert_eq!(
        broker.await.expect("broker").expect("handshake").echoed,
        1 + 15 + 16 + 17 + 1000
    );
}

#[tokio::test]
async fn small_writes_share_a_record_and_leave_when_the_stream_is_read() {
    let setup = Setup::new();
    let log = Arc::new(Log::default());
    let (wire, _broker) = setup.echo(CONNACK_5);
    let config = setup.config().observer(log.clone());
    let (mut stream, _) = SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect("handshake");
    for byte in 0..100 {
        stream.write_all(&[byte]).await.expect("writes");
    }
    assert_eq!(log.count("-> record"), 0, "nothing leaves before flush or read");
    let mut back = [0; 100];
    stream.read_exact(&mut back).await.expect("no flush was needed");
    assert_eq!(back, std::array::from_fn(|i| i as u8));
    assert_eq!(log.lengths("-> record").collect::<Vec<_>>(), [2 + 100 + 16]);
}

#[tokio::test]
async fn a_read_that_is_cancelled_loses_nothing() {
    let setup = Setup::new();
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (mut stream, _) = SecureStream::connect(&setup.config(), Dribble(wire), CONNECT_5)
        .await
        .expect("handshake");
    let data = payload(3000);
    stream.write_all(&data).await.expect("writes");
    stream.flush().await.expect("flushes");
    let (mut back, mut buf) = (Vec::new(), [0; 64]);
    while back.len() < data.len() {
        tokio::select! {
            biased;
            read = stream.read(&mut buf) => back.extend_from_slice(&buf[..read.expect("reads")]),
            () = tokio::task::yield_now() => {}
        }
    }
    assert_eq!(back, data);
}

#[tokio::test]
async fn the_writer_waits_when_the_broker_does_not_read() {
    let setup = Setup::new();
    let (near, far) = tokio::io::duplex(1024);
    let realm = setup.realm.clone();
    let broker = tokio::spawn(async move {
        let accepted = realm.accept(far).await.expect("handshake");
        accepted.answer(CONNACK_5).await.expect("answers") // and never reads
    });
    let (mut stream, _) = SecureStream::connect(&setup.config(), near, CONNECT_5)
        .await
        .expect("handshake");
    let _idle = broker.await.expect("broker");
    let written = tokio::time::timeout(std::time::Duration::from_millis(200), async {
        let mut written = 0;
        loop {
            written += stream.write(&[0; 16_384]).await.expect("writes");
            assert!(written <= 5 * 16_384, "more is buffered than a few records");
        }
    });
    assert!(written.await.is_err());
}

#[tokio::test]
async fn the_wire_log_names_every_packet_and_no_secret() {
    let setup = Setup::new();
    let log = Arc::new(Log::default());
    let (wire, _broker) = setup.echo(CONNACK_5);
    let config = setup.config().observer(log.clone());
    SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect("handshake");
    let lines = log.lines();
    let starts = [
        "-> CONNECT    M1",
        "<- AUTH       M2",
        "-> AUTH       M3",
        "<- CONNACK    M4",
        "established in",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    assert!(
        lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn both_ends_export_the_same_secret() {
    let setup = Setup::new();
    let (near, far) = tokio::io::duplex(65_536);
    let realm = setup.realm.clone();
    let broker = tokio::spawn(async move {
        let accepted = realm.accept(far).await.expect("handshake");
        accepted.answer(CONNACK_5).await.expect("answers")
    });
    let (client, _) = SecureStream::connect(&setup.config(), near, CONNECT_5)
        .await
        .expect("handshake");
    let broker = broker.await.expect("broker");
    assert_eq!(client.export(b"label", b"context"), broker.export(b"label", b"context"));
    assert_ne!(client.export(b"label", b"context"), client.export(b"label", b"other"));
}

#[tokio::test]
async fn a_wrong_psk_an_unknown_id_and_another_pin_fail_without_a_session() {
    let setup = Setup::new();
    let id = |name| DeviceId::new(name).expect("id");
    for credential in [
        Credential::generate_psk(id("sensor-7")).expect("psk"),
        Credential::generate_psk(id("nobody")).expect("psk"),
    ] {
        let (wire, broker) = setup.echo(CONNACK_5);
        let config = Config::new(setup.pins(), credential);
        let error = SecureStream::connect(&config, wire, CONNECT_5)
            .await
            .expect_err("not enrolled");
        assert!(matches!(error, Error::Unproven(Step::M2)), "{error}");
        assert!(broker.await.expect("broker").is_err());
    }
    let (wire, broker) = setup.echo(CONNACK_5);
    let config = Config::new(Setup::new().pins(), setup.device.clone());
    let error = SecureStream::connect(&config, wire, CONNECT_5)
        .await
        .expect_err("another realm");
    assert!(
        matches!(error, Error::Refused { code } if code as u8 == 0x8c),
        "{error}"
    );
    assert!(broker.await.expect("broker").is_err());
}

#[tokio::test]
async fn settings_that_cannot_work_fail_before_a_byte_is_sent() {
    let setup = Setup::new();
    let config = || setup.config();
    for (config, expected) in [
        (
            config().suite(suite("p256-mlkem768-chacha20poly1305")),
            ConfigError::Group,
        ),
        (
            config()
                .suite(suite("x25519-mlkem512-ascon"))
                .floor(suite("x25519-mlkem768-ascon")),
            ConfigError::Floor,
        ),
        (
            config()
                .suite(suite("x25519-ctrulight-ascon"))
                .floor(suite("x25519-mlkem512-ascon")),
            ConfigError::Floor,
        ),
        (config().limits(63, 256), ConfigError::Limits),
        (config().limits(64, 127), ConfigError::Limits),
        (config().limits(16_385, 256), ConfigError::Limits),
        (
            Config::new(setup.pins(), Credential::Anonymous).suite(suite("x25519-mlkem768-ascon")),
            ConfigError::Mode,
        ),
    ] {
        let (near, mut far) = tokio::io::duplex(1024);
        let error = SecureStream::connect(&config, near, CONNECT_5)
            .await
            .expect_err("refused");
        assert!(matches!(error, Error::Config(e) if e == expected), "{error}");
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.expect("reads");
        assert!(sent.is_empty());
    }
}

#[tokio::test]
async fn a_connect_over_the_brokers_limit_is_the_callers_fault() {
    let setup = Setup::new();
    let (wire, _broker) = setup.echo(CONNACK_5);
    let error = SecureStream::connect(&setup.config(), wire, &[0x10; 16_385])
        .await
        .expect_err("too large");
    assert!(
        matches!(error, Error::Config(ConfigError::ConnectTooLarge { limit: 16_384 })),
        "{error}"
    );
}

/// Passes one byte at a time, after a detour through the scheduler.
struct Dribble<T>(T);

impl<T: AsyncRead + Unpin> AsyncRead for Dribble<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut one = buf.take(1);
        let read = Pin::new(&mut self.0).poll_read(cx, &mut one);
        let len = one.filled().len();
        // `take` shares the memory, so that the byte is in place already.
        buf.advance(len);
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Dribble<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, &buf[..buf.len().min(1)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Keeps the wire log.
#[derive(Default)]
struct Log(Mutex<Vec<WireEvent>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("log").iter().map(ToString::to_string).collect()
    }

    fn matching(&self, what: &str) -> Vec<WireEvent> {
        self.0
            .lock()
            .expect("log")
            .iter()
            .filter(|e| e.to_string().contains(what))
            .copied()
            .collect()
    }

    fn count(&self, what: &str) -> usize {
        self.matching(what).len()
    }

    fn lengths(&self, what: &str) -> impl Iterator<Item = usize> {
        self.matching(what).into_iter().filter_map(|event| match event {
            WireEvent::Handshake { len, .. } | WireEvent::Record { len, .. } => Some(len),
            _ => None,
        })
    }
}

impl Observer for Log {
    fn observe(&self, event: &WireEvent) {
        self.0.lock().expect("log").push(*event);
    }
}
