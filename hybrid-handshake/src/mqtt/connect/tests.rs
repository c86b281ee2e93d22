extern crate std;

use std::format;
use std::vec;
use std::vec::Vec;

use super::*;

/// MQTT 3.1.1 with everything: client id "c", will "w/t" QoS 1 retained, user "u", password 0xff.
const V3_1_1: &[u8] = b"\x10\x1c\0\x04MQTT\x04\xee\0\x3c\0\x01c\0\x03w/t\0\x02by\0\x01u\0\x01\xff";
/// The same in MQTT 5.0, with Session Expiry and, in the will, Will Delay.
const V5: &[u8] =
    b"\x10\x28\0\x04MQTT\x05\xee\0\x3c\x05\x11\0\0\0\x0a\0\x01c\x05\x18\0\0\0\x07\0\x03w/t\0\x02by\0\x01u\0\x01\xff";
/// MQTT 3.1: only a client id.
const V3_1: &[u8] = b"\x10\x0f\0\x06MQIsdp\x03\x02\0\x3c\0\x01c";

fn full(level: Level) -> Connect<'static> {
    let check = |raw, place| {
        if level.is_v5() {
            Properties::check(raw, place).unwrap()
        } else {
            Properties::EMPTY
        }
    };
    Connect {
        level,
        clean_start: true,
        keep_alive_s: 60,
        properties: check(b"\x11\0\0\0\x0a", Place::Connect),
        client_id: "c",
        will: Some(Will {
            qos: Qos::AtLeastOnce,
            retain: true,
            properties: check(b"\x18\0\0\0\x07", Place::Will),
            topic: "w/t",
            payload: b"by",
        }),
        user_name: Some("u"),
        password: Some(b"\xff"),
    }
}

fn written(connect: Connect<'_>) -> Result<Vec<u8>, Error> {
    let mut buf = vec![0; 512];
    let len = connect.write(&mut buf)?;
    buf.truncate(len);
    Ok(buf)
}

#[test]
fn all_three_levels_are_byte_exact() {
    for (wire, connect) in [
        (V3_1_1, full(Level::V3_1_1)),
        (V5, full(Level::V5)),
        (
            V3_1,
            Connect {
                keep_alive_s: 60,
                ..Connect::new(Level::V3_1, "c")
            },
        ),
    ] {
        assert_eq!(Connect::parse(wire), Ok(connect));
        assert_eq!(written(connect).unwrap(), wire);
        let needed = wire.len() as u16;
        assert_eq!(
            connect.write(&mut vec![0; wire.len() - 1]),
            Err(Error::Buffer { needed })
        );
    }
}

#[test]
fn identity_fields_are_replaced_and_removed() {
    let connect = Connect::parse(V5).unwrap();
    let id = "a-much-longer-client-id-".repeat(8);
    let rewritten = Connect {
        client_id: &id,
        user_name: Some("kem:c"),
        password: None,
        ..connect
    };
    let wire = written(rewritten).unwrap();
    assert_eq!(Connect::parse(&wire), Ok(rewritten));
    assert_eq!(rewritten.will, connect.will);
    let bare = Connect {
        client_id: "",
        will: None,
        user_name: None,
        password: None,
        ..connect
    };
    assert_eq!(
        written(bare).unwrap(),
        b"\x10\x12\0\x04MQTT\x05\x02\0\x3c\x05\x11\0\0\0\x0a\0\0"
    );
}

/// Fixes the Remaining Length of a short packet.
fn sized(mut packet: Vec<u8>) -> Vec<u8> {
    packet[1] = packet.len() as u8 - 2;
    packet
}

#[track_caller]
fn with_flags(wire: &[u8], flags: u8) -> Result<(), Error> {
    let at = wire.iter().rposition(|&b| b == 0x3c).unwrap() - 2;
    let mut packet = wire.to_vec();
    packet[at] = flags;
    Connect::parse(&packet).map(|_| ())
}

