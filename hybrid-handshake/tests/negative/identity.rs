//! Wrong keys, unknown names, and callers that ask for what is not allowed.

use hybrid_handshake::{
    Error,
    client::{Credential, Start},
    identity::{DeviceId, Psk},
    suite::{AnySuite, KemId, Mode, SuiteId},
};

use crate::wire::{Failure, KeyPair, Registry, Step, World, answer_m1, answer_m2, first_flight};

const REFUSED_AT_M2: Option<Failure> = Some(Failure {
    step: Step::M2,
    error: Error::Rejected,
});

#[test]
fn an_unknown_id_looks_like_a_wrong_psk() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (m1, ..) = first_flight(&world);
    let mut answers = Vec::new();
    let device = KeyPair::new(KemId::CtruLight, world.suite, 8);
    for registry in [
        Registry::Psk(Psk::from_bytes([9; 32])),
        Registry::Unknown,
        Registry::Kem(device),
    ] {
        world.registry = registry;
        assert_eq!(world.run().err(), REFUSED_AT_M2, "a client cannot open box2");
        let (m2, await_m3) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        let refused = await_m3.read_m3(&mut [7; 512 + 60]).err();
        assert_eq!(refused, Some(Error::Rejected), "nor can an attacker make box3");
        let (before_box, box2) = m2.split_at(m2.len() - 16);
        answers.push((before_box.to_vec(), box2.to_vec()));
    }
    let [wrong, unknown, other_kind] = &answers[..] else {
        unreachable!()
    };
    assert_eq!(wrong.0, unknown.0, "not even a byte before box2 tells");
    assert_eq!(unknown, other_kind);
    assert_ne!(wrong.1, unknown.1);
}

#[test]
fn an_unknown_id_looks_like_a_wrong_device_key() {
    let mut world = World::new(SuiteId::HOST_DEFAULT, Mode::Kem);
    let (m1, ..) = first_flight(&world);
    let other_suite = SuiteId::from_code(0x1022).unwrap();
    for registry in [
        Registry::Kem(KeyPair::new(KemId::MlKem768, world.suite, 8)),
        Registry::Unknown,
        Registry::Psk(Psk::from_bytes([9; 32])),
        Registry::Kem(KeyPair::new(KemId::CtruLight, other_suite, 8)),
    ] {
        world.registry = registry;
        assert_eq!(world.run().err(), REFUSED_AT_M2);
        let (m2, await_m3) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        assert_eq!(m2.len(), world_m2_len(&world));
        assert_eq!(await_m3.read_m3(&mut [7; 1088 + 60]).err(), Some(Error::Rejected));
    }
}

fn world_m2_len(world: &World) -> usize {
    hybrid_handshake::message::m2_len(world.suite, world.mode)
}

#[test]
fn the_same_unknown_id_gets_the_same_decoy() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.registry = Registry::Unknown;
    let (m1, ..) = first_flight(&world);
    let answer = |world: &World| answer_m1(world, &m1, &[1; 32]).unwrap().0;
    assert_eq!(answer(&world), answer(&world));
}

/// Whoever holds the realm's decoy secret can open box2, and still gets no further.
#[test]
fn a_decoy_never_completes() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.registry = Registry::Unknown;
    world.psk = Psk::from_bytes(crate::straight::hmac(
        world.decoy.expose(),
        &[b"HKM1 decoy", &crate::straight::padded(b"pump-7")],
    ));
    assert_eq!(
        world.run().err(),
        Some(Failure {
            step: Step::M3,
            error: Error::Rejected
        })
    );
}

#[test]
fn another_pinned_key() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.pinned = Some(KeyPair::new(KemId::MlKem512, world.suite, 77));
    let refused = Some(Failure {
        step: Step::M1,
        error: Error::Unsupported,
    });
    assert_eq!(world.run().err(), refused, "the broker has no such kid");
    let kid = world.broker.broker_key().kid();
    let bent = world.run_bent(&mut |step, bytes| {
        if step == Step::M1 {
            bytes[9..17].copy_from_slice(&kid);
        }
    });
    assert_eq!(
        bent.err(),
        Some(Failure {
            step: Step::M1,
            error: Error::Rejected
        })
    );
}

#[test]
fn a_broker_without_the_pinned_secret_cannot_answer() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let (_, mut await_m2, mut rng) = first_flight(&world);
    let mut impostor = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    impostor.broker = KeyPair::new(KemId::MlKem512, world.suite, 78);
    let m2 = &impostor.run().unwrap().flights[1];
    assert_eq!(
        answer_m2(&world, &mut await_m2, m2, &mut rng).err(),
        Some(Error::Rejected)
    );
}

