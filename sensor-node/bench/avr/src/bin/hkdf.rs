//! HKDF with SHA-256 as the key schedule uses it.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, measure, require};
use hybrid_handshake::schedule::expand;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..3 {
        let (mut prk, mut out) = ([0; 32], [0; 32]);
        draw.fill(number, &mut prk);
        measure(1, || expand(&prk, b"k", &[7; 32], &mut out));
        require(out != [0; 32], 1);
    }
    exit(0)
}