#[test]
fn every_combination_of_flags() {
    for level in [Level::V3_1, Level::V3_1_1, Level::V5] {
        for flags in 0..=255_u8 {
            let will = flags & 0x04 != 0;
            let name: &[u8] = if level == Level::V3_1 {
                b"\0\x06MQIsdp"
            } else {
                b"\0\x04MQTT"
            };
            let properties: &[u8] = if level.is_v5() { b"\0" } else { b"" };
            let mut packet = [
                &b"\x10\0"[..],
                name,
                &[level as u8, flags, 0, 0],
                properties,
                b"\0\x01c",
            ]
            .concat();
            if will {
                packet.extend_from_slice(properties);
                packet.extend_from_slice(b"\0\x01w\0\0");
            }
            packet.extend_from_slice(if flags & 0x80 != 0 { b"\0\x01u" } else { b"" });
            packet.extend_from_slice(if flags & 0x40 != 0 { b"\0\x01p" } else { b"" });
            let allowed = flags & 0x01 == 0
                && flags & 0x18 != 0x18
                && (will || flags & 0x38 == 0)
                && (level == Level::V5 || flags & 0xc0 != 0x40);
            let packet = sized(packet);
            let parsed = Connect::parse(&packet);
            assert_eq!(parsed.is_ok(), allowed, "{level:?} {flags:#x}");
            match parsed {
                Ok(connect) => assert_eq!(written(connect).unwrap(), packet),
                Err(error) => assert_eq!(error, Malformed::Reserved.into()),
            }
        }
    }
}

#[test]
fn a_field_that_a_flag_announces_has_to_be_there() {
    assert_eq!(with_flags(V3_1, 0x82), Err(Malformed::Truncated.into()));
    assert_eq!(with_flags(V3_1, 0x06), Err(Malformed::Truncated.into()));
    for wire in [V3_1_1, V5, V3_1] {
        for len in 12..wire.len() {
            let cut = sized(wire[..len].to_vec());
            assert!(Connect::parse(&cut).is_err(), "{len} bytes of {wire:x?}");
        }
        let longer = sized([wire, &[0]].concat());
        assert_eq!(Connect::parse(&longer), Err(Malformed::Trailing.into()));
    }
}

#[test]
fn strings_topics_and_properties_are_checked() {
    let swap = |from: &[u8], to: &[u8]| {
        let at = V5.windows(from.len()).position(|w| w == from).unwrap();
        let packet = sized([&V5[..at], to, &V5[at + from.len()..]].concat());
        Connect::parse(&packet).unwrap_err()
    };
    assert_eq!(swap(b"\0\x01c", b"\0\x01\xff"), Malformed::Utf8.into());
    assert_eq!(swap(b"\0\x01c", b"\0\x01\0"), Malformed::Utf8.into());
    assert_eq!(swap(b"\0\x01u", b"\0\x01\xff"), Malformed::Utf8.into());
    assert_eq!(swap(b"w/t", b"w/#"), Malformed::Topic.into());
    assert_eq!(swap(b"\0\x03w/t", b"\0\0"), Malformed::Topic.into());
    assert_eq!(swap(b"\x11\0\0\0\x0a", b"\x18\0\0\0\x0a"), Malformed::Property.into());
    assert_eq!(swap(b"\x18\0\0\0\x07", b"\x11\0\0\0\x07"), Malformed::Property.into());
    assert_eq!(
        swap(b"\x05\x11\0\0\0\x0a", b"\x0a\x11\0\0\0\x0a\x11\0\0\0\x0a"),
        Malformed::Property.into()
    );
    assert_eq!(
        swap(b"\x05\x11\0\0\0\x0a", b"\x04\x16\0\x01d"),
        Malformed::Missing.into()
    );
    assert_eq!(
        swap(b"\x05\x11\0\0\0\x0a", b"\x85\0\x11\0\0\0\x0a"),
        Malformed::Varint.into()
    );
}

