//! M4 at the client: changed bytes never pass; of a broker that knows every secret, any CONNACK comes out as it went in.
#![no_main]

use kemqtt_fuzz::{
    How, Input, forge, honest,
    straight::Knobs,
    wire::{answer_m2, first_flight},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Input { world, how }) = Input::parse(bytes) else {
        return;
    };
    let [_, m2, _, honest] = honest(world);
    let (_, mut await_m2, mut rng) = first_flight(world);
    let (_, await_m4) = answer_m2(world, &mut await_m2, m2, &mut rng).expect("an honest M2");
    if let Some(mut m4) = how.bend(honest) {
        let unchanged = m4 == *honest;
        assert_eq!(await_m4.read_m4(&mut m4).is_ok(), unchanged);
    } else if let How::Forged(connack) = how {
        let knobs = Knobs {
            m4_connack: Some(connack.to_vec()),
            ..Knobs::default()
        };
        let mut m4 = forge(world, &knobs).flights[3].clone();
        match await_m4.read_m4(&mut m4) {
            Ok((read, _)) => assert_eq!(read, connack),
            Err(_) => assert!(connack.is_empty()),
        }
    }
});
