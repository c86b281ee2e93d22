//! The transforms, the product and the inversion of CTRU-Light.
#![no_std]
#![no_main]

use core::hint::black_box;

use bench_avr::{Draw, exit, measure};
use ctru_light::self_check::Operands;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..4 {
        // The ends of the range, and all of it.
        let mut operands = Operands::new(|| match number {
            0 => -769,
            1 => 1024,
            _ => (draw.word() as u16 % 1794) as i16 - 769,
        });
        measure(1, || operands.ntt());
        operands.ntt_other();
        measure(2, || operands.invert_other());
        measure(3, || operands.multiply());
        measure(4, || operands.inverse_ntt());
        black_box(&operands);
    }
    exit(0)
}
