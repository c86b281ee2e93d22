extern crate std;

use std::vec;
use std::vec::Vec;

use hex::decode;

use super::*;
use crate::mqtt::FixedHeader;

fn hex(text: &str) -> Vec<u8> {
    decode(text.replace([' ', '|'], "")).unwrap()
}

fn abc() -> [u8; 3] {
    *b"abc"
}

fn framed(frame: impl Fn(&mut [u8], u16) -> Result<(&mut [u8], usize), Error>, data: &[u8]) -> Vec<u8> {
    let mut buf = vec![0xee; data.len() + 64];
    let (place, len) = frame(&mut buf, data.len() as u16).unwrap();
    place.copy_from_slice(data);
    assert!(
        buf[len..].iter().all(|&b| b == 0xee),
        "nothing behind the packet is touched"
    );
    buf.truncate(len);
    buf
}

/// CONNECT, AUTH and CONNACK around three bytes, byte by byte from the protocol's layout.
const CONNECT_ABC: &str = "10 1a | 0004 4d515454 05 02 0000 | 0d | 15 0004 484b4d31 | 16 0003 616263 | 0000";
const AUTH_ABC: &str = "f0 0f | 18 | 0d | 15 0004 484b4d31 | 16 0003 616263";
const CONNACK_ABC: &str = "20 10 | 00 00 | 0d | 15 0004 484b4d31 | 16 0003 616263";
const NEXT_PIECE: &str = "f0 09 | 18 | 07 | 15 0004 484b4d31";

#[test]
fn frames_are_byte_exact() {
    assert_eq!(framed(frame_connect, b"abc"), hex(CONNECT_ABC));
    assert_eq!(framed(frame_auth, b"abc"), hex(AUTH_ABC));
    assert_eq!(framed(frame_connack, b"abc"), hex(CONNACK_ABC));
    let mut buf = [0; 11];
    assert_eq!(write_next_piece(&mut buf), Ok(11));
    assert_eq!(buf[..], hex(NEXT_PIECE));
}

#[test]
fn lengths_grow_with_their_varints() {
    for data in [0, 1, 115, 116, 117, 118, 16_371, 16_372, 16_373, 65_535_usize] {
        let data = vec![7; data];
        let auth = framed(frame_auth, &data);
        assert_eq!(auth.len(), auth_len(data.len() as u16) as usize);
        assert!(auth.len() <= data.len() + usize::from(AUTH_OVERHEAD));
        let connack = framed(frame_connack, &data);
        assert_eq!(connack.len(), connack_len(data.len() as u16) as usize);
        for packet in [auth, connack, framed(frame_connect, &data)] {
            let (header, body) = FixedHeader::split(&packet).unwrap();
            assert_eq!(header.remaining as usize, body.len());
        }
    }
}

#[test]
fn a_short_buffer_is_an_error() {
    for len in 0..18 {
        assert_eq!(
            frame_connack(&mut vec![0; len], 3).unwrap_err(),
            Error::Buffer { needed: 18 }
        );
    }
    assert_eq!(write_next_piece(&mut [0; 10]), Err(Error::Buffer { needed: 11 }));
}

#[test]
fn m4_fits_the_packet_limit_and_no_byte_is_left() {
    for packet_limit in 128..=16_384 {
        let data_len = inner_connack_limit(packet_limit) + 16;
        assert!(connack_len(data_len) <= packet_limit.into());
        // A varint that grows by one may leave a byte or two unused.
        assert!(connack_len(data_len + 1) > packet_limit.into());
    }
    assert_eq!((inner_connack_limit(128), inner_connack_limit(0)), (128 - 15 - 16, 0));
}

#[test]
fn readers_return_the_data() {
    assert_eq!(read_connect(&mut hex(CONNECT_ABC)), Ok(&mut abc()[..]));
    assert_eq!(read_from_client(&mut hex(AUTH_ABC)), Ok(FromClient::Data(&mut abc())));
    assert_eq!(read_from_client(&mut hex(NEXT_PIECE)), Ok(FromClient::NextPiece));
    assert_eq!(read_from_broker(&mut hex(AUTH_ABC)), Ok(FromBroker::Auth(&mut abc())));
    assert_eq!(
        read_from_broker(&mut hex(CONNACK_ABC)),
        Ok(FromBroker::Connack(&mut abc()))
    );
}

