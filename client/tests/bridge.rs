//! The bridge between plain MQTT and the secure channel, over memory, Unix sockets and TCP.

mod peer;

use std::sync::Arc;
use std::time::Duration;

use kemqtt_client::responder::Realm;
use kemqtt_client::{Attack, Bridge, Config, Credential, DeviceId, Endpoint, Error, LocalPort, Timeouts};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::timeout;

use peer::{CONNACK_4, CONNACK_5, CONNECT_4, CONNECT_5, Setup, payload};

#[tokio::test]
async fn a_plain_client_of_either_level_gets_its_session_untouched() {
    let setup = Setup::new();
    for (connect, connack) in [(CONNECT_5, CONNACK_5), (CONNECT_4, CONNACK_4)] {
        let (wire, broker) = setup.echo(connack);
        let (mut application, far) = duplex(65_536);
        let bridge = Bridge::new("unused", setup.config()).expect("bridge");
        let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
        application.write_all(connect).await.expect("writes");
        expect(&mut application, connack).await;
        echo_through(&mut application, &payload(300_000)).await;
        drop(application);
        served.await.expect("bridge").expect("a client that leaves is no error");
        let seen = broker.await.expect("broker").expect("handshake");
        assert_eq!((seen.connect, seen.echoed), (connect.to_vec(), 300_000));
    }
}

#[tokio::test]
async fn what_a_client_sends_behind_its_connect_arrives_behind_the_handshake() {
    let setup = Setup::new();
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (mut application, far) = duplex(65_536);
    let bridge = Bridge::new("unused", setup.config()).expect("bridge");
    tokio::spawn(async move { bridge.serve_over(far, wire).await });
    application
        .write_all(&[CONNECT_5, &payload(5000)].concat())
        .await
        .expect("writes");
    expect(&mut application, CONNACK_5).await;
    expect(&mut application, &payload(5000)).await;
}

#[tokio::test]
async fn one_byte_at_a_time_is_a_connect_too() {
    let setup = Setup::new();
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (mut application, far) = duplex(1);
    let bridge = Bridge::new("unused", setup.config()).expect("bridge");
    tokio::spawn(async move { bridge.serve_over(far, wire).await });
    application.write_all(CONNECT_5).await.expect("writes");
    expect(&mut application, CONNACK_5).await;
}

#[tokio::test]
async fn a_client_that_disconnects_and_closes_at_once_is_heard_to_the_last_byte() {
    let setup = Setup::new();
    let (wire, broker) = setup.echo(CONNACK_5);
    let (mut application, far) = duplex(65_536);
    let bridge = Bridge::new("unused", setup.config()).expect("bridge");
    let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
    application.write_all(CONNECT_5).await.expect("writes");
    expect(&mut application, CONNACK_5).await;
    application.write_all(&payload(60_000)).await.expect("writes");
    // Does not read the echo: the bridge finds its way down blocked when the client is gone already.
    drop(application);
    served.await.expect("bridge").expect("no error");
    assert_eq!(broker.await.expect("broker").expect("handshake").echoed, 60_000);
}

