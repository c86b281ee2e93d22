//! Kyber's routines in assembly against their portable twins. The exit code tells which ones differ.
#![no_std]
#![no_main]

use core::array::from_fn;

use bench_avr::{Draw, exit, require, require_convention};
use kyber::self_check::{basemul_agrees, conversions_agree, forms_agree, inverse_ntt_agrees, ntt_agrees};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x3141_5926);
    for number in 0..10 {
        // The ends of the ranges, in patterns that meet in the butterflies, and all of them.
        let p: [i16; 256] = from_fn(|i| {
            let word = draw.word() as i16;
            let high = match number {
                0 => true,
                1 => false,
                2 => i % 2 == 0,
                3 => i % 4 < 2,
                4 => i % 64 < 32,
                5 => i < 128,
                6 => word & 1 == 0,
                _ => return word,
            };
            if high { 32_767 } else { -32_767 }
        });
        require(ntt_agrees(&p), 1);
        require(inverse_ntt_agrees(&p), 2);
        require(forms_agree(&p), 3);
        for ends in [[0, 4095], [4095, 4095]] {
            require(basemul_agrees(&from_fn(|i| ends[i % 2]), &p), 4);
        }
        require(basemul_agrees(&from_fn(|_| draw.word() as i16 & 4095), &p), 4);
    }
    conversions(&mut draw);
    conventions();
    exit(0)
}

/// Every canonical coefficient, and random bytes.
fn conversions(draw: &mut Draw) {
    for first in 0..14 {
        let mut bytes = [0; 48];
        draw.fill(first, &mut bytes);
        require(
            conversions_agree(&from_fn(|i| (256 * i16::from(first) + i as i16).min(3328)), &bytes),
            5,
        );
    }
}

unsafe extern "C" {
    fn kyber_ntt(p: *mut [i16; 256]);
    fn kyber_inverse_ntt(p: *mut [i16; 256]);
    fn kyber_basemul_acc(sum: *mut i16, a: *const i16, b: *const i16, first: u16, blocks: u8);
    fn kyber_lift(p: *mut [i16; 256]);
    fn kyber_standard(p: *mut [i16; 256]);
    fn kyber_standard_sum(p: *mut [i16; 256]);
    fn kyber_freeze(p: *mut [i16; 256]);
    fn kyber_pack12(out: *mut [u8; 12], c: *const [i16; 8]);
    fn kyber_unpack12(out: *mut [i16; 32], bytes: *const [u8; 48]);
    fn kyber_uniform(out: *mut [i16; 16], bytes: *const [u8; 24]) -> u8;
    fn kyber_add_cbd2(c: *mut [i16; 32], bytes: *const u8);
    fn kyber_add_cbd3(c: *mut [i16; 32], bytes: *const u8);
    fn kyber_compress10(out: *mut u8, c: *const [i16; 8]);
    fn kyber_compress4(out: *mut u8, c: *const [i16; 8]);
    fn kyber_decompress10(out: *mut [i16; 8], bytes: *const u8);
    fn kyber_decompress4(out: *mut [i16; 8], bytes: *const u8);
    fn kyber_message(m: *mut [u8; 32], c: *const [i16; 256]);
    fn kyber_add_message(c: *mut [i16; 256], m: *const [u8; 32]);
}

/// The product of whole polynomials.
unsafe extern "C" fn basemul(sum: *mut i16, a: *const i16, b: *const i16) {
    // SAFETY: as promised by the caller, who has 256 words behind each pointer.
    unsafe { kyber_basemul_acc(sum, a, b, 0, 64) }
}

fn conventions() {
    let (mut out, mut input) = ([0; 256], [0; 256]);
    for (function, code) in [
        (kyber_ntt as *const (), 11),
        (kyber_inverse_ntt as *const (), 12),
        (basemul as *const (), 13),
        (kyber_lift as *const (), 14),
        (kyber_standard as *const (), 15),
        (kyber_standard_sum as *const (), 16),
        (kyber_freeze as *const (), 17),
        (kyber_pack12 as *const (), 18),
        (kyber_unpack12 as *const (), 19),
        (kyber_uniform as *const (), 20),
        (kyber_add_cbd2 as *const (), 21),
        (kyber_add_cbd3 as *const (), 22),
        (kyber_compress10 as *const (), 23),
        (kyber_compress4 as *const (), 24),
        (kyber_decompress10 as *const (), 25),
        (kyber_decompress4 as *const (), 26),
        (kyber_message as *const (), 27),
        (kyber_add_message as *const (), 28),
    ] {
        // SAFETY: no routine reads or writes more than 512 bytes behind a pointer.
        unsafe { require_convention(function, &mut out, &mut input, code) }
    }
}
