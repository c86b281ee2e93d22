//! The transforms and the product of Kyber.
#![no_std]
#![no_main]

use core::hint::black_box;

use bench_avr::{Draw, exit, measure};
use kyber::self_check::Operands;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..4 {
        // The ends of the range, and all of it.
        let mut operands = Operands::new(|| match number {
            0 => 32_767,
            1 => -32_767,
            _ => draw.word() as i16,
        });
        measure(1, || operands.ntt());
        measure(2, || operands.multiply());
        measure(3, || operands.inverse_ntt());
        black_box(&operands);
    }
    exit(0)
}