#[test]
fn callers_are_told_before_anything_is_sent() {
    let world = World::new(SuiteId::HOST_DEFAULT, Mode::Psk);
    let suite = |code| AnySuite::new(SuiteId::from_code(code).unwrap()).unwrap();
    let start = |code, config: &_| Start::new(suite(code), config).map(|_| ()).err();
    let mut config = world.config();
    config.floor = Some(SuiteId::HOST_DEFAULT);
    assert_eq!(start(0x0222, &config), None);
    assert_eq!(start(0x0322, &config), None);
    for below in [0x0122, 0x0212, 0x1022] {
        assert_eq!(start(below, &config), Some(Error::Misuse), "{below:04x}");
    }
    config.floor = None;
    config.credential = Credential::Anonymous;
    assert_eq!(
        start(0x0212, &config),
        Some(Error::Unsupported),
        "no anonymous client in P1"
    );
    config.credential = Credential::Kem {
        id: &world.id,
        secret: world.device.device_secret(),
    };
    assert_eq!(start(0x0222, &config), None);
    assert_eq!(
        start(0x0122, &config),
        Some(Error::Misuse),
        "the device key is of ML-KEM-768"
    );
    #[cfg(feature = "p256")]
    {
        config.credential = world.credential();
        assert_eq!(
            start(0x0262, &config),
            Some(Error::Unsupported),
            "the broker key is of X25519"
        );
    }
}

#[test]
fn buffers_and_arguments_of_the_caller() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let config = world.config();
    let (m1, mut await_m2, mut rng) = first_flight(&world);
    let start = Start::new(world.any_suite(), &config).unwrap();
    let needed = Error::Buffer {
        needed: m1.len() as u16,
    };
    assert_eq!(start.write_m1(&mut rng, &mut vec![0; m1.len() - 1]).err(), Some(needed));

    let (_, send_m2) = crate::wire::read_any_m1(&world, &mut m1.clone()).unwrap();
    let other_broker = KeyPair::new(KemId::MlKem512, world.suite, 79);
    let mut params = world.m2_params();
    params.secret = other_broker.broker_secret();
    assert_eq!(
        send_m2.write_m2(&params, &mut rng, &mut [0; 4000]).err(),
        Some(Error::Misuse)
    );
    let (m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
    let (_, send_m2) = crate::wire::read_any_m1(&world, &mut m1.clone()).unwrap();
    let short = send_m2.write_m2(&world.m2_params(), &mut rng, &mut vec![0; m2.len() - 1]);
    assert_eq!(
        short.err(),
        Some(Error::Buffer {
            needed: m2.len() as u16
        })
    );

    let send_m3 = await_m2.read_m2(&m2, &mut rng).unwrap();
    assert_eq!(send_m3.connect_limit(), 16384);
    let too_large = send_m3.write_m3(&world.credential(), &[0x10; 16385], &mut rng, &mut [0; 20_000]);
    assert_eq!(too_large.err(), Some(Error::TooLarge { limit: 16384 }));

    let id = DeviceId::new("other").unwrap();
    let kem = Credential::Kem {
        id: &id,
        secret: world.device.device_secret(),
    };
    for (credential, connect, room, error) in [
        (world.credential(), &b""[..], 1000, Error::Misuse),
        (kem, b"x", 1000, Error::Misuse),
        (world.credential(), b"x", 512 + 16, Error::Buffer { needed: 512 + 17 }),
    ] {
        let (_, mut await_m2, mut rng) = first_flight(&world);
        let send_m3 = await_m2.read_m2(&m2, &mut rng).unwrap();
        assert_eq!(
            send_m3
                .write_m3(&credential, connect, &mut rng, &mut vec![0; room])
                .err(),
            Some(error)
        );
    }
}

#[test]
fn an_inner_connack_has_to_fit_the_clients_packets() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.client_limits = hybrid_handshake::message::ClientLimits::new(256, 128).unwrap();
    let (m1, mut await_m2, mut rng) = first_flight(&world);
    let send_m4 = || {
        let (m2, await_m3) = answer_m1(&world, &m1, &[1; 32]).unwrap();
        (m2, await_m3)
    };
    let (m2, await_m3) = send_m4();
    let (m3, _) = answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap();
    let mut copy = m3.clone();
    let (_, ready) = await_m3.read_m3(&mut copy).unwrap();
    let limit = ready.connack_limit();
    // 20 | 7e | 00 00 | 7a | 15 00 04 "HKM1" | 16 len(2): 15 bytes, and the tag.
    assert_eq!(limit, 128 - 15 - 16);
    let over = vec![0x20; usize::from(limit) + 1];
    assert_eq!(
        ready.write_m4(&over, &mut [0; 500]).err(),
        Some(Error::TooLarge { limit })
    );
    for (connack, room, error) in [
        (&b""[..], 100, Error::Misuse),
        (&over[1..], 112, Error::Buffer { needed: 113 }),
    ] {
        let mut copy = m3.clone();
        let (_, ready) = send_m4().1.read_m3(&mut copy).unwrap();
        assert_eq!(ready.write_m4(connack, &mut vec![0; room]).err(), Some(error));
    }
}