#[tokio::test]
async fn a_refusal_reaches_the_application_in_its_own_level() {
    let setup = Setup::new();
    // The outer CONNACK, then what MQTT 5.0 and MQTT 3.1.1 are told.
    for (outer, v5, v3) in [(0x87, 0x87, 5), (0x8c, 0x8c, 5), (0x97, 0x97, 3), (0x88, 0x88, 3)] {
        for (connect, expected) in [(CONNECT_5, vec![0x20, 3, 0, v5, 0]), (CONNECT_4, vec![0x20, 2, 0, v3])] {
            let (answer, error) = answered_by(&setup.config(), connect, &[0x20, 3, 0, outer, 0]).await;
            assert_eq!(answer, expected, "{outer:02x}");
            assert!(
                matches!(error, Error::Refused { code } if code as u8 == outer),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_plain_broker_behind_the_client_is_an_attack_and_gets_nothing() {
    let setup = Setup::new();
    let (answer, error) = answered_by(&setup.config(), CONNECT_5, &[0x20, 3, 0, 0, 0]).await;
    assert_eq!(answer, [0x20, 3, 0, 0x87, 0]);
    assert!(matches!(error, Error::Attack(Attack::SuccessWithoutAuth)), "{error}");
}

#[tokio::test]
async fn a_wrong_credential_is_told_as_not_authorized() {
    let setup = Setup::new();
    let stranger = Credential::generate_psk(DeviceId::new("stranger").expect("id")).expect("psk");
    let bridge = Bridge::new("unused", Config::new(setup.pins(), stranger)).expect("bridge");
    let (wire, _broker) = setup.echo(CONNACK_5);
    let (mut application, far) = duplex(65_536);
    let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
    application.write_all(CONNECT_4).await.expect("writes");
    let mut answer = Vec::new();
    application.read_to_end(&mut answer).await.expect("reads");
    assert_eq!(answer, [0x20, 2, 0, 5]);
    assert!(matches!(served.await.expect("bridge"), Err(Error::Unproven(_))));
}

#[tokio::test]
async fn what_is_no_connect_never_reaches_the_network() {
    let setup = Setup::new();
    for (sent, answer) in [
        (&b"\xc0\x00"[..], &[0x20, 3, 0, 0x82, 0][..]),
        (b"GET / HTTP/1.1\r\n\r\n", &[0x20, 3, 0, 0x81, 0]),
        (b"\x10\x0d\x00\x04MQTT\x06\x02\x00\x3c\x00\x01c", &[0x20, 3, 0, 0x84, 0]),
        (b"\x10\x0d\x00\x04MQTT\x84\x02\x00\x3c\x00\x01c", &[0x20, 2, 0, 1]),
        // 61,441 bytes and more fit no broker; told from the header.
        (b"\x10\xfe\xdf\x03", &[0x20, 3, 0, 0x95, 0]),
        // A reserved flag.
        (b"\x10\x0d\x00\x04MQTT\x04\x03\x00\x3c\x00\x01c", &[0x20, 2, 0, 5]),
    ] {
        let bridge = Bridge::new("unused", setup.config()).expect("bridge");
        let (mut application, far) = duplex(65_536);
        let (wire, mut network) = duplex(65_536);
        let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
        application.write_all(sent).await.expect("writes");
        let mut received = Vec::new();
        application.read_to_end(&mut received).await.expect("reads");
        assert_eq!(received, answer, "{sent:02x?}");
        assert!(matches!(served.await.expect("bridge"), Err(Error::Application(_))));
        received.clear();
        network.read_to_end(&mut received).await.expect("reads");
        assert!(received.is_empty());
    }
}

#[tokio::test]
async fn a_tampered_record_just_closes() {
    let setup = Setup::new();
    let (wire, middle) = duplex(65_536);
    let (far_wire, _broker) = setup.echo(CONNACK_5);
    let (mut application, far) = duplex(65_536);
    let bridge = Bridge::new("unused", setup.config()).expect("bridge");
    let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
    tokio::spawn(flip_after(middle, far_wire, b"\x00"));
    application.write_all(CONNECT_5).await.expect("writes");
    expect(&mut application, CONNACK_5).await;
    application.write_all(&[7; 100]).await.expect("writes");
    let mut received = Vec::new();
    application.read_to_end(&mut received).await.expect("reads");
    assert!(
        received.is_empty(),
        "no byte of a changed record, and no second CONNACK"
    );
    assert!(matches!(served.await.expect("bridge"), Err(Error::Tampered)));
}

#[tokio::test]
async fn over_tcp_and_unix_sockets_many_clients_are_served_at_once() {
    let setup = Setup::new();
    let broker = listen(setup.realm.clone()).await;
    let directory = tempfile::tempdir().expect("directory");
    let socket = directory.path().join("private").join("mqtt.sock");
    let bridge = Bridge::new(broker, setup.config()).expect("bridge");
    let unix = bridge.listen(&Endpoint::Unix(socket.clone())).await.expect("listens");
    let tcp = bridge
        .listen(&"tcp:127.0.0.1:0".parse().expect("endpoint"))
        .await
        .expect("listens");
    let Endpoint::Tcp { port, .. } = *tcp.endpoint() else {
        panic!("not TCP")
    };

    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("exists").permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().expect("parent"))), (0o600, 0o700));

    let mut clients = tokio::task::JoinSet::new();
    for i in 0..8 {
        let socket = socket.clone();
        clients.spawn(async move {
            let data = payload(10_000 + i);
            if i % 2 == 0 {
                session(UnixStream::connect(socket).await.expect("connects"), &data).await;
            } else {
                session(TcpStream::connect(("127.0.0.1", port)).await.expect("connects"), &data).await;
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.expect("session");
    }
    timeout(Duration::from_secs(5), async { tokio::join!(unix.idle(), tcp.idle()) })
        .await
        .expect("all sessions end");
    assert!(unix.take_error().is_none() && tcp.take_error().is_none());
    drop(unix);
    assert!(!socket.exists(), "the socket goes with its listener");
}

#[tokio::test]
async fn a_socket_left_by_a_dead_process_is_replaced_and_a_living_one_is_not() {
    let setup = Setup::new();
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("mqtt.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("binds")); // leaves the file
    let bridge = Bridge::new("unused", setup.config()).expect("bridge");
    let listener = bridge.listen(&Endpoint::Unix(path.clone())).await.expect("replaced");
    assert!(matches!(
        bridge.listen(&Endpoint::Unix(path.clone())).await,
        Err(Error::Network { .. })
    ));
    drop(listener);
    std::fs::write(&path, "a file").expect("writes");
    assert!(matches!(
        bridge.listen(&Endpoint::Unix(path.clone())).await,
        Err(Error::Network { .. })
    ));
    assert_eq!(std::fs::read_to_string(&path).expect("untouched"), "a file");
}

#[tokio::test]
async fn a_loopback_port_wants_its_token_and_keeps_it_from_the_broker() {
    let setup = Setup::new();
    let bridge = Bridge::new(listen(setup.realm.clone()).await, setup.config()).expect("bridge");
    let port = LocalPort::open_loopback(bridge).await.expect("port");
    let address = port.address();

    let mut stranger = TcpStream::connect(address.clone()).await.expect("connects");
    stranger.write_all(CONNECT_4).await.expect("writes");
    expect(&mut stranger, &[0x20, 2, 0, 5]).await;

    let token = port.token().expect("token");
    let mut own = TcpStream::connect(address).await.expect("connects");
    let mut connect = b"\x10\x00\x00\x04MQTT\x04\x82\x00\x3c\x00\x01c".to_vec();
    connect.extend_from_slice(&(token.len() as u16).to_be_bytes());
    connect.extend_from_slice(token.as_bytes());
    connect[1] = connect.len() as u8 - 2;
    own.write_all(&connect).await.expect("writes");
    // The broker of `listen` echoes the CONNECT it saw behind its CONNACK.
    expect(&mut own, CONNACK_4).await;
    expect(&mut own, CONNECT_4).await;
    assert_eq!(port.user_name("me"), format!("{token}:me"));
}

#[tokio::test]
async fn a_private_unix_port_needs_no_token() {
    let setup = Setup::new();
    let bridge = Bridge::new(listen(setup.realm.clone()).await, setup.config()).expect("bridge");
    let port = LocalPort::open(bridge).await.expect("port");
    assert!(port.is_unix() && port.token().is_none());
    assert_eq!(port.user_name("me"), "me");
    let path = port.address().0;
    session(UnixStream::connect(&path).await.expect("connects"), &payload(100)).await;
    drop(port);
    assert!(
        !std::path::Path::new(&path).parent().expect("parent").exists(),
        "the directory goes too"
    );
}

#[tokio::test]
async fn an_in_process_client_uses_the_near_end() {
    let setup = Setup::new();
    let bridge = Bridge::new(listen(setup.realm.clone()).await, setup.config()).expect("bridge");
    session(bridge.duplex(), &payload(70_000)).await;
}

#[tokio::test]
async fn a_broker_that_cannot_be_reached_is_told_and_the_next_attempt_waits() {
    let setup = Setup::new();
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds")
        .local_addr()
        .expect("address")
        .to_string();
    let bridge = Bridge::new(free, setup.config()).expect("bridge");
    let begun = std::time::Instant::now();
    for _ in 0..2 {
        let (mut application, far) = duplex(65_536);
        application.write_all(CONNECT_5).await.expect("writes");
        let served = timeout(Duration::from_secs(20), bridge.serve(far)).await;
        assert!(matches!(served, Ok(Err(Error::Network { .. }))));
        let mut answer = Vec::new();
        application.read_to_end(&mut answer).await.expect("reads");
        assert_eq!(answer, [0x20, 3, 0, 0x88, 0]);
    }
    // Half a second less jitter.
    assert!(begun.elapsed() >= Duration::from_millis(250), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn clients_that_fail_together_do_not_add_up_their_waits_and_one_of_them_probes() {
    let setup = Setup::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let bridge = Bridge::new(listener.local_addr().expect("address").to_string(), setup.config()).expect("bridge");
    let start = || {
        let (mut application, far) = duplex(65_536);
        let bridge = bridge.clone();
        let served = tokio::spawn(async move { bridge.serve(far).await });
        async move {
            application.write_all(CONNECT_5).await.expect("writes");
            (application, served)
        }
    };
    // Eight at once are hung up on.
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(start().await);
    }
    for _ in 0..8 {
        drop(listener.accept().await.expect("dials"));
    }
    for (_, served) in clients {
        assert!(matches!(served.await.expect("bridge"), Err(Error::Closed(_))));
    }
    // Of the next two one comes, after the wait that follows one failure, and the other only once that is decided.
    let _waiting = [start().await, start().await];
    let (probe, _) = timeout(SHORT_WAIT, listener.accept())
        .await
        .expect("half a second")
        .expect("dials");
    assert!(
        timeout(Duration::from_millis(300), listener.accept()).await.is_err(),
        "two probes"
    );
    let realm = setup.realm.clone();
    tokio::spawn(async move {
        realm
            .accept(probe)
            .await
            .expect("handshake")
            .answer(CONNACK_5)
            .await
            .expect("answers")
    });
    timeout(SHORT_WAIT, listener.accept())
        .await
        .expect("at once")
        .expect("dials");
}

#[tokio::test]
async fn a_client_that_gives_up_while_it_waits_costs_no_attempt() {
    let setup = Setup::new();
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = silent.local_addr().expect("address").to_string();
    let patient = Timeouts {
        step: Duration::from_secs(60),
        ..Timeouts::default()
    };
    let bridge = Bridge::new(address, setup.config().timeouts(patient)).expect("bridge");
    let (mut application, far) = duplex(65_536);
    let served = tokio::spawn(async move { bridge.serve(far).await });
    application.write_all(CONNECT_5).await.expect("writes");
    let (_connection, _) = silent.accept().await.expect("the bridge dials");
    drop(application);
    timeout(Duration::from_secs(5), served)
        .await
        .expect("at once")
        .expect("bridge")
        .expect("no error");
}

/// The waits of eight failures in a row would add up to more than a minute.
const SHORT_WAIT: Duration = Duration::from_secs(20);

/// Serves one CONNECT over a network whose far end answers M1 with these bytes; gives what the application was told.
async fn answered_by(config: &Config, connect: &[u8], answer: &[u8]) -> (Vec<u8>, Error) {
    let bridge = Bridge::new("unused", config.clone()).expect("bridge");
    let (wire, mut network) = duplex(65_536);
    let (mut application, far) = duplex(65_536);
    let served = tokio::spawn(async move { bridge.serve_over(far, wire).await });
    application.write_all(connect).await.expect("writes");
    network.read_u8().await.expect("M1 comes");
    network.write_all(answer).await.expect("answers");
    let mut told = Vec::new();
    application.read_to_end(&mut told).await.expect("reads");
    (told, served.await.expect("bridge").expect_err("no session"))
}

/// A broker on a loopback port: answers with a CONNACK of the level, sends the CONNECT it saw if that was of MQTT 3.1.1,
/// then echoes.
async fn listen(realm: Arc<Realm>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("address").to_string();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accepts");
            let realm = realm.clone();
            tokio::spawn(async move {
                let Ok(accepted) = realm.accept(stream).await else {
                    return;
                };
                let connect = accepted.connect.clone();
                let is_v5 = connect[8] == 5;
                let stream = accepted
                    .answer(if is_v5 { CONNACK_5 } else { CONNACK_4 })
                    .await
                    .expect("answers");
                let (mut reader, mut writer) = tokio::io::split(stream);
                if !is_v5 {
                    writer.write_all(&connect).await.expect("writes");
                    writer.flush().await.expect("flushes");
                }
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
                let _ = writer.shutdown().await;
            });
        }
    });
    address
}

/// A whole MQTT 5.0 session of a plain client.
async fn session(mut stream: impl AsyncRead + AsyncWrite + Unpin, data: &[u8]) {
    stream.write_all(CONNECT_5).await.expect("writes");
    expect(&mut stream, CONNACK_5).await;
    echo_through(&mut stream, data).await;
    stream.shutdown().await.expect("closes");
    assert_eq!(stream.read(&mut [0]).await.expect("reads"), 0);
}

async fn echo_through(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), data: &[u8]) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut back = vec![0; data.len()];
    let send = async { writer.write_all(data).await.expect("writes") };
    let receive = async { reader.read_exact(&mut back).await.expect("reads") };
    tokio::join!(send, receive);
    assert!(back == data);
}

async fn expect(stream: &mut (impl AsyncRead + Unpin), bytes: &[u8]) {
    let mut received = vec![0; bytes.len()];
    let read = timeout(Duration::from_secs(5), stream.read_exact(&mut received));
    read.await.expect("in time").expect("reads");
    assert_eq!(received, bytes);
}

/// Passes bytes on until the broker sends something that begins with `marker`, whose last byte it flips.
async fn flip_after(near: tokio::io::DuplexStream, far: tokio::io::DuplexStream, marker: &'static [u8]) {
    let (mut from_client, mut to_client) = tokio::io::split(near);
    let (mut from_broker, mut to_broker) = tokio::io::split(far);
    tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_broker).await });
    let mut buf = vec![0; 65_536];
    while let Ok(len @ 1..) = from_broker.read(&mut buf).await {
        if buf[..len].starts_with(marker) {
            buf[len - 1] ^= 1;
        }
        to_client.write_all(&buf[..len]).await.expect("passes it on");
    }
}