#[test]
fn properties_may_come_in_any_order_and_others_are_ignored() {
    // data before method; receive maximum, user property; client id "dev", keep alive 60
    let connect = "10 29 | 0004 4d515454 05 02 003c | 19 | 16 0003 616263 | 210014 | 26 0002 6e6e 0002 7676 | 15 0004 484b4d31 | 0003 646576";
    assert_eq!(read_connect(&mut hex(connect)), Ok(&mut abc()[..]));
    let auth = "f0 16 | 18 | 14 | 16 0003 616263 | 1f 0004 6e657874 | 15 0004 484b4d31";
    assert_eq!(read_from_client(&mut hex(auth)), Ok(FromClient::Data(&mut abc())));
    assert_eq!(read_from_broker(&mut hex(auth)), Ok(FromBroker::Auth(&mut abc())));
    let connack = "20 18 | 00 00 | 15 | 27 00010000 | 130000 | 16 0003 616263 | 15 0004 484b4d31";
    assert_eq!(read_from_broker(&mut hex(connack)), Ok(FromBroker::Connack(&mut abc())));
}

#[track_caller]
fn refused(packet: &str, error: Error, answer: &str) {
    let refusal = read_connect(&mut hex(packet)).unwrap_err();
    assert_eq!(refusal.error(), error);
    let mut buf = [0; Refusal::MAX_LEN];
    let len = refusal.write(&mut buf).unwrap();
    assert_eq!(buf[..len], hex(answer)[..]);
    assert_eq!(
        refusal.write(&mut buf[..len - 1]),
        Err(Error::Buffer { needed: len as u16 })
    );
}

