extern crate std;

use std::vec::Vec;

use super::*;

fn key_stream(mut stream: impl KeyStream, steps: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut step = [0; STEP_LEN];
    for _ in 0..steps {
        let mut calls = 0;
        stream.next(&mut step, |round| {
            assert_eq!(round, calls);
            calls += 1;
        });
        assert_eq!(calls, 10);
        bytes.extend_from_slice(&step);
    }
    bytes
}

/// RFC 8439 section 2.3.2: block 1 of its key and nonce.
#[test]
fn the_block_of_the_standard() {
    let key: [u8; 32] = core::array::from_fn(|i| i as u8);
    let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let block = concat!(
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e",
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    );
    let check = |stream: Vec<u8>| assert_eq!(hex::encode(&stream[BLOCK_LEN..2 * BLOCK_LEN]), block);
    check(key_stream(Portable::new(&key, &nonce), 1));
    #[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
    if let Some(avx2) = Avx2::new(&key, &nonce) {
        check(key_stream(avx2, 1));
    }
}

#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
#[test]
fn avx2_makes_what_portable_code_makes() {
    for seed in 0..20_u8 {
        let key = core::array::from_fn(|i| (i as u8).wrapping_mul(59) ^ seed.wrapping_mul(151));
        let nonce = core::array::from_fn(|i| (i as u8).wrapping_mul(97) ^ seed);
        let Some(avx2) = Avx2::new(&key, &nonce) else {
            return;
        };
        assert_eq!(key_stream(avx2, 40), key_stream(Portable::new(&key, &nonce), 40));
    }
}
