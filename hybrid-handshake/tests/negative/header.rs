//! M1's header: each check, and their order.

use hybrid_handshake::{
    Error, Malformed,
    suite::{Mode, SuiteId},
};

use crate::wire::{World, first_flight, read_any_m1};

/// The bytes to change, with the error that comes before all later ones.
const CHECKS: [(&str, usize, &[u8], Error); 9] = [
    ("version", 0, &[2], Error::Unsupported),
    ("suite", 1, &[0x77], Error::Unsupported),
    ("mode 0", 3, &[0], Error::Unsupported),
    ("mode 5", 3, &[5], Error::Unsupported),
    ("mode 3 in P1", 3, &[3], Error::Unsupported),
    ("kid", 9, &[0xaa, 0xaa], Error::Unsupported),
    ("flags", 4, &[1], Error::Malformed(Malformed::Reserved)),
    ("record limit", 5, &[0, 63], Error::Malformed(Malformed::Value)),
    ("packet limit", 7, &[0, 127], Error::Malformed(Malformed::Value)),
];

#[test]
fn every_check_has_its_error_and_its_place() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (good, ..) = first_flight(&world);
    for (first, &(what, at, bytes, error)) in CHECKS.iter().enumerate() {
        let mut m1 = good.clone();
        m1[at..][..bytes.len()].copy_from_slice(bytes);
        assert_eq!(read_any_m1(&world, &mut m1.clone()).err(), Some(error), "{what}");
        for &(later, at, bytes, _) in &CHECKS[first + 1..] {
            let mut both = m1.clone();
            if both[at..][..bytes.len()] == good[at..][..bytes.len()] {
                both[at..][..bytes.len()].copy_from_slice(bytes);
            }
            assert_eq!(
                read_any_m1(&world, &mut both).err(),
                Some(error),
                "{what} before {later}"
            );
        }
    }
}

#[test]
fn length_comes_after_the_key_and_before_flags() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (mut m1, ..) = first_flight(&world);
    m1.push(0);
    m1[4] = 1;
    assert_eq!(
        read_any_m1(&world, &mut m1.clone()).err(),
        Some(Malformed::Length.into())
    );
    m1[9] ^= 1;
    assert_eq!(read_any_m1(&world, &mut m1).err(), Some(Error::Unsupported));
}

#[test]
fn limits_have_a_highest_value_too() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (good, ..) = first_flight(&world);
    for at in [5, 7] {
        for (value, error) in [(16384_u16, Error::Rejected), (16385, Malformed::Value.into())] {
            let mut m1 = good.clone();
            m1[at..][..2].copy_from_slice(&value.to_be_bytes());
            // Rejected: box1 has been sealed for other bytes. At 16384 nothing has changed.
            let expected = if m1 == good { None } else { Some(error) };
            assert_eq!(read_any_m1(&world, &mut m1).err(), expected, "{at} {value}");
        }
    }
}

#[cfg(feature = "p256")]
#[test]
fn a_key_of_another_group_counts_as_unknown() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (mut m1, ..) = first_flight(&world);
    // The same suite with P-256, and M1 of the right length for it.
    m1[2] = 0x51;
    m1.extend([0; 33]);
    assert_eq!(read_any_m1(&world, &mut m1).err(), Some(Error::Unsupported));
}

#[cfg(not(feature = "lab"))]
#[test]
fn profile_0_is_unknown_without_the_lab() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (mut m1, ..) = first_flight(&world);
    m1[2] = 0x01;
    assert_eq!(read_any_m1(&world, &mut m1).err(), Some(Error::Unsupported));
}
