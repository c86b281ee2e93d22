extern crate std;

use hex::encode;

use super::*;
use crate::{drbg::Drbg, identity::Kid};

const KID: Kid = [0, 1, 2, 3, 4, 5, 6, 7];
const FULL: u64 = 1_788_000_000;

fn resumption() -> Resumption {
    Resumption {
        suite: SuiteId::SENSOR_DEFAULT,
        mode: Mode::Psk,
        device: Some(DeviceId::new("pump-7").unwrap()),
        generation: 3,
        issued: FULL + 100,
        full_handshake: FULL,
        resumptions: 5,
    }
}

fn keys(current: u8, previous: Option<u8>) -> TicketKeys {
    TicketKeys::new(
        TicketKey::from_bytes([current; 32]),
        previous.map(|byte| TicketKey::from_bytes([byte; 32])),
    )
}

fn seal(keys: &TicketKeys, resumption: &Resumption) -> [u8; TICKET_LEN] {
    let mut ticket = [0; TICKET_LEN];
    let rms = Rms::from_bytes([0x99; 32]);
    keys.seal(&KID, resumption, &rms, &mut Drbg::broker(&[7; 32]), &mut ticket)
        .unwrap();
    ticket
}

fn open(keys: &TicketKeys, ticket: &[u8; TICKET_LEN], now: u64) -> Result<Resumption, Error> {
    keys.open(&KID, ticket, SuiteId::SENSOR_DEFAULT, now)
        .map(|(resumption, rms)| {
            assert_eq!(rms.expose(), &[0x99; 32]);
            resumption
        })
}

/// Expected bytes: Python's hashlib, hmac and cryptography.
#[test]
fn a_ticket_has_the_bytes_of_the_protocol() {
    let ticket = seal(&keys(0x77, None), &resumption());
    assert_eq!(
        encode(ticket),
        concat!(
            "30f3f5b978df5e89ed9128274043e71b9648f2ff7395c85d47aee2a8aa8ecf14e83a85852ec56eb39e3619b17774be333ab8c50feded7755",
            "3c2933aeb598bf63081164cbdb16f76ea23948d3106d7662bdedc4048de6bbe62d5b12e64953bc12b45ccfc2341b11a440880acba8ee27a0",
            "b604cb2763f5c10fbc3c8e0b"
        )
    );
    assert_eq!(open(&keys(0x77, None), &ticket, FULL + 200), Ok(resumption()));
}

#[test]
fn the_key_before_still_opens_and_the_one_before_that_does_not() {
    let ticket = seal(&keys(0x77, None), &resumption());
    assert_eq!(open(&keys(0x78, Some(0x77)), &ticket, FULL), Ok(resumption()));
    assert_eq!(open(&keys(0x79, Some(0x78)), &ticket, FULL), Err(Error::Rejected));
}

#[test]
fn every_changed_bit_is_refused() {
    let keys = keys(0x77, None);
    let ticket = seal(&keys, &resumption());
    for bit in 0..8 * TICKET_LEN {
        let mut changed = ticket;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&keys, &changed, FULL), Err(Error::Rejected), "bit {bit}");
    }
}

#[test]
fn a_ticket_is_bound_to_realm_and_suite() {
    let keys = keys(0x77, None);
    let ticket = seal(&keys, &resumption());
    let other = SuiteId::from_code(0x1012).unwrap();
    assert_eq!(keys.open(&KID, &ticket, other, FULL).err(), Some(Error::Rejected));
    assert_eq!(
        keys.open(&[9; 8], &ticket, SuiteId::SENSOR_DEFAULT, FULL).err(),
        Some(Error::Rejected)
    );
}

#[test]
fn age_and_number_of_resumptions_have_limits() {
    let keys = keys(0x77, None);
    let ticket = seal(&keys, &resumption());
    assert!(open(&keys, &ticket, FULL + 86_400).is_ok());
    assert_eq!(open(&keys, &ticket, FULL + 86_401), Err(Error::Rejected));
    assert!(
        open(&keys, &ticket, FULL - 5).is_ok(),
        "the clocks of two gateways differ"
    );
    let after = |resumptions| Resumption {
        resumptions,
        ..resumption()
    };
    assert!(open(&keys, &seal(&keys, &after(15)), FULL).is_ok());
    assert_eq!(open(&keys, &seal(&keys, &after(16)), FULL), Err(Error::Rejected));
}

#[test]
fn contents_that_no_broker_writes_are_refused() {
    let keys = keys(0x77, None);
    for bad in [
        Resumption {
            mode: Mode::Resume,
            ..resumption()
        },
        Resumption {
            device: None,
            ..resumption()
        },
        Resumption {
            mode: Mode::Anonymous,
            ..resumption()
        },
    ] {
        assert_eq!(open(&keys, &seal(&keys, &bad), FULL), Err(Error::Rejected), "{bad:?}");
    }
    let anonymous = Resumption {
        mode: Mode::Anonymous,
        device: None,
        generation: 0,
        ..resumption()
    };
    assert_eq!(open(&keys, &seal(&keys, &anonymous), FULL), Ok(anonymous));
}

#[test]
fn a_line_of_tickets_ages_from_its_full_handshake() {
    let mut claim = Claim {
        suite: SuiteId::SENSOR_DEFAULT,
        mode: Mode::Psk,
        device: resumption().device,
        capabilities: crate::message::Capabilities::ALL,
        resumed: None,
    };
    let mut ticket = Resumption::after(&claim, 3, FULL);
    assert_eq!(ticket.lifetime_s(FULL), 86_400);
    for resumptions in 0..=16 {
        let issued = FULL + 60 * u64::from(resumptions);
        assert_eq!(
            ticket,
            Resumption {
                resumptions,
                issued,
                ..resumption()
            }
        );
        let left = if resumptions < 16 {
            86_400 - 60 * u32::from(resumptions)
        } else {
            0
        };
        assert_eq!(ticket.lifetime_s(issued), left);
        claim = Claim {
            mode: Mode::Resume,
            resumed: Some(ticket),
            ..claim
        };
        ticket = Resumption::after(&claim, 3, issued + 60);
    }
}

#[test]
fn a_client_gives_a_dead_ticket_two_attempts() {
    let mut way_out = WayOut::default();
    assert!(way_out.allows_ticket());
    way_out.ticket_failed();
    assert!(way_out.allows_ticket());
    way_out.ticket_failed();
    assert!(!way_out.allows_ticket());
    way_out.m4_opened();
    assert!(way_out.allows_ticket());
}
