//! Whole handshakes: every mode, profile and suite, both sides of this crate.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    Error,
    client::Start,
    drbg::Drbg,
    message::{BrokerLimits, Capabilities, ClientLimits, m1_len, m2_len, m3_len, m4_len},
    record::{Content, HEADROOM},
    resume::{Resumption, STORED_LEN, TICKET_LEN, Ticket, TicketKey, TicketKeys},
    suite::{AnySuite, KemId, Mode, Suite, SuiteId, X25519CtruLightAscon, X25519MlKem768ChaCha20Poly1305},
};
use wire::{CONNACK, CONNECT, Done, Failure, NOW, Step, World, all_suites, answer_m1, first_flight, run};

const MODES: [Mode; 3] = [Mode::Kem, Mode::Psk, Mode::Anonymous];

#[test]
fn every_suite_and_mode_ends_with_the_same_keys_on_both_sides() {
    let mut runs = 0;
    for suite in all_suites() {
        for mode in MODES.into_iter().filter(|mode| mode.allowed_in(suite.profile())) {
            let world = World::new(suite, mode);
            let done = world
                .run()
                .unwrap_or_else(|failure| panic!("{suite} {mode:?}: {failure:?}"));
            check(&world, done);
            runs += 1;
        }
    }
    assert!(runs >= 5 * 4 * 2, "{runs}");
}

#[test]
fn every_broker_key_goes_with_every_mode() {
    for kem in [KemId::MlKem512, KemId::MlKem768, KemId::MlKem1024] {
        for mode in MODES {
            let world = World::with_broker_kem(SuiteId::HOST_DEFAULT, mode, kem);
            check(&world, world.run().unwrap());
        }
    }
}

fn check<C: Suite, B: Suite>(world: &World, done: Done<C, B>) {
    let Done {
        flights,
        mut client,
        mut broker,
        claim,
        connect,
        connack,
    } = done;
    assert_eq!((&connect[..], &connack[..]), (&world.connect[..], &world.connack[..]));
    assert_eq!(claim.device, (world.mode != Mode::Anonymous).then_some(world.id));
    assert_eq!(client.broker_time, NOW);
    assert_eq!(client.options, broker.options);
    assert_eq!(client.rms.expose(), broker.rms.expose());
    assert_eq!(client.reauth.expose(), broker.reauth.expose());
    let (mut ours, mut theirs) = ([0; 32], [0; 32]);
    client.exporter.export(b"test", b"context", &mut ours);
    broker.exporter.export(b"test", b"context", &mut theirs);
    assert_eq!(ours, theirs);
    assert_ne!(&ours, client.rms.expose());

    let broker_kem = world.broker.public().kem();
    assert_eq!(flights[0].len(), m1_len(world.suite, world.mode, broker_kem));
    assert_eq!(flights[1].len(), m2_len(world.suite, world.mode));
    assert_eq!(flights[2].len(), m3_len(world.suite, world.connect.len()));
    assert_eq!(flights[3].len(), m4_len(world.connack.len()));

    let mut buffer = [0; 100];
    buffer[HEADROOM..][..5].copy_from_slice(b"hello");
    let mut record = client.sealer.seal(Content::Data, &mut buffer, 5).unwrap().to_vec();
    assert_eq!(broker.opener.open(&mut record).unwrap().text, b"hello");
    buffer[HEADROOM..][..5].copy_from_slice(b"world");
    let mut record = broker.sealer.seal(Content::Data, &mut buffer, 5).unwrap().to_vec();
    assert_eq!(client.opener.open(&mut record).unwrap().text, b"world");
}

#[test]
fn a_static_suite_writes_the_bytes_of_the_run_time_one() {
    fn same<S: Suite>(suite: S, mode: Mode) {
        let world = World::new(suite.id(), mode);
        let any = world.run().unwrap();
        let fixed = run(&world, suite, suite, &mut |_, _| {}).unwrap();
        assert_eq!(any.flights, fixed.flights, "{}", suite.id());
        assert_eq!(any.client.rms.expose(), fixed.client.rms.expose());
        check(&world, fixed);
        check(&world, run(&world, suite, world.any_suite(), &mut |_, _| {}).unwrap());
    }
    same(X25519CtruLightAscon::new(), Mode::Psk);
    same(X25519MlKem768ChaCha20Poly1305::new(), Mode::Kem);
    same(X25519MlKem768ChaCha20Poly1305::new(), Mode::Anonymous);
}

#[test]
fn a_prepared_m1_outlives_connections_until_an_m2_verifies() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let done = world.run().unwrap();
    let config = world.config();
    let mut rng = Drbg::broker(&wire::CLIENT_SEED);
    let mut m1 = [0; 2000];
    let (_, mut state) = Start::new(world.any_suite(), &config)
        .unwrap()
        .write_m1(&mut rng, &mut m1)
        .unwrap();
    let mut forged = done.flights[1].clone();
    forged[40] ^= 1;
    assert_eq!(state.read_m2(&forged, &mut rng).err(), Some(Error::Rejected));
    assert!(!state.is_spent());
    assert!(state.read_m2(&done.flights[1], &mut rng).is_ok());
    assert!(state.is_spent());
    assert_eq!(
        state.read_m2(&done.flights[1], &mut rng).err(),
        Some(Error::Misuse),
        "one M2 per M1"
    );
}

#[test]
fn limits_and_options_reach_the_other_side() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.client_limits = ClientLimits::new(64, 128).unwrap();
    world.broker_limits = BrokerLimits::new(1024, 1024).unwrap();
    world.capabilities = Capabilities::TICKETS.with(Capabilities::REAUTH);
    world.options = Capabilities::TICKETS.with(Capabilities::KEY_NEWS);
    let done = world.run().unwrap();
    assert_eq!((done.client.sealer.limit(), done.broker.sealer.limit()), (1024, 64));
    assert_eq!(done.client.options, Capabilities::TICKETS);
}

