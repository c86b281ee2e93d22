//! Bytes changed, cut, added, repeated or moved between two honest sides.

use hybrid_handshake::{
    Error, Malformed,
    suite::{Mode, SuiteId},
};

use crate::wire::{Failure, Step, World, answer_m1, answer_m2, first_flight, read_any_m1};

fn worlds() -> [World; 3] {
    [
        World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk),
        World::new(SuiteId::HOST_DEFAULT, Mode::Kem),
        World::new(SuiteId::HOST_DEFAULT, Mode::Anonymous),
    ]
}

fn flip(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= if at.is_multiple_of(2) { 1 } else { 0x80 };
    flipped
}

#[test]
fn any_changed_byte_of_m1_is_refused() {
    for world in worlds() {
        let (m1, ..) = first_flight(&world);
        for at in 0..m1.len() {
            let expected: &[Error] = match at {
                0 | 3 | 9..17 => &[Error::Unsupported],
                // Another suite may be known, of another length, or of the same.
                1 | 2 => &[Error::Unsupported, Error::Malformed(Malformed::Length), Error::Rejected],
                4 => &[Error::Malformed(Malformed::Reserved)],
                5..9 => &[Error::Malformed(Malformed::Value), Error::Rejected],
                _ => &[Error::Rejected],
            };
            let refused = read_any_m1(&world, &mut flip(&m1, at)).err();
            assert!(
                refused.is_some_and(|error| expected.contains(&error)),
                "byte {at}: {refused:?}"
            );
        }
    }
}

