//! Bytes on the wire and in memory.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    broker::AwaitM3,
    control::HEADER_LEN,
    message::{TICKET_LEN, m1_len, m2_len, m3_len, m4_len},
    mqtt::outer::{auth_len, connack_len, frame_connect},
    suite::{AnySuite, KemId, Mode, SuiteId},
};
use wire::all_suites;

/// CTRU-Light hybrid, ML-KEM-512 broker key, an inner CONNECT and CONNACK of 30 bytes together.
fn handshake_on_the_wire(mode: Mode) -> u32 {
    let suite = SuiteId::SENSOR_DEFAULT;
    let (connect, connack) = (25, 5);
    let m1 = m1_len(suite, mode, KemId::MlKem512) as u16;
    let mut packet = [0; 2000];
    let (_, m1_packet) = frame_connect(&mut packet, m1).unwrap();
    m1_packet as u32
        + auth_len(m2_len(suite, mode) as u16)
        + auth_len(m3_len(suite, connect) as u16)
        + connack_len(m4_len(connack) as u16)
}

#[test]
fn a_sensors_handshake() {
    // Header of a control message, lifetime, ticket, tag, header of a record.
    let ticket_record = (HEADER_LEN + 4 + TICKET_LEN + 16 + 3) as u32;
    assert_eq!(ticket_record, 150);
    assert_eq!(handshake_on_the_wire(Mode::Kem) + ticket_record, 2911);
    assert_eq!(handshake_on_the_wire(Mode::Psk) + ticket_record, 2399);
    assert_eq!(handshake_on_the_wire(Mode::Resume) + ticket_record, 1755);
}

#[test]
fn messages_of_the_default_suites() {
    let lens = |suite, mode, kem| (m1_len(suite, mode, kem), m2_len(suite, mode), m3_len(suite, 0));
    assert_eq!(
        lens(SuiteId::SENSOR_DEFAULT, Mode::Psk, KemId::MlKem512),
        (883, 718, 528)
    );
    assert_eq!(
        lens(SuiteId::SENSOR_DEFAULT, Mode::Kem, KemId::MlKem512),
        (883, 1230, 528)
    );
    assert_eq!(
        lens(SuiteId::SENSOR_DEFAULT, Mode::Resume, KemId::MlKem512),
        (239, 718, 528)
    );
    assert_eq!(
        lens(SuiteId::HOST_DEFAULT, Mode::Psk, KemId::MlKem768),
        (1203, 1262, 1104)
    );
    assert_eq!(
        lens(SuiteId::HOST_DEFAULT, Mode::Anonymous, KemId::MlKem1024),
        (1683, 1262, 1104)
    );
}

/// A half-open connection of a broker: its state and the M2 that may still be going out in pieces. M3 has its own budget.
/// `--nocapture` shows the figures.
#[test]
fn a_half_open_connection_stays_within_4_kb() {
    let state = size_of::<AwaitM3<AnySuite>>();
    for suite in all_suites() {
        for mode in [Mode::Kem, Mode::Psk, Mode::Anonymous, Mode::Resume] {
            let bytes = state + m2_len(suite, mode);
            println!("{suite} {mode:?}: state {state}, with M2 {bytes}");
            assert!(bytes <= 4096, "{suite} {mode:?}: {bytes}");
        }
    }
}