#[test]
fn anonymous_sessions_cannot_authenticate_anew() {
    let done = World::new(SuiteId::HOST_DEFAULT, Mode::Anonymous).run().unwrap();
    assert_eq!(done.client.options, Capabilities::TICKETS.with(Capabilities::KEY_NEWS));
}

#[test]
fn the_largest_connect_and_connack_pass() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.broker_limits = BrokerLimits::new(16384, 61440).unwrap();
    world.connect = vec![0x10; 61440];
    world.client_limits = ClientLimits::new(256, 256).unwrap();
    // 20 | varint 2 | 00 00 | varint 2 | 15 00 04 "HKM1" | 16 len 2: 17 bytes, and the tag.
    world.connack = vec![0x20; 256 - 17 - 16];
    let done = world.run().unwrap();
    assert_eq!((done.connect.len(), done.connack.len()), (61440, 223));
}

/// A client's ticket after `done`, as the broker of `world` would send it.
fn next_ticket(world: &World, done: &Done<AnySuite>) -> Ticket {
    let resumption = Resumption::after(&done.claim, 7, NOW);
    let mut sealed = [0; TICKET_LEN];
    let (kid, mut rng) = (world.broker.broker_key().kid(), Drbg::broker(&[0x51; 32]));
    let keys = world.tickets.as_ref().unwrap();
    keys.seal(&kid, &resumption, &done.broker.rms, &mut rng, &mut sealed)
        .unwrap();
    Ticket::new(
        &done.client,
        done.claim.device,
        world.ticket.as_ref(),
        resumption.lifetime_s(NOW),
        &sealed,
    )
}

#[test]
fn sessions_resume_until_the_limit() {
    for (suite, mode) in [
        (SuiteId::SENSOR_DEFAULT, Mode::Psk),
        (SuiteId::HOST_DEFAULT, Mode::Kem),
        (SuiteId::HOST_DEFAULT, Mode::Anonymous),
    ] {
        let mut world = World::new(suite, mode);
        let mut done = world.run().unwrap();
        world.mode = Mode::Resume;
        for resumptions in 0..16 {
            let ticket = next_ticket(&world, &done);
            assert!(ticket.is_usable(suite, NOW) && !ticket.is_usable(suite, NOW + 86_400));
            let mut stored = [0; STORED_LEN];
            ticket.store(&mut stored).unwrap();
            world.ticket = Some(Ticket::load(&stored).unwrap());
            let last = *done.client.rms.expose();
            done = world.run().unwrap();
            assert_ne!(done.client.rms.expose(), &last, "fresh rms each time");
            let resumed = done.claim.resumed.unwrap();
            assert_eq!(
                (resumed.resumptions, resumed.mode, resumed.generation),
                (resumptions, mode, 7)
            );
            assert_eq!(done.claim.device, (mode != Mode::Anonymous).then_some(world.id));
            assert_eq!(done.flights[0].len(), m1_len(suite, Mode::Resume, KemId::MlKem512));
            assert_eq!(done.client.options.has(Capabilities::REAUTH), mode != Mode::Anonymous);
        }
        let ticket = next_ticket(&world, &done);
        assert!(
            !ticket.is_usable(suite, NOW),
            "the 17th session in a row is a full handshake"
        );
        world.ticket = Some(ticket);
        assert_eq!(
            world.run().err(),
            Some(Failure {
                step: Step::M1,
                error: Error::Rejected
            })
        );
    }
}

#[test]
fn m3_needs_no_ticket() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let m3 = |world: &World, with_ticket: bool| {
        let (m1, mut await_m2, mut rng) = first_flight(world);
        let (m2, _) = answer_m1(world, &m1, &[1; 32]).unwrap();
        let send_m3 = await_m2.read_m2(&m2, &mut rng).unwrap();
        let mut m3 = vec![0; 2000];
        let written = if with_ticket {
            send_m3.write_m3(&world.credential(), b"x", &mut rng, &mut m3)
        } else {
            send_m3.write_resumed_m3(b"x", &mut rng, &mut m3)
        };
        written.map(|(len, _)| m3[..len].to_vec())
    };
    assert_eq!(m3(&world, false), Err(Error::Misuse), "in mode 2");
    let done = world.run().unwrap();
    world.ticket = Some(next_ticket(&world, &done));
    world.mode = Mode::Resume;
    assert_eq!(m3(&world, false).unwrap(), m3(&world, true).unwrap());
}

#[test]
fn a_gateway_without_the_ticket_key_refuses_the_ticket() {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let done = world.run().unwrap();
    world.ticket = Some(next_ticket(&world, &done));
    world.mode = Mode::Resume;
    world.tickets = None;
    assert_eq!(
        world.run().err(),
        Some(Failure {
            step: Step::M1,
            error: Error::Rejected
        })
    );
    world.tickets = Some(TicketKeys::new(TicketKey::from_bytes([0x66; 32]), None));
    assert_eq!(
        world.run().err(),
        Some(Failure {
            step: Step::M1,
            error: Error::Rejected
        })
    );
}

#[test]
fn nothing_that_repeats_is_drawn_twice() {
    let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let once = world.run().unwrap().flights;
    assert_eq!(once, world.run().unwrap().flights, "everything random is injected");
    assert!(!once[0].windows(CONNECT.len()).any(|bytes| bytes == CONNECT));
    assert!(!once[2].windows(CONNECT.len()).any(|bytes| bytes == CONNECT));
    assert!(!once[3].windows(CONNACK.len()).any(|bytes| bytes == CONNACK));
    assert!(!once[0].windows(6).any(|bytes| bytes == b"pump-7"));
}
