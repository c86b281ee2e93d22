//! M2 at the client: changed bytes do not pass and burn nothing, and a broker that knows every secret passes only with fields that
//! are in order.
#![no_main]

use hybrid_handshake::{
    message::{BrokerLimits, Capabilities},
    suite::{AnyKem, KemScheme, Mode},
};
use kemqtt_fuzz::{
    How, Input, forge, honest, is_a_secret_share,
    straight::Knobs,
    wire::{World, answer_m2, first_flight},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Input { world, how }) = Input::parse(bytes) else {
        return;
    };
    let (_, mut await_m2, mut rng) = first_flight(world);
    let honest = &honest(world)[1];
    if let Some(m2) = how.bend(honest) {
        let passed = answer_m2(world, &mut await_m2, &m2, &mut rng).is_ok();
        assert_eq!(passed, m2 == *honest);
        assert_eq!(await_m2.is_spent(), passed);
        assert!(passed || answer_m2(world, &mut await_m2, honest, &mut rng).is_ok());
    } else if let How::Forged(rest) = how {
        // The client's M1 is the honest one.
        let knobs = Knobs {
            m1_flags: 0,
            m1_limits: None,
            m1_id: None,
            m1_capabilities: None,
            m1_share: None,
            ..How::knobs(rest)
        };
        let m2 = forge(world, &knobs).flights[1].clone();
        let passed = answer_m2(world, &mut await_m2, &m2, &mut rng).is_ok();
        assert_eq!(passed, in_order(world, &knobs, &m2), "{:?}", world.mode);
        assert!(await_m2.is_spent(), "box2 has verified");
    }
});

fn in_order(world: &World, knobs: &Knobs, m2: &[u8]) -> bool {
    let kem = world.suite.kem();
    let ct_len = if world.mode == Mode::Kem { kem.ct_len() } else { 0 };
    let ek = &m2[30 + 32 + ct_len..][..kem.ek_len()];
    knobs
        .m2_limits
        .is_none_or(|(record, connect)| BrokerLimits::new(record, connect).is_ok())
        && knobs
            .m2_options
            .is_none_or(|bits| Capabilities::from_bits(bits).is_ok())
        && knobs.m2_share.is_none_or(is_a_secret_share)
        && AnyKem::new(kem).is_some_and(|kem| kem.check_ek(ek).is_ok())
}