#[test]
fn a_plain_client_is_told_in_its_own_version() {
    // MQTT 3.1.1 and 3.1 with client id "c"
    refused(
        "10 0d | 0004 4d515454 04 02 003c | 0001 63",
        Error::Unsupported,
        "20 02 00 05",
    );
    refused(
        "10 0f | 0006 4d5149736470 03 02 003c | 0001 63",
        Error::Unsupported,
        "20 02 00 05",
    );
    // MQTT 5.0 without a method
    refused(
        "10 0e | 0004 4d515454 05 02 003c | 00 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    // another method; a method whose name ours is a prefix of; data without a method
    refused(
        "10 16 | 0004 4d515454 05 02 003c | 08 | 15 0005 5343524d31 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    refused(
        "10 16 | 0004 4d515454 05 02 003c | 08 | 15 0005 484b4d3131 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    refused(
        "10 12 | 0004 4d515454 05 02 003c | 04 | 16 0001 63 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    // with a login, whose payload is not looked at
    refused(
        "10 14 | 0004 4d515454 05 82 003c | 00 | 0001 63 | 0004 75736572",
        Error::Unsupported,
        &with_hint(),
    );
}

fn with_hint() -> std::string::String {
    let text = "this port wants Authentication Method HKM1";
    std::format!("20 30 | 00 8c | 2d | 1f 002a {}", hex::encode(text))
}

#[test]
fn the_hint_respects_request_problem_information_and_maximum_packet_size() {
    let bare = "20 03 00 8c 00";
    refused(
        "10 10 | 0004 4d515454 05 02 003c | 02 | 1700 | 0001 63",
        Error::Unsupported,
        bare,
    );
    refused(
        "10 10 | 0004 4d515454 05 02 003c | 02 | 1701 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    refused(
        "10 13 | 0004 4d515454 05 02 003c | 05 | 27 00000031 | 0001 63",
        Error::Unsupported,
        bare,
    );
    refused(
        "10 13 | 0004 4d515454 05 02 003c | 05 | 27 00000032 | 0001 63",
        Error::Unsupported,
        &with_hint(),
    );
    assert_eq!(hex(&with_hint()).len(), 0x32);
}

#[test]
fn other_protocol_levels_are_told_so() {
    for (name, level, answer) in [
        ("0004 4d515454", 0, "20 02 00 01"),
        ("0004 4d515454", 3, "20 02 00 01"),
        ("0006 4d5149736470", 4, "20 02 00 01"),
        ("0004 4d515454", 0x84, "20 02 00 01"),
        ("0004 4d515454", 6, "20 03 00 84 00"),
        ("0004 6d717474", 5, "20 03 00 84 00"),
    ] {
        let body = std::format!("{name} {level:02x} 02 003c | 0001 63");
        let packet = std::format!("10 {:02x} | {body}", hex(&body).len());
        refused(&packet, Error::ProtocolVersion { level }, answer);
    }
}

#[test]
fn what_is_no_connect_is_malformed_or_unexpected() {
    let malformed = |packet: &str, what| refused(packet, Error::Malformed(what), "20 03 00 81 00");
    refused("c0 00", Error::UnexpectedPacket, "20 03 00 82 00");
    refused(AUTH_ABC, Error::UnexpectedPacket, "20 03 00 82 00");
    malformed("16 03", Malformed::Reserved); // a TLS record
    malformed("00 00", Malformed::Type);
    malformed("10 80 00", Malformed::Varint);
    malformed(&CONNECT_ABC.replace("10 1a", "10 19"), Malformed::Trailing);
    malformed(&CONNECT_ABC.replace("10 1a", "10 9a 00"), Malformed::Varint);
    malformed(&std::format!("{CONNECT_ABC} 00"), Malformed::Trailing);
}

#[test]
fn every_deviation_of_an_outer_connect_is_malformed() {
    let malformed = |from: &str, to: &str, what| {
        assert!(CONNECT_ABC.contains(from));
        let mut packet = hex(&CONNECT_ABC.replace(from, to));
        packet[1] = packet.len() as u8 - 2;
        assert_eq!(
            read_connect(&mut packet).unwrap_err().error(),
            Error::Malformed(what),
            "{from} -> {to}"
        );
    };
    malformed("05 02", "05 00", Malformed::Reserved); // no clean start
    malformed("05 02", "05 03", Malformed::Reserved); // reserved flag
    malformed("05 02", "05 82", Malformed::Reserved); // user name
    malformed("05 02", "05 06", Malformed::Reserved); // will
    malformed(
        "| 0d | 15 0004 484b4d31 | 16 0003 616263",
        "| 07 | 15 0004 484b4d31",
        Malformed::Missing,
    );
    malformed(
        "0d | 15 0004 484b4d31",
        "14 | 15 0004 484b4d31 15 0004 484b4d31",
        Malformed::Property,
    ); // twice
    malformed(
        "0d | 15 0004 484b4d31",
        "13 | 15 0004 484b4d31 16 0003 616263",
        Malformed::Property,
    );
    malformed("0d | 15", "12 | 1f 0002 6f6b | 15", Malformed::Property); // reason string in a CONNECT
    malformed("0d | 15", "0f | 7f00 | 15", Malformed::Property);
    malformed("| 0d |", "| 8d00 |", Malformed::Varint);
    malformed("616263 | 0000", "616263 | 0001", Malformed::Truncated);
    malformed("616263 | 0000", "616263 | 0000 0000", Malformed::Trailing); // e.g. a will without its flag
    malformed("616263 | 0000", "616263", Malformed::Truncated);
}

#[test]
fn between_connect_and_connack_a_client_sends_auth_and_disconnect_only() {
    let read = |packet: &str| read_from_client(&mut hex(packet)).map(|_| ());
    assert_eq!(read_from_client(&mut hex("e0 00")), Ok(FromClient::Disconnect));
    assert_eq!(read_from_client(&mut hex("e0 02 04 00")), Ok(FromClient::Disconnect));
    for unexpected in [
        "30 03 0001 61",
        "c0 00",
        CONNECT_ABC,
        CONNACK_ABC,
        "82 07 0001 00 0001 61 00",
    ] {
        assert_eq!(read(unexpected), Err(Error::UnexpectedPacket));
    }
    for reason in ["00", "19"] {
        assert_eq!(
            read(&AUTH_ABC.replace("| 18 |", &std::format!("| {reason} |"))),
            Err(Error::UnexpectedPacket)
        );
    }
    assert_eq!(read("f0 00"), Err(Error::UnexpectedPacket));
}

#[test]
fn deviations_of_an_auth_are_refused_on_both_sides() {
    for (packet, error) in [
        ("f0 01 | 18", Error::Malformed(Malformed::Truncated)),
        ("f0 02 | 18 | 00", Error::Unsupported),
        ("f0 08 | 18 | 06 | 16 0003 616263", Error::Unsupported),
        (
            "f0 0f | 18 | 0d | 15 0004 484b4d32 | 16 0003 616263",
            Error::Unsupported,
        ),
        (
            "f1 0f | 18 | 0d | 15 0004 484b4d31 | 16 0003 616263",
            Error::Malformed(Malformed::Reserved),
        ),
        (
            "f0 8f00 | 18 | 0d | 15 0004 484b4d31 | 16 0003 616263",
            Error::Malformed(Malformed::Varint),
        ),
        (
            "f0 10 | 18 | 8d00 | 15 0004 484b4d31 | 16 0003 616263",
            Error::Malformed(Malformed::Varint),
        ),
        (
            "f0 0f | 18 | 0c | 15 0004 484b4d31 | 16 0003 616263",
            Error::Malformed(Malformed::Truncated),
        ),
        (
            "f0 0f | 18 | 0d | 15 0004 484b4d31 | 16 0004 616263",
            Error::Malformed(Malformed::Truncated),
        ),
        (
            "f0 0f | 18 | 0d | 15 0004 484b4d31 | 16 0002 616263",
            Error::Malformed(Malformed::Property),
        ),
        (
            "f0 10 | 18 | 0d | 15 0004 484b4d31 | 16 0003 616263 | 00",
            Error::Malformed(Malformed::Trailing),
        ),
        (
            "f0 12 | 18 | 10 | 15 0004 484b4d31 | 16 0003 616263 | 210014",
            Error::Malformed(Malformed::Property),
        ),
    ] {
        assert_eq!(read_from_client(&mut hex(packet)), Err(error), "{packet}");
        assert_eq!(read_from_broker(&mut hex(packet)), Err(error), "{packet}");
    }
    assert_eq!(
        read_from_broker(&mut hex(NEXT_PIECE)),
        Err(Error::Malformed(Malformed::Missing))
    );
}

#[test]
fn a_client_takes_success_without_proof_for_an_attack() {
    for connack in [
        "20 02 | 00 00",                         // MQTT 3.1.1
        "20 03 | 00 00 | 00",                    // a plain MQTT 5.0 broker
        "20 0a | 00 00 | 07 | 15 0004 484b4d31", // method without data
        "20 09 | 00 00 | 06 | 16 0003 616263",   // data without method
        "20 10 | 00 00 | 0d | 15 0004 484b4d32 | 16 0003 616263",
    ] {
        assert_eq!(read_from_broker(&mut hex(connack)), Err(Error::Downgrade), "{connack}");
    }
}

#[test]
fn a_refusal_gives_its_reason_to_the_client() {
    for (connack, code) in [
        ("20 03 | 00 8c | 00", ReasonCode::BadAuthenticationMethod),
        ("20 08 | 00 97 | 05 | 1f 0002 6e6f", ReasonCode::QuotaExceeded),
        ("20 02 | 00 01", ReasonCode::UnsupportedProtocolVersion),
        ("20 02 | 00 05", ReasonCode::NotAuthorized),
    ] {
        assert_eq!(read_from_broker(&mut hex(connack)), Err(Error::Refused(code)));
    }
    for connack in ["20 02 | 00 06", "20 03 | 00 7f | 00", "20 03 | 00 18 | 00"] {
        assert_eq!(
            read_from_broker(&mut hex(connack)),
            Err(Error::Malformed(Malformed::Value)),
            "{connack}"
        );
    }
    assert_eq!(
        read_from_broker(&mut hex("20 01 | 00")),
        Err(Error::Malformed(Malformed::Truncated))
    );
    let session_present = CONNACK_ABC.replace("| 00 00 |", "| 01 00 |");
    assert_eq!(
        read_from_broker(&mut hex(&session_present)),
        Err(Error::Malformed(Malformed::Reserved))
    );
    for unexpected in ["e0 02 8b 00", "30 03 0001 61", "d0 00", CONNECT_ABC] {
        assert_eq!(read_from_broker(&mut hex(unexpected)), Err(Error::UnexpectedPacket));
    }
}

#[test]
fn a_refusal_of_an_hkm1_client_has_no_properties() {
    let mut buf = [0; 8];
    assert_eq!(write_refusal(&mut buf, ReasonCode::NotAuthorized), Ok(5));
    assert_eq!(buf[..5], [0x20, 0x03, 0x00, 0x87, 0x00]);
}

#[test]
fn data_of_every_length_comes_back() {
    for len in [0, 1, 100, 117, 118, 1000, 16_383, 65_535] {
        let data: Vec<u8> = (0..len).map(|i| i as u8).collect();
        assert_eq!(
            read_connect(&mut framed(frame_connect, &data)).as_deref(),
            Ok(&data[..])
        );
        assert!(matches!(read_from_client(&mut framed(frame_auth, &data)), Ok(FromClient::Data(d)) if *d == data));
        assert!(
            matches!(read_from_broker(&mut framed(frame_connack, &data)), Ok(FromBroker::Connack(d)) if *d == data)
        );
    }
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(mut packet: Vec<u8>) {
        let _ = read_connect(&mut packet);
        let _ = read_from_client(&mut packet);
        let _ = read_from_broker(&mut packet);
    }

    /// One byte changed anywhere: whatever is accepted still lies inside the packet, and no reader panics.
    #[test]
    fn changed_packets_never_panic(which in 0_usize..4, at: proptest::sample::Index, mask in 1_u8..) {
        let mut packet = hex([CONNECT_ABC, AUTH_ABC, CONNACK_ABC, NEXT_PIECE][which]);
        let at = at.index(packet.len());
        packet[at] ^= mask;
        let _ = read_connect(&mut packet.clone());
        let _ = read_from_client(&mut packet.clone());
        let _ = read_from_broker(&mut packet);
    }
}