#[test]
fn other_packets_and_levels_are_told_apart() {
    assert_eq!(Connect::parse(b"\xc0\0"), Err(Error::UnexpectedPacket));
    assert_eq!(Connect::parse(b"\x12\0"), Err(Malformed::Reserved.into()));
    for (name, level, answer) in [
        (&b"\0\x04MQTT"[..], 6, Level::V5),
        (b"\0\x04MQTT", 3, Level::V3_1_1),
        (b"\0\x04MQTT", 0x84, Level::V3_1_1),
        (b"\0\x06MQIsdp", 4, Level::V3_1_1),
        (b"\0\x06MQIsdp", 5, Level::V5),
        (b"\0\x04mqtt", 4, Level::V3_1_1),
    ] {
        let packet = sized([&b"\x10\0"[..], name, &[level], b"\x02\0\0\0\0"].concat());
        assert_eq!(Connect::parse(&packet), Err(Error::ProtocolVersion { level }));
        assert_eq!(Level::to_answer(&packet), answer);
    }
}

#[test]
fn a_broken_connect_is_answered_in_its_own_level() {
    for (packet, answer) in [
        (&V3_1_1[..V3_1_1.len() - 1], Level::V3_1_1),
        (&V3_1[..11], Level::V3_1),
        (&V5[..9], Level::V5),
        (b"\x10\x0c\0\x02\xff\xff\x04", Level::V5),
        (b"\x30\x03\0\x01a", Level::V5),
        (b"\x10", Level::V5),
        (b"", Level::V5),
    ] {
        assert_eq!(Level::to_answer(packet), answer, "{packet:x?}");
    }
}

#[test]
fn what_the_level_cannot_express_is_misuse() {
    let refused = |connect: Connect<'_>| assert_eq!(written(connect), Err(Error::Misuse));
    let v5 = full(Level::V5);
    refused(Connect {
        will: None,
        level: Level::V3_1_1,
        ..v5
    });
    refused(Connect {
        properties: Properties::EMPTY,
        level: Level::V3_1_1,
        ..v5
    });
    refused(Connect {
        user_name: None,
        ..full(Level::V3_1_1)
    });
    assert!(written(Connect { user_name: None, ..v5 }).is_ok());
    let will = Will {
        topic: "w/+",
        ..v5.will.unwrap()
    };
    refused(Connect { will: Some(will), ..v5 });
    let long = "x".repeat(65_536);
    let mut buf = vec![0; 70_000];
    assert_eq!(Connect { client_id: &long, ..v5 }.write(&mut buf), Err(Error::Misuse));
    refused(Connect {
        user_name: Some("a\0"),
        ..v5
    });
}

#[test]
fn debug_output_has_no_password() {
    let connect = Connect {
        password: Some(b"hunter2"),
        ..full(Level::V5)
    };
    let shown = format!("{connect:?}");
    assert!(
        shown.contains("user_name") && !shown.contains("password") && !shown.contains("104, 117"),
        "{shown}"
    );
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(mut packet: Vec<u8>, level in 3_u8..6) {
        let _ = Connect::parse(&packet);
        let _ = Level::to_answer(&packet);
        let head: &[u8] = if level == 3 { b"\x10\0\0\x06MQIsdp" } else { b"\x10\0\0\x04MQTT" };
        packet.truncate(100);
        let packet = sized([head, &[level], &packet].concat());
        if let Ok(connect) = Connect::parse(&packet) {
            assert_eq!(written(connect).unwrap(), packet);
        }
    }

    #[test]
    fn a_changed_byte_never_panics(which in 0_usize..3, at: proptest::sample::Index, mask in 1_u8..) {
        let mut packet = [V3_1, V3_1_1, V5][which].to_vec();
        let at = at.index(packet.len());
        packet[at] ^= mask;
        if let Ok(connect) = Connect::parse(&packet) {
            assert_eq!(written(connect).unwrap(), packet);
        }
    }
}
