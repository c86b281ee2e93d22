//! Who is enrolled stays unknown to those who cannot prove to be it: an unknown id, one of another kind or suite, a wrong secret and
//! a revoked device look the same in bytes, codes and number of messages, and the broker does the same work in the same order.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/recording.rs"]
mod recording;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    broker::{AwaitM1, Enrolled, M2Params},
    drbg::Drbg,
    identity::Psk,
    message::M1Header,
    mqtt::ReasonCode,
    suite::{KemId, Mode, SuiteId},
};
use recording::{Recording, recorded};
use wire::{BROKER_SEED, KeyPair, NOW, World, answer_m2, first_flight};

/// What a prober gets to see, and what the broker did.
#[derive(Debug, PartialEq, Eq)]
struct Probe {
    m2_len: usize,
    /// M2 up to the ephemeral key: nonce aside, nothing in it may depend on the id.
    m2_fixed: Vec<u8>,
    answer_to_m3: ReasonCode,
    work_for_m1: Vec<String>,
    work_for_m2: Vec<String>,
    work_for_m3: Vec<String>,
}

/// A client that knows the broker key and an id, and answers M2 as well as it can: `m3` of the right length.
fn probe(world: &World, params: &M2Params<'_>) -> Probe {
    let (mut m1, ..) = first_flight(world);
    let suite = Recording(world.any_suite());
    let header = M1Header::parse(&m1).unwrap();
    let secret = world.broker.broker_secret();
    let ((_, send_m2), work_for_m1) = recorded(|| {
        AwaitM1::new(suite, &header, secret)
            .unwrap()
            .read_m1(&mut m1, None, NOW)
            .unwrap()
    });
    let mut m2 = vec![0; 6000];
    let mut drbg = Drbg::broker(&BROKER_SEED);
    let ((m2_len, await_m3), work_for_m2) = recorded(|| send_m2.write_m2(params, &mut drbg, &mut m2).unwrap());
    let mut m3 = vec![0x5a; world.suite.kem().ct_len() + 30 + 16];
    let (refused, work_for_m3) = recorded(|| await_m3.read_m3(&mut m3).err().unwrap());
    Probe {
        m2_len,
        m2_fixed: m2[..30].to_vec(),
        answer_to_m3: refused.reason(),
        work_for_m1,
        work_for_m2,
        work_for_m3,
    }
}

#[test]
fn ids_that_do_not_fit_look_like_a_wrong_secret() {
    for suite in [0x1011, 0x0222, 0x1222].map(|code| SuiteId::from_code(code).unwrap()) {
        for mode in [Mode::Psk, Mode::Kem] {
            let world = World::new(suite, mode);
            let (psk, device) = (Psk::from_bytes([0x77; 32]), KeyPair::new(suite.kem(), suite, 77));
            // Enrolled for another suite than the client asks for.
            let other_suite = KeyPair::new(KemId::MlKem1024, suite, 78);
            let (wrong_secret, others) = match mode {
                Mode::Psk => (
                    Enrolled::Psk(&psk),
                    [Enrolled::Unknown, Enrolled::Kem(device.public()), Enrolled::Unknown],
                ),
                _ => (
                    Enrolled::Kem(device.public()),
                    [
                        Enrolled::Unknown,
                        Enrolled::Psk(&psk),
                        Enrolled::Kem(other_suite.public()),
                    ],
                ),
            };
            let probe = |enrolled| {
                probe(
                    &world,
                    &M2Params {
                        enrolled,
                        ..world.m2_params()
                    },
                )
            };
            let expected = probe(wrong_secret);
            assert_eq!(expected.answer_to_m3, ReasonCode::NotAuthorized);
            for enrolled in others {
                assert_eq!(probe(enrolled), expected, "{suite} {mode:?}");
            }
            // The right one, which a revoked device has too: whoever cannot use it sees no difference.
            assert_eq!(probe(world.m2_params().enrolled), expected, "{suite} {mode:?}");
        }
    }
}

/// A revoked device is refused inside M4, so its handshake is that of any other device.
#[test]
fn a_device_with_its_credential_gets_as_far_as_m4() {
    for mode in [Mode::Psk, Mode::Kem] {
        let world = World::new(SuiteId::SENSOR_DEFAULT, mode);
        let (m1, mut await_m2, mut rng) = first_flight(&world);
        let (m2, await_m3) = wire::answer_m1(&world, &m1, &BROKER_SEED).unwrap();
        let (mut m3, _) = answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap();
        let (_, send_m4) = await_m3.read_m3(&mut m3).unwrap();
        // Not authorized, MQTT 5.0.
        assert!(send_m4.write_m4(b"\x20\x03\x00\x87\x00", &mut [0; 100]).is_ok());
    }
}

/// The record of work tells something: modes and suites differ in it.
#[test]
fn the_record_sees_what_is_done() {
    let work = |code, mode| {
        let world = World::new(SuiteId::from_code(code).unwrap(), mode);
        let seen = probe(&world, &world.m2_params());
        [seen.work_for_m1, seen.work_for_m2, seen.work_for_m3]
    };
    let [m1, m2, m3] = work(0x1011, Mode::Psk);
    assert_eq!(m1, ["open 34", "check"]);
    assert_eq!(m2, ["draw", "share", "offer", "seal 0"]);
    assert_eq!(m3, ["accept", "agree", "open 30"]);
    let [_, m2, _] = work(0x1011, Mode::Kem);
    assert_eq!(m2, ["agree", "draw", "share", "offer", "encaps", "seal 0"]);
    assert_eq!(work(0x0222, Mode::Psk)[0], ["agree", "open 34", "check"]);
}
