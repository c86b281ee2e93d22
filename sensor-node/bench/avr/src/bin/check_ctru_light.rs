//! CTRU-Light's routines in assembly against their portable twins. The exit code tells which ones differ.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, require, require_convention};
use ctru_light::self_check::{bytes_agree, conversions_agree, decryption_agrees, ring_agrees};

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
        products(number, &mut draw);
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
    fn ctru_light_product256(r: *mut [u8; 512], a: *const [u8; 256], b: *const [u8; 256], scratch: *mut [u8; 512]);
    fn ctru_light_sum(r: *mut [u8; 256], a: *const [u8; 256], b: *const [u8; 256], n: u8);
    fn ctru_light_clear(p: *mut u8, n: u16);
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

/// The product against its definition, and decryption against the twin's.
fn products(number: u8, draw: &mut Draw) {
    let (mut a, mut b, mut f) = ([0; 256], [0; 256], [0; 192]);
    let (mut r, mut scratch) = ([0x55; 512], [0xaa; 512]);
    draw.fill(number, &mut a);
    draw.fill(99, &mut b);
    draw.fill(number, &mut f);
    // SAFETY: the routine reads 256 bytes at each operand and writes 512 at each of the others.
    unsafe { ctru_light_product256(&raw mut r, &raw const a, &raw const b, &raw mut scratch) };
    let coefficient = |k: usize| {
        let reversed = b.iter().rev().skip(255usize.saturating_sub(k));
        let terms = a.iter().skip(k.saturating_sub(255)).zip(reversed);
        terms.fold(0u8, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
    };
    require(r.iter().zip(0..).all(|(&r, k)| r == coefficient(k)), 5);
    require(decryption_agrees(&f, &r), 6);
    scratch = [0xaa; 512];
    // SAFETY: the routine writes 496 bytes.
    unsafe { ctru_light_clear(scratch.as_mut_ptr(), 496) };
    require(
        scratch
            .iter()
            .zip(0..)
            .all(|(&byte, k)| byte == if k < 496 { 0 } else { 0xaa }),
        7,
    );
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

/// The product with its scratch behind the result.
unsafe extern "C" fn product(r: *mut [u8; 512], a: *const [u8; 256], b: *const [u8; 256]) {
    // SAFETY: as promised by the caller, who has 1024 bytes at `r`.
    unsafe { ctru_light_product256(r, a, b, r.add(1)) }
}

/// The sum of 256 bytes.
unsafe extern "C" fn sum(r: *mut [u8; 256], a: *const [u8; 256], b: *const [u8; 256]) {
    // SAFETY: as promised by the caller.
    unsafe { ctru_light_sum(r, a, b, 0) }
}

fn conventions() {
    let (mut out, mut input) = ([0; 512], [0; 512]);
    for (function, code) in [
        (ctru_light_ntt as *const (), 11),
        (ctru_light_basemul as *const (), 12),
        (ctru_light_invntt as *const (), 13),
        (ctru_light_baseinv as *const (), 14),
        (product as *const (), 15),
        (sum as *const (), 25),
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
        unsafe { require_convention(function, &mut out, &mut input, code) }
    }
}
