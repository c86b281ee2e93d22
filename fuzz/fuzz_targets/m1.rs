//! M1 at the broker: changed bytes never pass, and a client that knows every secret passes only with fields that are in order.
#![no_main]

use hybrid_handshake::{
    identity::DeviceId,
    message::{Capabilities, ClientLimits},
    suite::Mode,
};
use kemqtt_fuzz::{
    How, Input, forge, honest, is_a_secret_share, is_honest_m1,
    straight::Knobs,
    wire::{World, read_any_m1},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Input { world, how }) = Input::parse(bytes) else {
        return;
    };
    if let Some(mut m1) = how.bend(&honest(world)[0]) {
        let honest = is_honest_m1(&m1);
        assert_eq!(read_any_m1(world, &mut m1).is_ok(), honest);
    } else if let How::Forged(rest) = how {
        let knobs = How::knobs(rest);
        let mut m1 = forge(world, &knobs).flights[0].clone();
        assert_eq!(
            read_any_m1(world, &mut m1).is_ok(),
            in_order(world, &knobs),
            "{:?}",
            world.mode
        );
    }
});

fn in_order(world: &World, knobs: &Knobs) -> bool {
    let id = match (knobs.m1_id, world.mode) {
        (None, _) => true,
        (Some(id), Mode::Anonymous) => id == [0; 32],
        (Some(id), Mode::Resume) => id == *world.id.padded(),
        (Some(id), Mode::Kem | Mode::Psk) => DeviceId::from_padded(&id).is_ok(),
    };
    id && knobs.m1_flags == 0
        && knobs
            .m1_limits
            .is_none_or(|(record, packet)| ClientLimits::new(record, packet).is_ok())
        && knobs
            .m1_capabilities
            .is_none_or(|bits| Capabilities::from_bits(bits).is_ok())
        && knobs.m1_share.is_none_or(is_a_secret_share)
}
