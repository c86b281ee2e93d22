//! LightSaber's routines in assembly against their portable twins. The exit code tells which ones differ.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, require, require_convention};
use saber::self_check::{decoders_agree, encoders_agree, samples_agree, sums_agree};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x1234_5678);
    for number in 0..8 {
        products(number, &mut draw);
    }
    for number in 0..8 {
        conversions(number, &mut draw);
    }
    clear();
    conventions();
    exit(0)
}

unsafe extern "C" {
    fn saber_product(sum: *mut [i16; 256], a: *const [i16; 256], s: *const [u8; 256], scratch: *mut [u8; 1344]);
    fn saber_clear(p: *mut u8, n: u16);
    fn saber_unpack13(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_unpack10(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_unpack_secret(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_pack_secret(bytes: *mut u8, p: *const i16, n: u8);
    fn saber_pack_rounded(bytes: *mut u8, p: *const i16, n: u8);
    fn saber_sample(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_pack_message(bytes: *mut u8, v: *const i16, n: u8, m: *const u8);
    fn saber_unpack_message(m: *mut u8, v: *const i16, n: u8, bytes: *const u8);
}

/// Ranges of a public and of a secret coefficient: their ends, all of them, the secrets of keys.
#[inline(never)]
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

#[inline(never)]
fn conversions(number: u8, draw: &mut Draw) {
    let mut bytes = [0; 416];
    draw.fill(number, &mut bytes);
    require(decoders_agree(&bytes), 4);
    require(samples_agree(&bytes), 5);
    let byte = || {
        let mut byte = [0];
        draw.fill(number, &mut byte);
        let [byte] = byte;
        byte
    };
    require(encoders_agree(&bytes, byte), 6);
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

/// A conversion of 128 coefficients at most, its count in place of the third pointer, and the message behind the input.
macro_rules! counted {
    ($routine:ident($($more:expr)?)) => {{
        unsafe extern "C" fn call(out: *mut (), input: *const (), _: *const ()) {
            // SAFETY: as promised by the caller, who has 1024 bytes at `input` and 2048 at `out`.
            unsafe { $routine(out.cast(), input.cast(), 16 $(, input.byte_add($more).cast())?) }
        }
        call as *const ()
    }};
}

#[inline(never)]
fn conventions() {
    let (mut out, mut input) = ([0; 1024], [0; 512]);
    for (function, code) in [
        (product as *const (), 11),
        (counted!(saber_unpack13()), 12),
        (counted!(saber_unpack10()), 13),
        (counted!(saber_unpack_secret()), 14),
        (counted!(saber_pack_secret()), 15),
        (counted!(saber_pack_rounded()), 16),
        (counted!(saber_sample()), 17),
        (counted!(saber_pack_message(512)), 18),
        (counted!(saber_unpack_message(512)), 19),
    ] {
        // SAFETY: no routine writes more than 2048 bytes behind its first pointer or reads more than 1024 behind another.
        unsafe { require_convention(function, &mut out, &mut input, code) }
    }
}
