//! The permutations.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, measure, require};
use kem_core::permutation::{Ascon, Keccak, Permutation};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    let (mut ascon, mut keccak) = (Ascon::ZERO, Keccak::ZERO);
    for _ in 0..3 {
        ascon.xor(0, draw.word().into());
        keccak.xor(0, draw.word().into());
        measure(1, || ascon.permute());
        measure(2, || ascon.permute8());
        measure(3, || keccak.permute());
        require(ascon.lane(4) != keccak.lane(4), 1);
    }
    exit(0)
}
