extern crate std;

use std::vec::Vec;

use super::*;

const PLACES: [Place; 9] = [
    Place::Connect,
    Place::Will,
    Place::Connack,
    Place::Publish,
    Place::Acknowledgement,
    Place::Subscribe,
    Place::Unsubscribe,
    Place::Disconnect,
    Place::Auth,
];

/// Table 2-4 of MQTT 5.0: identifier, a value, and the packets it may stand in, in the order of `PLACES`.
const TABLE: [(u8, &[u8], &str); 27] = [
    (0x01, b"\x01", ".w.p....."),
    (0x02, b"\0\0\0\x01", ".w.p....."),
    (0x03, b"\0\x01t", ".w.p....."),
    (0x08, b"\0\x01t", ".w.p....."),
    (0x09, b"\0\x02\xff\xfe", ".w.p....."),
    (0x0b, b"\x80\x01", "...p.s..."),
    (0x11, b"\0\0\0\0", "c.k....d."),
    (0x12, b"\0\x01i", "..k......"),
    (0x13, b"\0\x3c", "..k......"),
    (0x15, b"\0\x01m", "c.k.....a"),
    (0x16, b"\0\x01\xff", "c.k.....a"),
    (0x17, b"\0", "c........"),
    (0x18, b"\0\0\0\0", ".w......."),
    (0x19, b"\x01", "c........"),
    (0x1a, b"\0\0", "..k......"),
    (0x1c, b"\0\x01s", "..k....d."),
    (0x1f, b"\0\x01r", "..k.A..da"),
    (0x21, b"\0\x01", "c.k......"),
    (0x22, b"\0\0", "c.k......"),
    (0x23, b"\0\x01", "...p....."),
    (0x24, b"\x01", "..k......"),
    (0x25, b"\0", "..k......"),
    (0x26, b"\0\x01n\0\x01v", "cwkpAsuda"),
    (0x27, b"\0\0\0\x01", "c.k......"),
    (0x28, b"\0", "..k......"),
    (0x29, b"\0", "..k......"),
    (0x2a, b"\0", "..k......"),
];

fn wire(id: u8, value: &[u8]) -> Vec<u8> {
    [&[id][..], value].concat()
}

#[test]
fn each_property_only_in_its_places() {
    for (id, value, places) in TABLE {
        for (place, allowed) in PLACES.into_iter().zip(places.chars()) {
            let raw = wire(id, value);
            let checked = Properties::check(&raw, place);
            let expected = if allowed == '.' {
                Err(Malformed::Property)
            } else {
                Ok(Properties(&raw))
            };
            assert_eq!(checked, expected, "{id:#x} in {place:?}");
        }
    }
}

#[test]
fn only_user_property_and_publish_subscription_identifiers_repeat() {
    for (id, value, places) in TABLE {
        for (place, allowed) in PLACES.into_iter().zip(places.chars()) {
            let raw = wire(id, value).repeat(2);
            let may = allowed != '.' && (id == 0x26 || id == 0x0b && place == Place::Publish);
            assert_eq!(
                Properties::check(&raw, place).is_ok(),
                may,
                "{id:#x} twice in {place:?}"
            );
        }
    }
}

#[test]
fn identifiers_outside_the_table_are_refused() {
    for id in (0..=255).filter(|id| TABLE.iter().all(|(known, ..)| known != id)) {
        assert_eq!(
            Properties::check(&[id, 0, 0, 0, 0], Place::Connect),
            Err(Malformed::Property)
        );
    }
}

#[test]
fn values_that_the_standard_forbids_are_refused() {
    for (place, raw) in [
        (Place::Publish, &b"\x01\x02"[..]),
        (Place::Connect, b"\x17\x02"),
        (Place::Connect, b"\x19\x02"),
        (Place::Connack, b"\x24\x02"),
        (Place::Connack, b"\x25\x02"),
        (Place::Connack, b"\x28\x02"),
        (Place::Connack, b"\x29\x02"),
        (Place::Connack, b"\x2a\x02"),
        (Place::Connect, b"\x21\0\0"),
        (Place::Publish, b"\x23\0\0"),
        (Place::Subscribe, b"\x0b\0"),
        (Place::Connect, b"\x27\0\0\0\0"),
    ] {
        assert_eq!(Properties::check(raw, place), Err(Malformed::Value), "{raw:x?}");
    }
    assert_eq!(
        Properties::check(b"\x08\0\x03a/#", Place::Publish),
        Err(Malformed::Topic)
    );
}

#[test]
fn every_truncation_is_seen() {
    for (id, value, places) in TABLE {
        let place = PLACES[places.find(|c| c != '.').unwrap()];
        let raw = wire(id, value);
        for end in 1..raw.len() {
            assert_eq!(
                Properties::check(&raw[..end], place),
                Err(Malformed::Truncated),
                "{id:#x} cut at {end}"
            );
        }
    }
}

#[test]
fn iteration_gives_identifiers_values_and_bytes() {
    let raw: Vec<u8> = TABLE
        .iter()
        .filter(|(.., places)| places.contains('k'))
        .flat_map(|(id, value, _)| wire(*id, value))
        .collect();
    let properties = Properties::check(&raw, Place::Connack).unwrap();
    let mut bytes: Vec<u8> = Vec::new();
    let mut iter = properties.iter();
    while let Some((property, wire)) = iter.next_with_bytes() {
        assert_eq!(property.id(), wire[0]);
        bytes.extend(wire);
    }
    assert_eq!(bytes, raw);
    let found: Vec<_> = properties
        .into_iter()
        .filter(|p| matches!(p.id(), 0x13 | 0x16 | 0x26))
        .collect();
    assert_eq!(
        found,
        [
            Property::ServerKeepAlive(60),
            Property::AuthenticationData(b"\xff"),
            Property::UserProperty(("n", "v"))
        ]
    );
}

#[test]
fn built_properties_are_the_bytes_of_the_table() {
    for (id, value, places) in TABLE {
        let place = PLACES[places.find(|c| c != '.').unwrap()];
        let raw = wire(id, value);
        let property = Properties::check(&raw, place).unwrap().iter().next().unwrap();
        let mut buf = [0; 16];
        assert_eq!(Properties::build(&mut buf, place, &[property]).unwrap().as_bytes(), raw);
        let mut short = std::vec![0; raw.len() - 1];
        let needed = raw.len() as u16;
        assert_eq!(
            Properties::build(&mut short, place, &[property]),
            Err(Error::Buffer { needed })
        );
    }
    let misplaced = Properties::build(&mut [0; 16], Place::Will, &[Property::ReceiveMaximum(1)]).map(|_| ());
    assert_eq!(misplaced, Err(Malformed::Property.into()));
    let invalid = Properties::build(&mut [0; 16], Place::Connect, &[Property::ReceiveMaximum(0)]).map(|_| ());
    assert_eq!(invalid, Err(Malformed::Value.into()));
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic(raw: Vec<u8>, place in 0_usize..9) {
        if let Ok(properties) = Properties::check(&raw, PLACES[place]) {
            let mut iter = properties.iter();
            let total: usize = core::iter::from_fn(|| iter.next_with_bytes()).map(|(_, bytes)| bytes.len()).sum();
            assert_eq!(total, raw.len());
        }
    }
}
