use super::*;

fn run(version: Version, stream: &[u8], piece: usize) -> Result<Vec<u8>, Violation> {
    let (mut guard, mut out) = (Guard::new(version, 1 << 20), Vec::new());
    for piece in stream.chunks(piece) {
        guard.feed(piece, &mut out)?;
    }
    Ok(out)
}

fn code(version: Version, stream: &[u8]) -> u8 {
    let whole = run(version, stream, stream.len()).expect_err("must be stopped").code;
    let bytes = run(version, stream, 1).expect_err("must be stopped, byte by byte").code;
    assert_eq!(whole, bytes, "{stream:02x?}");
    whole as u8
}

/// What well-behaved clients send (MQTT 3.1.1).
const V3: &[&[u8]] = &[
    b"\x30\x07\x00\x03a/bhi",
    b"\x32\x08\x00\x03a/b\x00\x01x",
    b"\x3b\x07\x00\x03a/b\x00\x01",
    b"\x40\x02\x00\x01",
    b"\x62\x02\x00\x07",
    b"\x82\x08\x00\x02\x00\x03a/#\x01",
    b"\xa2\x07\x00\x03\x00\x03a/#",
    b"\xc0\x00",
    b"\xe0\x00",
];

/// The same and more in MQTT 5.0.
const V5: &[&[u8]] = &[
    b"\x30\x08\x00\x03a/b\x00hi",
    b"\x30\x0a\x00\x03a/b\x03\x23\x00\x01x",
    b"\x30\x06\x00\x00\x03\x23\x00\x01",
    b"\x34\x08\x00\x03a/b\x00\x09\x00",
    b"\x50\x02\x00\x01",
    b"\x70\x03\x00\x01\x92",
    b"\x82\x09\x00\x02\x00\x00\x03a/#\x2c",
    b"\x82\x0b\x00\x02\x02\x0b\x05\x00\x03a/#\x00",
    b"\xe0\x02\x04\x00",
    b"\xf0\x00",
];

#[test]
fn honest_streams_pass_unchanged_however_they_are_cut() {
    for (version, packets) in [(Version::V3, V3), (Version::V5, V5)] {
        let stream = packets.concat();
        for piece in [1, 2, 3, 7, stream.len()] {
            assert_eq!(run(version, &stream, piece).unwrap(), stream);
        }
    }
}

#[test]
fn server_packets_and_a_second_connect_are_protocol_errors() {
    for first in [0x10, 0x20, 0x90, 0xb0, 0xd0] {
        for version in [Version::V3, Version::V5] {
            assert_eq!(code(version, &[first, 2, 0, 0]), 0x82, "{first:02x}");
        }
    }
    assert_eq!(code(Version::V3, b"\xf0\x00"), 0x82, "AUTH is new in MQTT 5.0");
}

#[test]
fn malformed_packets_are_stopped() {
    for bad in [
        &b"\x36\x05\x00\x01a\x00\x01"[..], // QoS 3
        b"\x38\x03\x00\x01a",              // DUP with QoS 0
        b"\x32\x05\x00\x01a\x00\x00",      // packet id 0
        b"\x30\x02\x00\x05",               // topic longer than the packet
        b"\x30\x04\x00\x02\xc3\x28",       // not UTF-8
        b"\x41\x02\x00\x01",               // flags of PUBACK
        b"\x40\x03\x00\x01\x00",           // PUBACK with more than an id
        b"\x80\x06\x00\x01\x00\x01a\x00",  // flags of SUBSCRIBE
        b"\x82\x06\x00\x01\x00\x01a\x03",  // QoS 3
        b"\x82\x06\x00\x00\x00\x01a\x00",  // packet id 0
        b"\xc0\x01\x00",                   // PINGREQ with a body
        b"\xe0\x01\x00",                   // DISCONNECT with a body
        b"\xc0\x80\x00",                   // length not in its shortest form
        b"\x00\x00",                       // reserved type
    ] {
        assert_eq!(code(Version::V3, bad), 0x81, "{bad:02x?}");
    }
    for bad in [
        &b"\x82\x07\x00\x01\x00\x00\x01a\x40"[..], // reserved option bits
        b"\x82\x07\x00\x01\x00\x00\x01a\x30",      // retain handling 3
        b"\x40\x03\x00\x01\x77",                   // unknown reason code
        b"\xe0\x01\x77",                           // unknown reason code
        b"\x30\x06\x00\x01a\x02\x24\x01",          // property of another packet
    ] {
        assert_eq!(code(Version::V5, bad), 0x81, "{bad:02x?}");
    }
}

#[test]
fn other_rules_have_their_own_codes() {
    assert_eq!(code(Version::V3, b"\x30\x05\x00\x03a/#"), 0x90, "wildcard in a name");
    assert_eq!(code(Version::V3, b"\x30\x02\x00\x00"), 0x90, "empty name");
    assert_eq!(
        code(Version::V5, b"\x30\x03\x00\x00\x00"),
        0x90,
        "empty name without an alias"
    );
    assert_eq!(code(Version::V5, b"\x30\x07\x00\x01a\x03\x23\x00\x00"), 0x81, "alias 0");
    assert_eq!(
        code(Version::V5, b"\x30\x06\x00\x01a\x02\x0b\x01"),
        0x82,
        "subscription identifier"
    );
    assert_eq!(
        code(Version::V5, b"\x30\x08\x00\x01a\x04\x08\x00\x01#"),
        0x81,
        "response topic"
    );
    assert_eq!(code(Version::V3, b"\x82\x07\x00\x01\x00\x02a#\x00"), 0x8f, "filter");
    assert_eq!(code(Version::V3, b"\x82\x02\x00\x01"), 0x82, "no filter");
    assert_eq!(code(Version::V3, b"\xa2\x02\x00\x01"), 0x82, "no filter");
    assert_eq!(code(Version::V3, b"\xa2\x06\x00\x01\x00\x02a#"), 0x8f, "filter");
    assert_eq!(
        code(Version::V5, b"\x82\x11\x00\x01\x00\x00\x0b$share/g/ab\x04"),
        0x82,
        "No Local on a share"
    );
}

