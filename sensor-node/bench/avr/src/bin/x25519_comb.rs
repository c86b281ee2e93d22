//! X25519 with the base point by a table.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, measure, require};
use hybrid_handshake::dh::{Dh, DhSecret, X25519};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..3 {
        let (mut secret, mut share) = ([0; 32], [0; 32]);
        draw.fill(number, &mut secret);
        let secret = DhSecret::from_bytes(secret);
        require(measure(1, || X25519.share(&secret, &mut share)).is_ok(), 1);
    }
    exit(0)
}
