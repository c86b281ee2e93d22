extern crate std;

use super::*;

const LEVELS: [Level; 3] = [Level::V3_1, Level::V3_1_1, Level::V5];

#[track_caller]
fn same_bytes(connack: Connack<'_>, level: Level, wire: &[u8]) {
    let mut buf = [0; 64];
    let len = connack.write(level, &mut buf).unwrap();
    assert_eq!(buf[..len], *wire);
    assert_eq!(Connack::parse(wire, level), Ok(connack));
}

#[test]
fn connacks_are_byte_exact() {
    let accepted = Connack {
        session_present: true,
        ..Connack::new(ReasonCode::Success)
    };
    same_bytes(accepted, Level::V5, &[0x20, 3, 1, 0, 0]);
    same_bytes(accepted, Level::V3_1_1, &[0x20, 2, 1, 0]);
    same_bytes(Connack::new(ReasonCode::Success), Level::V3_1, &[0x20, 2, 0, 0]);
    same_bytes(
        Connack::new(ReasonCode::NotAuthorized),
        Level::V5,
        &[0x20, 3, 0, 0x87, 0],
    );
    let properties = Properties::check(b"\x21\0\x0a", Place::Connack).unwrap();
    same_bytes(
        Connack { properties, ..accepted },
        Level::V5,
        b"\x20\x06\x01\0\x03\x21\0\x0a",
    );
}

/// The table of refusals inside M4.
#[test]
fn refusals_in_the_applications_level() {
    for (code, v5, v3) in [
        (ReasonCode::NotAuthorized, 0x87, 5),
        (ReasonCode::ClientIdentifierNotValid, 0x85, 2),
        (ReasonCode::ServerUnavailable, 0x88, 3),
        (ReasonCode::PacketTooLarge, 0x95, 3),
        (ReasonCode::MalformedPacket, 0x81, 5),
        (ReasonCode::UnsupportedProtocolVersion, 0x84, 1),
    ] {
        let mut buf = [0; 5];
        assert_eq!(Connack::new(code).write(Level::V5, &mut buf), Ok(5));
        assert_eq!(buf, [0x20, 3, 0, v5, 0]);
        for level in [Level::V3_1, Level::V3_1_1] {
            assert_eq!(Connack::new(code).write(level, &mut buf), Ok(4));
            assert_eq!(buf[..4], [0x20, 2, 0, v3]);
        }
        assert_eq!(
            Connack::new(code).write(Level::V5, &mut buf[..4]),
            Err(Error::Buffer { needed: 5 })
        );
    }
}

#[test]
fn the_22_codes_of_table_3_1() {
    let codes: std::vec::Vec<u8> = (0..=255)
        .filter(|&code| Connack::parse(&[0x20, 3, 0, code, 0], Level::V5).is_ok())
        .collect();
    let table = [
        0x00, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8c, 0x90, 0x95, 0x97, 0x99, 0x9a,
        0x9b, 0x9c, 0x9d, 0x9f,
    ];
    assert_eq!(codes, table);
    let mut buf = [0; 5];
    assert_eq!(
        Connack::new(ReasonCode::SessionTakenOver).write(Level::V5, &mut buf),
        Ok(5)
    );
    assert_eq!(buf, [0x20, 3, 0, 0x80, 0]);
}

#[test]
fn mqtt_3_1_has_no_session_present_and_3_1_1_no_properties() {
    let properties = Properties::check(b"\x21\0\x0a", Place::Connack).unwrap();
    let connack = Connack {
        session_present: true,
        properties,
        ..Connack::new(ReasonCode::Success)
    };
    let mut buf = [0; 8];
    assert_eq!(connack.write(Level::V3_1, &mut buf), Ok(4));
    assert_eq!(buf[..4], [0x20, 2, 0, 0]);
    assert_eq!(connack.write(Level::V3_1_1, &mut buf), Ok(4));
    assert_eq!(buf[..4], [0x20, 2, 1, 0]);
}

#[test]
fn what_tells_people_goes_when_room_is_short() {
    let raw = b"\x1f\0\x02ok\x12\0\x02id\x26\0\x01a\0\x01b\x13\0\x3c\x26\0\x01c\0\x01d";
    let properties = Properties::check(raw, Place::Connack).unwrap();
    let connack = Connack {
        session_present: true,
        properties,
        ..Connack::new(ReasonCode::Success)
    };
    let mut buf = [0; 64];
    let whole = connack.write(Level::V5, &mut buf).unwrap();
    assert_eq!(whole, 5 + raw.len());
    assert_eq!(connack.write_within(Level::V5, whole as u16, &mut buf), Ok(whole));

    let short = b"\x20\x0b\x01\0\x08\x12\0\x02id\x13\0\x3c";
    for limit in short.len()..whole {
        assert_eq!(connack.write_within(Level::V5, limit as u16, &mut buf), Ok(short.len()));
        assert_eq!(buf[..short.len()], *short);
    }
    assert_eq!(
        connack.write_within(Level::V5, 12, &mut buf),
        Err(Error::TooLarge { limit: 12 })
    );
    assert_eq!(
        connack.write_within(Level::V5, 13, &mut buf[..12]),
        Err(Error::Buffer { needed: 13 })
    );
    assert_eq!(connack.write_within(Level::V3_1_1, 4, &mut buf), Ok(4));
}

#[test]
fn broken_connacks_are_refused() {
    let malformed = |wire: &[u8], level, what: Malformed| {
        assert_eq!(
            Connack::parse(wire, level),
            Err(Error::Malformed(what)),
            "{wire:x?} {level:?}"
        );
    };
    for level in LEVELS {
        assert_eq!(Connack::parse(b"\xd0\0", level), Err(Error::UnexpectedPacket));
        malformed(b"\x20\x01\0", level, Malformed::Truncated);
        malformed(b"\x21\x02\0\0", level, Malformed::Reserved);
        malformed(b"\x20\x02\0\x7f", level, Malformed::Value);
    }
    malformed(b"\x20\x02\0\x06", Level::V3_1_1, Malformed::Value);
    malformed(b"\x20\x02\x02\0", Level::V3_1_1, Malformed::Reserved);
    malformed(b"\x20\x02\x01\x05", Level::V3_1_1, Malformed::Reserved);
    malformed(b"\x20\x03\0\0\0", Level::V3_1_1, Malformed::Trailing);
    malformed(b"\x20\x02\0\0", Level::V5, Malformed::Truncated);
    malformed(b"\x20\x03\0\x01\0", Level::V5, Malformed::Value);
    malformed(b"\x20\x03\0\x18\0", Level::V5, Malformed::Value);
    malformed(b"\x20\x03\x01\x87\0", Level::V5, Malformed::Reserved);
    malformed(b"\x20\x05\0\0\x02\x17\x01", Level::V5, Malformed::Property);
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(body in proptest::collection::vec(0_u8.., 0..60), level in 0_usize..3) {
        let wire = [&[0x20, body.len() as u8][..], &body].concat();
        if let Ok(connack) = Connack::parse(&wire, LEVELS[level]) {
            let mut buf = [0; 128];
            let len = connack.write(LEVELS[level], &mut buf).unwrap();
            assert_eq!(buf[..len], wire);
        }
    }
}
