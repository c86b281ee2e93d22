//! The flights of the crate against a second, straight-line computation of the protocol's formulas.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/straight.rs"]
mod straight;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use ctru_light::{AsconXof, CtruLight, Sha3};
use hybrid_handshake::{
    drbg::Drbg,
    resume::{Resumption, TICKET_LEN, Ticket},
    suite::{KemId, Mode, SuiteId},
};
use kem_core::Kem;
use kyber::{MlKem512, MlKem768, MlKem1024};
use straight::{Knobs, expand, fingerprint, sha, straight};
use wire::{NOW, World};

fn check<K: Kem, B: Kem>(world: &World) {
    fingerprint(&world.broker.encoded);
    let ours = world.run().unwrap();
    let theirs = straight::<K, B>(world, &Knobs::default());
    for (flight, (ours, theirs)) in ours.flights.iter().zip(&theirs.flights).enumerate() {
        assert_eq!(
            hex::encode(ours),
            hex::encode(theirs),
            "M{} of {}",
            flight + 1,
            world.suite
        );
    }
    assert_eq!(ours.client.rms.expose(), &theirs.rms);
    assert_eq!(ours.client.reauth.expose(), &theirs.reauth);
    let mut exported = [0; 32];
    ours.client.exporter.export(b"label", b"context", &mut exported);
    assert_eq!(exported, expand(&theirs.exp, "label", &sha(&[b"context"]), 32)[..]);
}

fn world(code: u16, mode: Mode, broker_kem: KemId) -> World {
    World::with_broker_kem(SuiteId::from_code(code).unwrap(), mode, broker_kem)
}

#[test]
fn sensor_suites() {
    check::<CtruLight<AsconXof>, MlKem512>(&world(0x1011, Mode::Psk, KemId::MlKem512));
    check::<CtruLight<AsconXof>, MlKem768>(&world(0x1011, Mode::Kem, KemId::MlKem768));
    check::<CtruLight<Sha3>, MlKem512>(&world(0x1921, Mode::Anonymous, KemId::MlKem512));
    check::<MlKem512, MlKem512>(&world(0x0111, Mode::Psk, KemId::MlKem512));
}

#[test]
fn host_suites() {
    for mode in [Mode::Kem, Mode::Psk, Mode::Anonymous] {
        check::<MlKem768, MlKem768>(&world(0x0222, mode, KemId::MlKem768));
    }
    check::<MlKem1024, MlKem1024>(&world(0x0312, Mode::Kem, KemId::MlKem1024));
}

#[test]
fn resumption() {
    let mut world = world(0x1011, Mode::Psk, KemId::MlKem512);
    let done = world.run().unwrap();
    let mut sealed = [0; TICKET_LEN];
    let resumption = Resumption::after(&done.claim, 0, NOW);
    let keys = world.tickets.as_ref().unwrap();
    let kid = world.broker.broker_key().kid();
    keys.seal(
        &kid,
        &resumption,
        &done.broker.rms,
        &mut Drbg::broker(&[9; 32]),
        &mut sealed,
    )
    .unwrap();
    world.ticket = Some(Ticket::new(&done.client, Some(world.id), None, 100, &sealed));
    world.mode = Mode::Resume;
    check::<CtruLight<AsconXof>, MlKem512>(&world);
}
