//! What only an attacker, or a broker that does not know HKM1, does to a client.

mod peer;

use std::time::Duration;

use kemqtt_client::{Attack, Blame, Error, SecureStream, Step, Timeouts};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use peer::{CONNACK_5, CONNECT_5, Setup, payload};

/// Method and data as a real AUTH or CONNACK has them, around one byte.
const METHOD_AND_DATA: &[u8] = b"\x0b\x15\x00\x04HKM1\x16\x00\x01x";

#[tokio::test]
async fn a_plain_broker_that_ignores_the_method_is_an_attack() {
    // What rumqttd answers, what a 3.1.1 broker answers, and success with everything but an AUTH before.
    let with_data = [&b"\x20\x0e\x00\x00"[..], METHOD_AND_DATA].concat();
    for answer in [&b"\x20\x03\x00\x00\x00"[..], b"\x20\x02\x00\x00", &with_data] {
        let error = answered_with(answer).await;
        assert!(matches!(error, Error::Attack(Attack::SuccessWithoutAuth)), "{error}");
        assert_eq!(error.blame(), Blame::Security);
    }
}

#[tokio::test]
async fn an_auth_without_the_method_or_with_another_is_an_attack() {
    for answer in [
        &b"\xf0\x06\x18\x04\x16\x00\x01x"[..],
        b"\xf0\x0d\x18\x0b\x15\x00\x04HKM2\x16\x00\x01x",
    ] {
        let error = answered_with(answer).await;
        assert!(matches!(error, Error::Attack(Attack::MethodChanged)), "{error}");
    }
}

#[tokio::test]
async fn refusals_are_told_with_their_reason() {
    for (answer, code) in [
        (&b"\x20\x03\x00\x8c\x00"[..], 0x8c),
        (b"\x20\x03\x00\x97\x00", 0x97),
        (b"\x20\x08\x00\x9f\x05\x1f\x00\x02no", 0x9f),
        (b"\x20\x02\x00\x05", 0x87),
    ] {
        let error = answered_with(answer).await;
        assert!(
            matches!(error, Error::Refused { code: c } if c as u8 == code),
            "{error}"
        );
        assert_eq!(error.blame(), Blame::Broker);
    }
}

#[tokio::test]
async fn other_packets_and_bytes_that_are_no_packets_end_the_attempt() {
    use hybrid_handshake::{Error as Hkm1, Malformed};
    for (answer, expected) in [
        (&b"\x30\x03\x00\x01a"[..], Hkm1::UnexpectedPacket),
        (b"\xe0\x02\x8b\x00", Hkm1::UnexpectedPacket),
        (b"\x00\x12", Hkm1::Malformed(Malformed::Type)),
        (b"\xf1\x00", Hkm1::Malformed(Malformed::Reserved)),
        (b"\xf0\x80\x80\x80\x80\x01", Hkm1::Malformed(Malformed::Varint)),
        // The header alone: the body of an oversized packet is not waited for.
        (b"\xf0\xff\xff\x7f", Hkm1::TooLarge { limit: 16_384 }),
        // A piece of M2 of another length than the one that is due.
        (
            b"\xf0\x0d\x18\x0b\x15\x00\x04HKM1\x16\x00\x01x",
            Hkm1::Malformed(Malformed::Length),
        ),
        (
            b"\xf0\x0c\x18\x0a\x15\x00\x04HKM1\x16\x00\x00",
            Hkm1::Malformed(Malformed::Length),
        ),
        (b"\xf0\x09\x18\x07\x15\x00\x04HKM1", Hkm1::Malformed(Malformed::Missing)),
    ] {
        let error = answered_with(answer).await;
        assert!(
            matches!(error, Error::Protocol { step: Step::M2, source } if source == expected),
            "{answer:02x?}: {error}"
        );
    }
}

#[tokio::test]
async fn a_broker_that_closes_or_says_nothing_is_the_networks_fault() {
    let error = answered_with(b"").await;
    assert!(matches!(error, Error::Closed(Step::M2)), "{error}");

    let timeouts = Timeouts {
        step: Duration::from_millis(50),
        ..Timeouts::default()
    };
    let (near, _silent) = duplex(65_536);
    let error = SecureStream::connect(&Setup::new().config().timeouts(timeouts), near, CONNECT_5)
        .await
        .expect_err("silence");
    assert!(matches!(error, Error::Timeout(Step::M2)), "{error}");
    assert_eq!(error.blame(), Blame::Network);
}