/// Packets of one client, and whether its rules allow them.
const JUDGED: &[(Version, &[u8], Option<&str>)] = &[
    (Version::V3, b"\x30\x05\x00\x03a/b", None),
    (Version::V3, b"\x32\x06\x00\x02s1\x00\x01", None),
    (Version::V5, b"\x34\x07\x00\x02s1\x00\x01\x00", None),
    // The same topic by an alias, which is set and used.
    (Version::V5, b"\x30\x09\x00\x03a/b\x03\x23\x00\x01", None),
    (Version::V5, b"\x30\x06\x00\x00\x03\x23\x00\x01", None),
    (Version::V3, b"\x30\x03\x00\x01a", Some(NOT_TO_PUBLISH)),
    (Version::V3, b"\x32\x06\x00\x02s2\x00\x01", Some(NOT_TO_PUBLISH)),
    (
        Version::V5,
        b"\x30\x0a\x00\x04a/bc\x03\x23\x00\x01",
        Some(NOT_TO_PUBLISH),
    ),
    (Version::V3, b"\x82\x08\x00\x01\x00\x03a/#\x00", None),
    (Version::V3, b"\x82\x08\x00\x01\x00\x03a/+\x00", None),
    (Version::V5, b"\x82\x12\x00\x01\x00\x00\x0c$share/g/a/b\x00", None),
    (Version::V3, b"\x82\x06\x00\x01\x00\x01#\x00", Some(NOT_TO_SUBSCRIBE)),
    (Version::V3, b"\x82\x08\x00\x01\x00\x03+/b\x00", Some(NOT_TO_SUBSCRIBE)),
    // One of two is enough.
    (
        Version::V3,
        b"\x82\x0c\x00\x01\x00\x01b\x00\x00\x03a/b\x00",
        Some(NOT_TO_SUBSCRIBE),
    ),
    (
        Version::V5,
        b"\x82\x10\x00\x01\x00\x00\x0a$share/g/b\x00",
        Some(NOT_TO_SUBSCRIBE),
    ),
    // Leaving is free.
    (Version::V3, b"\xa2\x05\x00\x01\x00\x01b", None),
];

#[test]
fn topics_are_judged_however_packets_are_cut() {
    let list = |filters: &[&str]| Some(filters.iter().map(|&filter| filter.to_owned()).collect());
    let rules = crate::policy::TopicRules {
        publish: list(&["a/b", "{id}"]),
        subscribe: list(&["a/#"]),
    };
    let topics = rules.for_client(Some("s1")).map(Arc::new);
    for (version, packet, refused) in JUDGED {
        for piece in [1, 2, packet.len()] {
            let (mut guard, mut out) = (Guard::new(*version, 1 << 20).with_topics(topics.clone()), Vec::new());
            let judged = packet
                .chunks(piece)
                .try_for_each(|piece| guard.feed(piece, &mut out))
                .map_err(|violation| (violation.what, violation.code));
            match refused {
                None => assert_eq!((judged, out.as_slice()), (Ok(()), *packet), "{packet:02x?}"),
                Some(what) => {
                    assert_eq!(judged, Err((*what, ReasonCode::NotAuthorized)), "{packet:02x?}");
                    assert!(out.is_empty(), "nothing of it passes");
                    let name = guard.refused().expect("for the log");
                    assert!(packet.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_publish_streams_and_is_never_held_back_whole() {
    let (mut guard, mut out) = (Guard::new(Version::V3, 1 << 20), Vec::new());
    let body_len = 500_000_u32;
    let mut head = vec![0x30];
    head.extend([0xa0, 0xc2, 0x1e]); // 500,000
    head.extend(b"\x00\x01a");
    guard.feed(&head[..5], &mut out).unwrap();
    assert!(out.is_empty(), "the topic is not there yet");
    guard.feed(&head[5..], &mut out).unwrap();
    assert_eq!(out, head);
    out.clear();
    let mut sent = 3;
    while sent < body_len {
        let piece = vec![7; 10_000.min(body_len - sent) as usize];
        guard.feed(&piece, &mut out).unwrap();
        assert_eq!(out, piece, "passes at once");
        out.clear();
        sent += piece.len() as u32;
        assert!(guard.held.capacity() <= KEEP_HELD);
    }
    guard.feed(b"\xc0\x00", &mut out).unwrap();
    assert_eq!(out, b"\xc0\x00");
}

#[test]
fn sizes_are_bounded() {
    let mut guard = Guard::new(Version::V3, 1000);
    assert_eq!(
        guard.feed(b"\x30\xe9\x07", &mut Vec::new()).unwrap_err().code as u8,
        0x95,
        "1001 bytes"
    );
    let mut guard = Guard::new(Version::V3, 1 << 28);
    assert_eq!(
        guard.feed(b"\x82\x81\x80\x08", &mut Vec::new()).unwrap_err().code as u8,
        0x95,
        "SUBSCRIBE above 128 KiB"
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_stopped_or_passed_and_never_panic(
        stream in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        piece in 1_usize..50,
    ) {
        for version in [Version::V3, Version::V5] {
            if let Ok(passed) = run(version, &stream, piece) {
                assert!(stream.starts_with(&passed));
            }
        }
    }
}
