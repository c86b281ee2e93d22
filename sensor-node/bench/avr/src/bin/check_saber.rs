//! LightSaber's routines in assembly against their portable twins. The exit code tells which ones differ.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, keeps_registers, require};
use saber::self_check::sums_agree;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x1234_5678);
    for number in 0..8 {
        products(number, &mut draw);
    }
    clear();
    conventions();
    exit(0)
}

unsafe extern "C" {
    fn saber_product(sum: *mut [i16; 256], a: *const [i16; 256], s: *const [u8; 256], scratch: *mut [u8; 1344]);
    fn saber_clear(p: *mut u8, n: u16);
}

/// Ranges of a public and of a secret coefficient: their ends, all of them, the secrets of keys.
fn products(number: u8, draw: &mut Draw) {
    let mut pick = |low: i16, high: i16| {
        let word = draw.word();
        match number {
            0 => low,
            1 => high,
            2 => [low, high][usize::from(word & 0x100 == 0)],
            _ => low + ((word >> 8) % (high - low + 1) as u32) as i16,
        }
    };
    let mut terms = [([0; 256], [0; 256]); 2];
    for (a, s) in &mut terms {
        a.fill_with(|| pick(-4096, 4095));
        let bound = if number < 4 { 8 } else { 5 };
        s.fill_with(|| pick(-bound, bound.min(7)));
    }
    // Sums of secrets are largest, or smallest, if all have the same sign; products if signs change where x^256 = -1 shows.
    if number == 3 {
        terms = [([-4096; 256], core::array::from_fn(|i| if i < 129 { 7 } else { -8 })); 2];
    }
    require(sums_agree(&terms), 1);
    require(sums_agree(&terms[..usize::from(number) % 2]), 2);
}

fn clear() {
    let mut bytes = [0x55; 80];
    // SAFETY: the routine writes 64 bytes.
    unsafe { saber_clear(bytes.as_mut_ptr(), 64) };
    let expected = |k: usize| if k < 64 { 0 } else { 0x55 };
    require(bytes.iter().enumerate().all(|(k, &byte)| byte == expected(k)), 3);
}

/// The product with its scratch behind the sum.
unsafe extern "C" fn product(sum: *mut [i16; 256], a: *const [i16; 256], s: *const [u8; 256]) {
    // SAFETY: as promised by the caller, who has 2048 bytes at `sum`.
    unsafe { saber_product(sum, a, s, sum.add(1).cast()) }
}

fn conventions() {
    let (mut output, input) = ([300u16; 1024], [5u16; 512]);
    let out = (&raw mut output).cast();
    let input = (&raw const input).cast();
    for (function, code) in [(product as *const (), 11)] {
        // SAFETY: no routine writes more than 2048 bytes behind its first pointer or reads more than 1024 behind another.
        require(unsafe { keeps_registers(function, out, input, input) }, code);
    }
}