#[test]
fn any_changed_byte_of_m2_is_refused_and_burns_nothing() {
    for world in worlds() {
        let (m1, mut await_m2, mut rng) = first_flight(&world);
        let (m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        for at in 0..m2.len() {
            assert_eq!(
                await_m2.read_m2(&flip(&m2, at), &mut rng).err(),
                Some(Error::Rejected),
                "byte {at}"
            );
        }
        assert!(answer_m2(&world, &mut await_m2, &m2, &mut rng).is_ok());
    }
}

#[test]
fn any_changed_byte_of_m3_is_refused() {
    for (world, step) in worlds().into_iter().zip([1, 11, 13]) {
        let (m1, mut await_m2, mut rng) = first_flight(&world);
        let (m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        let (m3, _) = answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap();
        for at in (0..m3.len()).step_by(step) {
            let (_, await_m3) = answer_m1(&world, &m1, &[1; 32]).unwrap();
            assert_eq!(
                await_m3.read_m3(&mut flip(&m3, at)).err(),
                Some(Error::Rejected),
                "byte {at}"
            );
        }
    }
}

/// NTRU+ rejects a forged ciphertext itself; nobody may see where.
#[cfg(feature = "ntru-plus")]
#[test]
fn a_ciphertext_that_the_kem_rejects_fails_at_the_box() {
    let world = World::new(SuiteId::from_code(0x1222).unwrap(), Mode::Kem);
    for step in [Step::M2, Step::M3] {
        let bent = world.run_bent(&mut |at, bytes| {
            if at == step && at == Step::M3 {
                bytes[..1152].fill(0);
            } else if at == step {
                bytes[62..][..1152].fill(0);
            }
        });
        assert_eq!(
            bent.err(),
            Some(Failure {
                step,
                error: Error::Rejected
            })
        );
    }
}

#[test]
fn any_changed_byte_of_m4_is_refused() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    for at in 0..world.run().unwrap().flights[3].len() {
        let bent = world.run_bent(&mut |step, bytes| {
            if step == Step::M4 {
                *bytes = flip(bytes, at);
            }
        });
        assert_eq!(
            bent.err(),
            Some(Failure {
                step: Step::M4,
                error: Error::Rejected
            }),
            "byte {at}"
        );
    }
}

#[test]
fn a_message_of_another_length_is_refused() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (m1, mut await_m2, mut rng) = first_flight(&world);
    for len in 0..m1.len() {
        let refused = read_any_m1(&world, &mut m1[..len].to_vec()).err();
        let why = if len < 17 {
            Malformed::Truncated
        } else {
            Malformed::Length
        };
        assert_eq!(refused, Some(Error::Malformed(why)), "M1 of {len}");
    }
    let longer = |bytes: &[u8]| [bytes, &[0]].concat();
    assert_eq!(
        read_any_m1(&world, &mut longer(&m1)).err(),
        Some(Malformed::Length.into())
    );

    let (m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
    for len in 0..m2.len() {
        assert_eq!(
            await_m2.read_m2(&m2[..len], &mut rng).err(),
            Some(Malformed::Length.into()),
            "M2 of {len}"
        );
    }
    assert_eq!(
        await_m2.read_m2(&longer(&m2), &mut rng).err(),
        Some(Malformed::Length.into())
    );
    let (m3, _) = answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap();

    // Up to 512 bytes of ct_v and a tag there is no CONNECT at all; behind that, only the MAC can tell.
    for (len, error) in [
        (0, Malformed::Length.into()),
        (511, Malformed::Length.into()),
        (512 + 15, Malformed::Length.into()),
        (512 + 16, Malformed::Length.into()),
        (512 + 17, Error::Rejected),
        (m3.len() - 1, Error::Rejected),
        (m3.len() + 1, Error::Rejected),
        (512 + 16384 + 16, Error::Rejected),
        (512 + 16385 + 16, Error::TooLarge { limit: 16384 }),
    ] {
        let (_, await_m3) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        let mut bent = m3.clone();
        bent.resize(len, 0);
        assert_eq!(await_m3.read_m3(&mut bent).err(), Some(error), "M3 of {len}");
    }
    for (len, error) in [
        (0, Malformed::Truncated.into()),
        (15, Malformed::Truncated.into()),
        (16, Error::Rejected),
    ] {
        let bent = world.run_bent(&mut |step, bytes| {
            if step == Step::M4 {
                bytes.truncate(len);
            }
        });
        assert_eq!(bent.err(), Some(Failure { step: Step::M4, error }), "M4 of {len}");
    }
}

#[test]
fn messages_of_other_sessions_are_refused() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (m1, mut await_m2, mut rng) = first_flight(&world);
    let (old_m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
    let (old_m3, _) = answer_m2(&world, &mut await_m2, &old_m2, &mut rng).unwrap();

    // A replayed M1 gets an M2, but a fresh one, for which the old M3 is worthless.
    let (new_m2, await_m3) = answer_m1(&world, &m1, &[2; 32]).unwrap();
    assert_ne!(new_m2, old_m2);
    assert_eq!(await_m3.read_m3(&mut old_m3.clone()).err(), Some(Error::Rejected));

    // The old M2 does not answer a new M1.
    let config = world.config();
    let mut fresh = hybrid_handshake::drbg::Drbg::broker(&[3; 32]);
    let start = hybrid_handshake::client::Start::new(world.any_suite(), &config).unwrap();
    let (_, mut await_m2) = start.write_m1(&mut fresh, &mut [0; 4000]).unwrap();
    assert_eq!(await_m2.read_m2(&old_m2, &mut fresh).err(), Some(Error::Rejected));

    let m4 = world.run().unwrap().flights[3].clone();
    let mut other = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    other.capabilities = hybrid_handshake::message::Capabilities::NONE;
    let bent = other.run_bent(&mut |step, bytes| {
        if step == Step::M4 {
            bytes.clone_from(&m4);
        }
    });
    assert_eq!(
        bent.err(),
        Some(Failure {
            step: Step::M4,
            error: Error::Rejected
        })
    );
}

#[test]
fn messages_out_of_order_are_refused() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let done = world.run().unwrap();
    for swap in [Step::M2, Step::M3, Step::M4] {
        for other in &done.flights {
            let bent = world.run_bent(&mut |step, bytes| {
                if step == swap && bytes != other {
                    bytes.clone_from(other);
                } else if step == swap {
                    bytes.push(0);
                }
            });
            assert_eq!(bent.map(|_| ()).unwrap_err().step, swap);
        }
    }
}
