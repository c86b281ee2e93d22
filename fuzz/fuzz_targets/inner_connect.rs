//! The application's CONNECT: what is accepted is written back byte by byte, and every refusal can be told.
#![no_main]

use hybrid_handshake::mqtt::{Connack, Connect, Level};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|packet: &[u8]| {
    match Connect::parse(packet) {
        Ok(connect) => {
            let mut out = vec![0; packet.len()];
            assert_eq!(connect.write(&mut out), Ok(packet.len()));
            assert_eq!(out, packet);
            assert_eq!(Level::to_answer(packet), connect.level);

            let rewritten = Connect {
                client_id: "device",
                user_name: Some("kem:device"),
                password: None,
                ..connect
            };
            let mut out = vec![0; packet.len() + 64];
            let len = rewritten.write(&mut out).expect("64 bytes are enough");
            assert_eq!(Connect::parse(&out[..len]), Ok(rewritten));
        }
        Err(error) => {
            let level = Level::to_answer(packet);
            let mut out = [0; 8];
            let len = Connack::new(error.reason()).write(level, &mut out).expect("short");
            assert!(Connack::parse(&out[..len], level).is_ok_and(|connack| connack.code.is_error()));
        }
    }
});
