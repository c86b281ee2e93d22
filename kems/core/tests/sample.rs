//! Samplers against their definition.

use kem_core::hash::{Shake128, Shake256, XofReader};
use kem_core::sample::{UNIFORM_BLOCK, cbd, cbd_bytes, uniform_12bit};
use proptest::prelude::*;

fn weight(bytes: &[u8], bits: core::ops::Range<usize>) -> i16 {
    bits.map(|i| i16::from(bytes[i / 8] >> (i % 8) & 1)).sum()
}

fn check_cbd<const ETA: usize>(seed: &[u8]) {
    let mut bytes = [0; 64 * 5];
    let bytes = &mut bytes[..64 * ETA];
    Shake256::absorb_all(&[seed]).read(bytes);
    let expected: Vec<i16> = (0..256)
        .map(|i| 2 * ETA * i)
        .map(|i| weight(bytes, i..i + ETA) - weight(bytes, i + ETA..i + 2 * ETA))
        .collect();
    let (mut streamed, mut whole) = ([0; 256], [0; 256]);
    cbd::<ETA>(&mut Shake256::absorb_all(&[seed]), &mut streamed);
    cbd_bytes::<ETA>(bytes, &mut whole);
    assert_eq!(streamed[..], expected);
    assert_eq!(whole[..], expected);
}

#[test]
fn cbd_extremes() {
    let mut out = [0; 4];
    cbd_bytes::<5>(&[0b0001_1111, 0b0111_1100, 0, 0b0011_1110, 0b1111_1000], &mut out);
    assert_eq!(out[0], 5);
    cbd_bytes::<1>(&[0b10_01_11_00], &mut out);
    assert_eq!(out, [0, 0, 1, -1]);
}

proptest! {
    #[test]
    fn cbd_of_every_eta(seed: [u8; 32]) {
        check_cbd::<1>(&seed);
        check_cbd::<2>(&seed);
        check_cbd::<3>(&seed);
        check_cbd::<4>(&seed);
        check_cbd::<5>(&seed);
    }

    #[test]
    fn uniform_takes_candidates_in_order(seed: [u8; 32]) {
        let mut bytes = [0; 168 * 8];
        Shake128::absorb_all(&[&seed]).read(&mut bytes);
        let expected: Vec<i16> = (0..bytes.len() * 8 / 12)
            .map(|i| weight_value(&bytes, 12 * i))
            .filter(|&candidate| candidate < 3329)
            .take(256)
            .collect();
        let mut out = [0; 256];
        uniform(&mut Shake128::absorb_all(&[&seed]), &mut out);
        prop_assert_eq!(&out[..], &expected[..]);
    }
}

fn uniform(stream: &mut impl XofReader, out: &mut [i16]) {
    let blocks = out.len().div_ceil(UNIFORM_BLOCK);
    uniform_12bit::<3329>(stream, blocks, |block, coefficients| {
        let rest = &mut out[block * UNIFORM_BLOCK..];
        let count = rest.len().min(UNIFORM_BLOCK);
        rest[..count].copy_from_slice(&coefficients[..count]);
    });
}

fn weight_value(bytes: &[u8], first: usize) -> i16 {
    (0..12).map(|i| weight(bytes, first + i..first + i + 1) << i).sum()
}

/// A candidate equal to the modulus is refused, the one below it is taken.
#[test]
fn uniform_boundary() {
    struct Fixed(usize);
    impl XofReader for Fixed {
        fn read(&mut self, out: &mut [u8]) {
            // 3329 = 0xd01, 3328 = 0xd00, 4095 = 0xfff, 7
            let bytes = [0x01, 0x0d, 0xd0, 0xff, 0x7f, 0x00];
            out.iter_mut().for_each(|byte| {
                *byte = bytes[self.0 % 6];
                self.0 += 1;
            });
        }
    }
    let mut out = [0; 4];
    uniform(&mut Fixed(0), &mut out);
    assert_eq!(out, [3328, 7, 3328, 7]);
}
