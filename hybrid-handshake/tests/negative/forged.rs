//! Peers that hold every secret and break one rule: what the MACs cannot catch.

use ctru_light::{AsconXof, CtruLight};
use hybrid_handshake::{
    Error, Malformed,
    suite::{Mode, SuiteId},
};
use kyber::{MlKem512, MlKem768};

use crate::{
    straight::{Knobs, padded, straight},
    wire::{BROKER_SEED, World, answer_m1, answer_m2, first_flight, read_any_m1},
};

fn sensor() -> World {
    World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk)
}

fn host(mode: Mode) -> World {
    World::new(SuiteId::HOST_DEFAULT, mode)
}

/// What the broker says to a client that seals its M1 with these knobs.
fn m1(world: &World, knobs: Knobs) -> Result<(), Error> {
    let mut m1 = match world.suite {
        SuiteId::SENSOR_DEFAULT => straight::<CtruLight<AsconXof>, MlKem512>(world, &knobs),
        _ => straight::<MlKem768, MlKem512>(world, &knobs),
    };
    read_any_m1(world, &mut m1.flights[0]).map(|_| ())
}

/// What the client says to a broker that seals its M2 with these knobs.
fn m2(knobs: Knobs) -> Result<(), Error> {
    let world = sensor();
    let forged = straight::<CtruLight<AsconXof>, MlKem512>(&world, &knobs);
    let (_, mut await_m2, mut rng) = first_flight(&world);
    answer_m2(&world, &mut await_m2, &forged.flights[1], &mut rng).map(|_| ())
}

#[test]
fn an_honest_peer_passes() {
    assert_eq!(m1(&sensor(), Knobs::default()), Ok(()));
    assert_eq!(m1(&host(Mode::Anonymous), Knobs::default()), Ok(()));
    assert_eq!(m2(Knobs::default()), Ok(()));
}

#[test]
fn reserved_capability_bits() {
    for bit in 3..16 {
        assert_eq!(
            m1(
                &sensor(),
                Knobs {
                    m1_capabilities: Some(1 << bit),
                    ..Knobs::default()
                }
            ),
            Err(Error::Rejected)
        );
    }
}

#[test]
fn ids_that_are_none() {
    let id = |id: [u8; 32]| Knobs {
        m1_id: Some(id),
        ..Knobs::default()
    };
    let mut gap = padded(b"pump");
    gap[10] = b'7';
    for bad in [
        [0; 32],
        padded(b"pump 7"),
        padded(b"a/b"),
        padded(b"#"),
        padded(b"\xff"),
        gap,
    ] {
        assert_eq!(m1(&sensor(), id(bad)), Err(Error::Rejected));
        assert_eq!(m1(&host(Mode::Kem), id(bad)), Err(Error::Rejected));
    }
    assert_eq!(m1(&sensor(), id([b'x'; 32])), Ok(()));
    assert_eq!(
        m1(&host(Mode::Anonymous), id(padded(b"pump-7"))),
        Err(Error::Rejected),
        "anonymous with a name"
    );
}

#[test]
fn shares_without_a_secret() {
    let mut one = [0; 32];
    one[0] = 1;
    for share in [[0; 32], one] {
        let knobs = Knobs {
            m1_share: Some(share),
            ..Knobs::default()
        };
        assert_eq!(m1(&sensor(), knobs.clone()), Err(Error::Rejected), "P1");
        assert_eq!(m1(&host(Mode::Psk), knobs), Err(Error::Rejected), "P2");
        assert_eq!(
            m2(Knobs {
                m2_share: Some(share),
                ..Knobs::default()
            }),
            Err(Error::Rejected),
            "client"
        );
    }
}

#[test]
fn limits_and_options_of_m2() {
    let limits = |limits| Knobs {
        m2_limits: Some(limits),
        ..Knobs::default()
    };
    for bad in [(63, 16384), (16385, 16384), (16384, 1023), (16384, 61441)] {
        assert_eq!(m2(limits(bad)), Err(Error::Malformed(Malformed::Value)), "{bad:?}");
    }
    for good in [(64, 1024), (16384, 61440)] {
        assert_eq!(m2(limits(good)), Ok(()));
    }
    let options = |options| Knobs {
        m2_options: Some(options),
        ..Knobs::default()
    };
    assert_eq!(m2(options(8)), Err(Error::Malformed(Malformed::Reserved)));
    let mut world = sensor();
    world.capabilities = hybrid_handshake::message::Capabilities::TICKETS;
    let forged = straight::<CtruLight<AsconXof>, MlKem512>(&world, &options(3));
    let (_, mut await_m2, mut rng) = first_flight(&world);
    let refused = await_m2.read_m2(&forged.flights[1], &mut rng).err();
    assert_eq!(
        refused,
        Some(Error::Malformed(Malformed::Reserved)),
        "more than was offered"
    );
    assert!(await_m2.is_spent());
}

#[test]
fn a_key_with_a_coefficient_above_q() {
    assert_eq!(
        m2(Knobs {
            m2_ek: Some(vec![0xff; 10]),
            ..Knobs::default()
        }),
        Err(Error::Rejected)
    );
}

#[test]
fn connects_over_the_limit_and_empty_ones() {
    let mut world = sensor();
    world.broker_limits = hybrid_handshake::message::BrokerLimits::new(16384, 1024).unwrap();
    let m3 = |connect: Vec<u8>| {
        let knobs = Knobs {
            m3_connect: Some(connect),
            ..Knobs::default()
        };
        let mut forged = straight::<CtruLight<AsconXof>, MlKem512>(&world, &knobs);
        let (m2, await_m3) = answer_m1(&world, &forged.flights[0], &BROKER_SEED).unwrap();
        assert_eq!(m2, forged.flights[1]);
        await_m3
            .read_m3(&mut forged.flights[2])
            .map(|(connect, _)| connect.len())
    };
    assert_eq!(m3(vec![0x10; 1024]), Ok(1024));
    assert_eq!(m3(vec![0x10; 1025]), Err(Error::TooLarge { limit: 1024 }));
    assert_eq!(m3(vec![]), Err(Error::Malformed(Malformed::Length)));
}

#[test]
fn an_m4_around_nothing() {
    let world = sensor();
    let knobs = Knobs {
        m4_connack: Some(vec![]),
        ..Knobs::default()
    };
    let mut forged = straight::<CtruLight<AsconXof>, MlKem512>(&world, &knobs);
    let (_, mut await_m2, mut rng) = first_flight(&world);
    let (m3, await_m4) = answer_m2(&world, &mut await_m2, &forged.flights[1], &mut rng).unwrap();
    assert_eq!(m3, forged.flights[2]);
    assert_eq!(await_m4.read_m4(&mut forged.flights[3]).err(), Some(Error::Rejected));
}
