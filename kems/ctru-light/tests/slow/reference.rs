//! CTRU-Light as its specification words it: whole integers, schoolbook products, distances. Shares no arithmetic with the
//! crate.
#![allow(dead_code, reason = "each test crate that includes this file uses its own part")]

use std::vec::Vec;

use kem_core::hash::{HashSuite, XofReader};

pub(crate) const N: usize = 512;
pub(crate) const Q: i64 = 769;

/// Product modulo x^n + 1 and `modulus`, canonical.
pub(crate) fn multiply(a: &[i64], b: &[i64], modulus: i64) -> Vec<i64> {
    wrap(a, b, -1, modulus)
}

/// Product modulo x^n - z and `modulus`, canonical.
pub(crate) fn wrap(a: &[i64], b: &[i64], z: i64, modulus: i64) -> Vec<i64> {
    let n = a.len();
    let mut c = vec![0; n];
    for i in 0..n {
        for j in 0..n {
            let product = a[i] * b[j];
            if i + j < n {
                c[i + j] += product;
            } else {
                c[i + j - n] += product * z;
            }
        }
    }
    c.into_iter().map(|c: i64| c.rem_euclid(modulus)).collect()
}

/// Section 2.
pub(crate) fn sample_b1(bytes: &[u8]) -> Vec<i64> {
    (0..4 * bytes.len())
        .map(|k| bit(bytes, 2 * k) - bit(bytes, 2 * k + 1))
        .collect()
}

/// Section 3, code words of nibbles 0..15.
pub(crate) const WORDS: [u8; 16] = [
    0x00, 0x55, 0x0f, 0x5a, 0x3c, 0x69, 0x33, 0x66, 0xf0, 0xa5, 0xff, 0xaa, 0xcc, 0x99, 0xc3, 0x96,
];

/// Section 3, steps 1 to 5.
pub(crate) fn decode(v: &[i64]) -> u8 {
    let d0: Vec<i64> = v.iter().map(|&v| v.min(256 - v).pow(2)).collect();
    let d1: Vec<i64> = v.iter().map(|&v| (v - 128).pow(2)).collect();
    let mut totals = [0; 2];
    let mut words = [[0; 4]; 2];
    for branch in 0..2 {
        let (mut least, mut at) = ((1 << 30) - 1, 0);
        for i in 0..4 {
            let (c0, c1) = if branch == 0 {
                (d0[2 * i] + d0[2 * i + 1], d1[2 * i] + d1[2 * i + 1])
            } else {
                (d1[2 * i] + d0[2 * i + 1], d0[2 * i] + d1[2 * i + 1])
            };
            words[branch][i] = u8::from(c1 < c0);
            totals[branch] += c0.min(c1);
            if (c1 - c0).abs() < least {
                (least, at) = ((c1 - c0).abs(), i);
            }
        }
        if words[branch].iter().fold(0, |parity, w| parity ^ w) == 1 {
            words[branch][at] ^= 1;
            totals[branch] += least;
        }
    }
    let a0 = usize::from(totals[1] < totals[0]);
    let w = words[a0];
    a0 as u8 | w[0] << 1 | (w[0] ^ w[1]) << 2 | w[3] << 3
}

/// Squared distance on the cycle modulo 256 between `v` and the scaled code word of `nibble`.
pub(crate) fn distance(v: &[i64], nibble: usize) -> i64 {
    let point = |j: usize| 128 * i64::from(WORDS[nibble] >> j & 1);
    v.iter()
        .enumerate()
        .map(|(j, v)| {
            let d = (v - point(j)).rem_euclid(256);
            d.min(256 - d).pow(2)
        })
        .sum()
}

/// Section 5: little-endian stream of `d`-bit values.
pub(crate) fn unpack(bytes: &[u8], d: usize) -> Vec<i64> {
    (0..8 * bytes.len() / d)
        .map(|k| (0..d).map(|i| bit(bytes, d * k + i) << i).sum())
        .collect()
}

/// Coefficients of f from its 3-bit codes.
pub(crate) fn unpack_f(bytes: &[u8]) -> Vec<i64> {
    unpack(bytes, 3).into_iter().map(|code| 3 - code).collect()
}

/// Section 6.
pub(crate) fn encrypt(ek: &[u8], m: &[u8], coins: &[u8]) -> Vec<u8> {
    let sigma = multiply(&unpack(ek, 10), &sample_b1(coins), Q);
    sigma
        .iter()
        .enumerate()
        .map(|(k, sigma)| {
            let word = WORDS[usize::from(m[k / 16] >> (4 * (k / 8 % 2)) & 15)];
            ((256 * sigma + 384) / 769 + 128 * i64::from(word >> (k % 8) & 1)) as u8
        })
        .collect()
}

/// Section 6.
pub(crate) fn decrypt(f: &[u8], ct: &[u8]) -> Vec<u8> {
    let ct: Vec<i64> = ct.iter().map(|&c| c.into()).collect();
    let v = multiply(&ct, &unpack_f(f), 256);
    v.chunks(16).map(|v| decode(&v[..8]) | decode(&v[8..]) << 4).collect()
}

/// Section 7: ciphertext and shared secret.
pub(crate) fn encaps<H: HashSuite>(ek: &[u8], m: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let (k, rho) = halves(&h512::<H>(&[&ek[..33], m]));
    let mut coins = [0; 128];
    H::xof(&[&rho]).read(&mut coins);
    (encrypt(ek, m, &coins), k)
}

/// Section 7.
pub(crate) fn decaps<H: HashSuite>(dk: &[u8], ct: &[u8]) -> [u8; 32] {
    let (f, ek, z) = (&dk[..192], &dk[192..832], &dk[832..]);
    let (again, k) = encaps::<H>(ek, &decrypt(f, ct));
    let (reject, _) = halves(&h512::<H>(&[ct, z]));
    if again == ct { k } else { reject }
}

/// H512 of section 8.
pub(crate) fn h512<H: HashSuite>(parts: &[&[u8]]) -> [u8; 64] {
    let mut out = [0; 64];
    H::hash64(parts, &mut out);
    out
}

/// Both halves of 64 bytes.
pub(crate) fn halves(bytes: &[u8; 64]) -> ([u8; 32], [u8; 32]) {
    (
        std::array::from_fn(|i| bytes[i]),
        std::array::from_fn(|i| bytes[32 + i]),
    )
}

fn bit(bytes: &[u8], k: usize) -> i64 {
    i64::from(bytes[k >> 3] >> (k & 7) & 1)
}
