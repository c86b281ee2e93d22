//! M3 at the broker: changed bytes never pass; of a client that knows every secret, any CONNECT within the limit comes out as it went in.
#![no_main]

use kemqtt_fuzz::{
    How, Input, forge, honest,
    straight::Knobs,
    wire::{BROKER_SEED, answer_m1},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Input { world, how }) = Input::parse(bytes) else {
        return;
    };
    let [m1, m2, honest, _] = honest(world);
    let (written, await_m3) = answer_m1(world, m1, &BROKER_SEED).expect("an honest M1");
    assert_eq!(written, *m2);
    if let Some(mut m3) = how.bend(honest) {
        let unchanged = m3 == *honest;
        assert_eq!(await_m3.read_m3(&mut m3).is_ok(), unchanged);
    } else if let How::Forged(connect) = how {
        let knobs = Knobs {
            m3_connect: Some(connect.to_vec()),
            ..Knobs::default()
        };
        let mut m3 = forge(world, &knobs).flights[2].clone();
        match await_m3.read_m3(&mut m3) {
            Ok((read, _)) => assert_eq!(read, connect),
            Err(_) => assert!(connect.is_empty() || connect.len() > world.broker_limits.connect().into()),
        }
    }
});
