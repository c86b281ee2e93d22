//! CTRU-Light's routines in assembly against their portable twins. The exit code tells which ones differ.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, keeps_registers, require};
use ctru_light::self_check::{bytes_agree, conversions_agree, ring_agrees};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x1234_5678);
    for number in 0..6 {
        // The ends of the range, all of it, and small values.
        let coefficient = |draw: &mut Draw| {
            let word = draw.word() as u16;
            match number {
                0 => -769,
                1 => 1024,
                2 => [-769, 1024][usize::from(word & 1)],
                3 => (word % 3) as i16 - 1,
                _ => (word % 1794) as i16 - 769,
            }
        };
        require(ring_agrees(|| coefficient(&mut draw)), 1);
    }
    for number in 0..6 {
        let byte = |draw: &mut Draw| {
            let mut byte = [0];
            draw.fill(number, &mut byte);
            let [byte] = byte;
            byte
        };
        require(conversions_agree(|| byte(&mut draw)), 2);
        require(bytes_agree(|| byte(&mut draw)), 3);
    }
    inverses();
    conventions();
    exit(0)
}

unsafe extern "C" {
    fn ctru_light_ntt(p: *mut [i16; 512]);
    fn ctru_light_invntt(p: *mut [i16; 512]);
    fn ctru_light_basemul(r: *mut [i16; 512], a: *const [i16; 512], b: *const [i16; 512]);
    fn ctru_light_baseinv(p: *mut [i16; 512]) -> u8;
    fn ctru_light_product16(r: *mut [u8; 32], a: *const [u8; 16], b: *const [u8; 16]);
    fn ctru_light_sample(out: *mut [i16; 512], coins: *const [u8; 128]);
    fn ctru_light_pack_h(ek: *mut [u8; 640], h: *const [i16; 512]);
    fn ctru_light_unpack_h(out: *mut [i16; 512], ek: *const [u8; 640]);
    fn ctru_light_pack_f(bytes: *mut [u8; 192], f: *const [i16; 512]);
    fn ctru_light_unpack_f(out: *mut [u8; 256], bytes: *const [u8; 96]);
    fn ctru_light_compress(out: *mut [u8; 8], sigma: *const [i16; 8], word: u8);
    fn ctru_light_fold_low(v: *mut [u8; 512], p: *const [u8; 512]);
    fn ctru_light_fold_high(v: *mut [u8; 512], p: *const [u8; 512]);
    fn ctru_light_fold_both(v: *mut [u8; 512], p: *const [u8; 512], ct: *const [u8; 512]);
}

/// A block without an inverse shows wherever it lies.
fn inverses() {
    for block in [64, 0, 1, 2, 3, 4, 38, 63] {
        // 769 is the zero of the transform domain's range.
        let mut p = [300; 512];
        if let Some(block) = p.as_chunks_mut::<8>().0.get_mut(block) {
            *block = [769; 8];
        }
        // SAFETY: the routine reads and writes 512 words.
        let found = unsafe { ctru_light_baseinv(&raw mut p) };
        require(found == if block == 64 { 255 } else { 0 }, 4);
    }
}

fn conventions() {
    let (mut output, input) = ([300u16; 512], [500u16; 512]);
    let out = (&raw mut output).cast();
    let input = (&raw const input).cast();
    for (function, code) in [
        (ctru_light_ntt as *const (), 11),
        (ctru_light_basemul as *const (), 12),
        (ctru_light_invntt as *const (), 13),
        (ctru_light_baseinv as *const (), 14),
        (ctru_light_product16 as *const (), 15),
        (ctru_light_sample as *const (), 16),
        (ctru_light_pack_h as *const (), 17),
        (ctru_light_unpack_h as *const (), 18),
        (ctru_light_pack_f as *const (), 19),
        (ctru_light_unpack_f as *const (), 20),
        (ctru_light_compress as *const (), 21),
        (ctru_light_fold_low as *const (), 22),
        (ctru_light_fold_high as *const (), 23),
        (ctru_light_fold_both as *const (), 24),
    ] {
        // SAFETY: no routine reads or writes more than 1024 bytes behind a pointer.
        require(unsafe { keeps_registers(function, out, input, input) }, code);
    }
}