#[tokio::test]
async fn any_changed_byte_of_m2_is_noticed() {
    let setup = Setup::new();
    // Nonce, time, limits, options, share, key, box.
    for at in [0, 16, 24, 26, 28, 30, 61, 62, 700, 1245, 1246, 1261] {
        let error = changed(&setup, 2, move |packet| packet[AUTH_FRAME_LEN + at] ^= 1).await;
        assert!(matches!(error, Error::Unproven(Step::M2)), "byte {at}: {error}");
    }
}

#[tokio::test]
async fn any_changed_byte_of_m4_is_noticed() {
    let setup = Setup::new();
    for back in 1..=CONNACK_5.len() + 16 {
        let error = changed(&setup, 4, move |packet| {
            let at = packet.len() - back;
            packet[at] ^= 0x80;
        });
        let error = error.await;
        assert!(matches!(error, Error::Unproven(Step::M4)), "byte -{back}: {error}");
    }
}

#[tokio::test]
async fn success_without_m4_or_without_the_method_is_an_attack() {
    let setup = Setup::new();
    for connack in [
        &b"\x20\x03\x00\x00\x00"[..],
        b"\x20\x02\x00\x00",
        b"\x20\x0a\x00\x00\x07\x15\x00\x04HKM1",
    ] {
        let error = changed(&setup, 4, move |packet| *packet = connack.to_vec()).await;
        assert!(
            matches!(error, Error::Attack(Attack::NoProof)),
            "{connack:02x?}: {error}"
        );
    }
    let other_method = |packet: &mut Vec<u8>| {
        let at = packet.windows(4).position(|w| w == b"HKM1").expect("method");
        packet[at + 3] = b'2';
    };
    let error = changed(&setup, 4, other_method).await;
    assert!(matches!(error, Error::Attack(Attack::NoProof)), "{error}");
}

#[tokio::test]
async fn a_second_auth_in_place_of_m4_is_refused() {
    let setup = Setup::new();
    let auth = [&b"\xf0\x0d\x18"[..], METHOD_AND_DATA].concat();
    let error = changed(&setup, 4, move |packet| *packet = auth.clone()).await;
    assert!(matches!(error, Error::Protocol { step: Step::M4, .. }), "{error}");
}

#[tokio::test]
async fn a_changed_m1_or_m3_makes_the_broker_refuse() {
    let setup = Setup::new();
    for flight in [1, 3] {
        let error = changed(&setup, flight, |packet| {
            let at = packet.len() - 8;
            packet[at] ^= 1;
        });
        let error = error.await;
        assert!(
            matches!(error, Error::Refused { code } if code as u8 == 0x87),
            "M{flight}: {error}"
        );
    }
}

#[tokio::test]
async fn a_changed_dropped_or_replayed_record_ends_the_stream_for_good() {
    for (harm, delivered) in [(Harm::Change, 10), (Harm::Drop, 10), (Harm::Replay, 20)] {
        let setup = Setup::new();
        let (near, wire) = duplex(65_536);
        let (far, broker) = duplex(65_536);
        let realm = setup.realm.clone();
        tokio::spawn(harm_records(wire, far, harm));
        tokio::spawn(async move {
            let accepted = realm.accept(broker).await.expect("handshake");
            let mut stream = accepted.answer(CONNACK_5).await.expect("answers");
            for chunk in payload(30).chunks(10) {
                stream.write_all(chunk).await.expect("writes");
                stream.flush().await.expect("one record");
            }
            std::future::pending::<()>().await;
        });
        let (mut stream, _) = SecureStream::connect(&setup.config(), near, CONNECT_5)
            .await
            .expect("handshake");
        let mut received = Vec::new();
        let error = stream.read_to_end(&mut received).await.expect_err("broken");
        let typed = error.downcast::<Error>().expect("typed");
        assert!(matches!(typed, Error::Tampered), "{harm:?}: {typed}");
        assert_eq!(
            received,
            payload(30)[..delivered],
            "{harm:?}: what came before, and nothing else"
        );
        assert!(stream.read(&mut [0]).await.is_err(), "{harm:?}");
        assert!(stream.write(&[0]).await.is_err(), "{harm:?}");
    }
}

#[tokio::test]
async fn a_record_that_is_cut_off_is_no_clean_end() {
    let error = end_of_a_harmed_session(Harm::Cut).await;
    assert!(matches!(error, Error::Closed(Step::Session)), "{error}");
}

#[tokio::test]
async fn an_mqtt_packet_in_clear_among_the_records_ends_the_stream() {
    let error = end_of_a_harmed_session(Harm::Clear).await;
    let in_session = matches!(
        error,
        Error::Protocol {
            step: Step::Session,
            ..
        }
    );
    assert!(in_session, "{error}");
}

