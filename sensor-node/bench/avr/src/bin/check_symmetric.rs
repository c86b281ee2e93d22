//! Permutations, Montgomery products and compression in assembly against their portable twins. The exit code tells which one differs.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, require, require_convention};
use hkdf::Hkdf;
use hybrid_handshake::schedule::expand;
use kem_core::self_check::{ascon_agrees, keccak_agrees, montgomery_agrees};
use sha2::Sha256;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x1234_5678);
    for number in 0..24 {
        permutations(&mut draw, number);
        compression(&mut draw, number);
    }
    products(&mut draw);
    hkdf_of_every_length(&mut draw);
    conventions();
    exit(0)
}

fn permutations(draw: &mut Draw, number: u8) {
    let mut bytes = [0; 200];
    draw.fill(number, &mut bytes);
    let mut lanes = [0; 25];
    for (lane, bytes) in lanes.iter_mut().zip(bytes.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    let [a, b, c, d, e, ..] = lanes;
    require(ascon_agrees(&[a, b, c, d, e]), 1);
    require(keccak_agrees(&lanes), 2);
}

fn products(draw: &mut Draw) {
    for b in [0, 1, -1, 768, -768, 255, -256] {
        for a in [0, 1, -1, 255, 256, -256, i16::MAX, i16::MIN] {
            require(montgomery_agrees(a, b), 6);
        }
    }
    for _ in 0..300 {
        let word = draw.word();
        require(montgomery_agrees(word as i16, (word >> 16) as i16 % 769), 6);
    }
}

fn compression(draw: &mut Draw, number: u8) {
    let (mut bytes, mut block) = ([0; 32], [0; 64]);
    draw.fill(number, &mut bytes);
    draw.fill(number / 2, &mut block);
    let mut state = [0; 8];
    for (word, bytes) in state.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut expected = state;
    sha2::block_api::compress256(&mut expected, &[block]);
    // SAFETY: 32 bytes of state, 64 bytes of message.
    unsafe { sha256_compress(&mut state, &block) };
    require(state == expected, 4);
}

/// The digest around the compression function: its buffer, its padding, its clones.
fn hkdf_of_every_length(draw: &mut Draw) {
    let (mut prk, mut info) = ([0; 32], [0; 130]);
    draw.fill(9, &mut prk);
    draw.fill(9, &mut info);
    for len in 0..info.len() {
        let (mut ours, mut theirs) = ([0; 40], [0; 40]);
        expand(&prk, b"k", &info[..len], &mut ours);
        let hkdf = Hkdf::<Sha256>::from_prk(&prk);
        let done = hkdf.map(|hkdf| hkdf.expand_multi_info(&[b"HKM1 ", b"k", &info[..len]], &mut theirs));
        require(matches!(done, Ok(Ok(()))) && ours == theirs, 5);
    }
}

unsafe extern "C" {
    fn ascon_p8(state: *mut [u64; 5]);
    fn ascon_p12(state: *mut [u64; 5]);
    fn keccak_f1600(state: *mut [u64; 25]);
    fn sha256_compress(state: *mut [u32; 8], block: *const [u8; 64]);
}

fn conventions() {
    let (mut out, mut input) = ([0; 100], [0; 32]);
    for (function, code) in [
        (ascon_p8 as *const (), 11),
        (ascon_p12 as *const (), 12),
        (keccak_f1600 as *const (), 13),
        (sha256_compress as *const (), 14),
    ] {
        // SAFETY: no routine writes more than 200 bytes or reads more than 64.
        unsafe { require_convention(function, &mut out, &mut input, code) }
    }
}
