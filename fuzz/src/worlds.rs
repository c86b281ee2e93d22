//! Every mode, profile and kind of rejection, each with its honest handshake, made once.

use std::sync::OnceLock;

use ctru_light::{AsconXof, CtruLight};
use hybrid_handshake::{
    drbg::Drbg,
    resume::{Resumption, TICKET_LEN, Ticket},
    suite::{KemId, Mode, SuiteId},
};
use kyber::MlKem512;
use ntru_plus::NtruPlus768;
use x25519_dalek::x25519;

use crate::{
    straight::{Knobs, Straight, straight},
    wire::{NOW, World},
};

/// The world with this number, modulo how many there are.
pub fn world(number: u8) -> &'static World {
    let all = all();
    &all[usize::from(number) % all.len()].0
}

/// M1 to M4 of `world`.
pub fn honest(world: &'static World) -> &'static [Vec<u8>; 4] {
    let found = all().iter().find(|(candidate, _)| core::ptr::eq(candidate, world));
    &found.expect("one of ours").1
}

/// Whether an honest client of any world says this M1: the broker is the same in all of them.
pub fn is_honest_m1(m1: &[u8]) -> bool {
    all().iter().any(|(_, flights)| flights[0] == m1)
}

/// M1 to M4 of peers that know every secret and say what `knobs` say.
pub fn forge(world: &World, knobs: &Knobs) -> Straight {
    match world.suite.kem() {
        KemId::CtruLight => straight::<CtruLight<AsconXof>, MlKem512>(world, knobs),
        KemId::NtruPlus768 => straight::<NtruPlus768, MlKem512>(world, knobs),
        _ => straight::<MlKem512, MlKem512>(world, knobs),
    }
}

/// Whether a Diffie-Hellman result with this share is more than zeros.
pub fn is_a_secret_share(share: [u8; 32]) -> bool {
    x25519([9; 32], share) != [0; 32]
}

fn all() -> &'static [(World, [Vec<u8>; 4])] {
    static ALL: OnceLock<Vec<(World, [Vec<u8>; 4])>> = OnceLock::new();
    ALL.get_or_init(|| {
        let world = |code, mode| World::new(SuiteId::from_code(code).expect("an id"), mode);
        let worlds = [
            world(0x1011, Mode::Psk),
            world(0x1011, Mode::Kem),
            world(0x0122, Mode::Anonymous),
            world(0x1222, Mode::Kem),
            resumed(world(0x1011, Mode::Psk)),
        ];
        let run = |world: World| {
            let flights = world.run().expect("honest").flights;
            (world, flights)
        };
        worlds.into_iter().map(run).collect()
    })
}

/// The client comes back with a ticket.
fn resumed(mut world: World) -> World {
    let done = world.run().expect("honest");
    let mut sealed = [0; TICKET_LEN];
    let kid = world.broker.broker_key().kid();
    let keys = world.tickets.as_ref().expect("every world has them");
    let resumption = Resumption::after(&done.claim, 0, NOW);
    keys.seal(
        &kid,
        &resumption,
        &done.broker.rms,
        &mut Drbg::broker(&[9; 32]),
        &mut sealed,
    )
    .expect("a ticket");
    world.ticket = Some(Ticket::new(&done.client, Some(world.id), None, 100, &sealed));
    world.mode = Mode::Resume;
    world
}