/// What a client says at the end of a session whose records are harmed on the way back.
async fn end_of_a_harmed_session(harm: Harm) -> Error {
    let setup = Setup::new();
    let (near, wire) = duplex(65_536);
    let (far, _broker) = setup.echo(CONNACK_5);
    tokio::spawn(harm_records(wire, far, harm));
    let (mut stream, _) = SecureStream::connect(&setup.config(), near, CONNECT_5)
        .await
        .expect("handshake");
    stream.write_all(b"hello").await.expect("writes");
    let read = stream.read_to_end(&mut Vec::new()).await;
    read.expect_err("harmed").downcast().expect("typed")
}

/// Connects to somebody who answers the CONNECT with these bytes and closes.
async fn answered_with(answer: &[u8]) -> Error {
    let (near, mut far) = duplex(65_536);
    let answer = answer.to_vec();
    tokio::spawn(async move {
        read_packet(&mut far).await;
        far.write_all(&answer).await.expect("answers");
        if answer.is_empty() {
            return;
        }
        // Stays open: the client has to decide by what it has.
        let _ = far.read_to_end(&mut Vec::new()).await;
    });
    let config = Setup::new().config();
    let connected = tokio::time::timeout(Duration::from_secs(5), SecureStream::connect(&config, near, CONNECT_5));
    connected.await.expect("decides at once").expect_err("no session")
}

/// Runs a handshake on whose flight `number` (M1..M4) somebody in the middle puts `change`.
async fn changed(setup: &Setup, number: usize, change: impl FnOnce(&mut Vec<u8>) + Send + 'static) -> Error {
    let (near, mut wire) = duplex(65_536);
    let (mut far, _broker) = setup.echo(CONNACK_5);
    tokio::spawn(async move {
        let mut change = Some(change);
        for flight in 1..=4 {
            let (from, to) = if flight % 2 == 1 {
                (&mut wire, &mut far)
            } else {
                (&mut far, &mut wire)
            };
            let mut packet = read_packet(from).await;
            if let Some(change) = change.take_if(|_| flight == number) {
                change(&mut packet);
            }
            to.write_all(&packet).await.expect("passes it on");
        }
    });
    SecureStream::connect(&setup.config(), near, CONNECT_5)
        .await
        .expect_err("noticed")
}

/// What happens to the broker's records; the second one where one is picked.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Change,
    Drop,
    Replay,
    Cut,
    Clear,
}

/// Passes the handshake on, then does harm to what the broker sends.
async fn harm_records(mut wire: DuplexStream, mut far: DuplexStream, harm: Harm) {
    for flight in 1..=4 {
        let (from, to) = if flight % 2 == 1 {
            (&mut wire, &mut far)
        } else {
            (&mut far, &mut wire)
        };
        let packet = read_packet(from).await;
        to.write_all(&packet).await.expect("passes it on");
    }
    let (mut from_client, mut to_client) = tokio::io::split(wire);
    let (mut from_broker, mut to_broker) = tokio::io::split(far);
    tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_broker).await });
    for number in 1.. {
        let mut record = read_packet(&mut from_broker).await;
        match harm {
            Harm::Change if number == 2 => *record.last_mut().expect("a record") ^= 1,
            Harm::Drop if number == 2 => continue,
            Harm::Replay if number == 2 => to_client.write_all(&record.clone()).await.expect("once"),
            Harm::Cut => {
                record.truncate(record.len() - 1);
                to_client.write_all(&record).await.expect("most of it");
                to_client.shutdown().await.expect("closes");
                return;
            }
            Harm::Clear => record = b"\x30\x03\x00\x01a".to_vec(),
            _ => {}
        }
        if to_client.write_all(&record).await.is_err() {
            return;
        }
    }
}

/// One packet or record, by its first byte and varint; waits for ever at the end of the stream.
async fn read_packet(from: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut packet = Vec::new();
    loop {
        let mut byte = [0];
        if from.read_exact(&mut byte).await.is_err() {
            std::future::pending::<()>().await;
        }
        packet.push(byte[0]);
        if packet.len() > 1 && byte[0] < 0x80 {
            break;
        }
    }
    let remaining = packet[1..]
        .iter()
        .rev()
        .fold(0, |len, byte| len << 7 | usize::from(byte & 0x7f));
    let header = packet.len();
    packet.resize(header + remaining, 0);
    from.read_exact(&mut packet[header..]).await.expect("a whole packet");
    packet
}

/// First byte, two-byte varint, reason, two-byte property length, method, data header: what stands before M2.
const AUTH_FRAME_LEN: usize = 1 + 2 + 1 + 2 + 7 + 3;
