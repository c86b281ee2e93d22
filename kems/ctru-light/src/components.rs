//! The component vectors, which reach layers below the public interface.

use core::array::from_fn;
use std::vec::Vec;

use kem_core::hash::XofReader;
use kem_core::testkit::Hex;
use serde::Deserialize;

use crate::encoding::F_LEN;
use crate::ring::Poly;

#[derive(Deserialize)]
pub(crate) struct Components {
    /// Index: nibble.
    pub(crate) e8_encode: [u8; 16],
    pub(crate) e8_decode: Vec<Decoded>,
    pub(crate) compress: Vec<Compressed>,
    pub(crate) sample_b1: Sampled,
    pub(crate) pke: Pke,
    pub(crate) noninvertible: NonInvertible,
}

#[derive(Deserialize)]
pub(crate) struct Decoded {
    pub(crate) v: [u8; 8],
    pub(crate) nibble: u8,
}

#[derive(Deserialize)]
pub(crate) struct Compressed {
    pub(crate) sigma: i16,
    /// Before the reduction modulo 256.
    pub(crate) t: u16,
}

#[derive(Deserialize)]
pub(crate) struct Sampled {
    pub(crate) buf: Hex,
    pub(crate) coeffs: Vec<i16>,
}

#[derive(Deserialize)]
pub(crate) struct Pke {
    pub(crate) coins: Hex,
    pub(crate) pk: Hex,
    pub(crate) sk_f: Hex,
    pub(crate) f: Vec<i16>,
    pub(crate) h: Vec<i16>,
    pub(crate) m: Hex,
    pub(crate) enc_coins: Hex,
    pub(crate) ct: Hex,
}

/// Coins whose f is 0 modulo x^4 - 7.
#[derive(Deserialize)]
pub(crate) struct NonInvertible {
    pub(crate) coins: Hex,
}

pub(crate) fn load() -> Components {
    serde_json::from_str(include_str!("../tests/vectors/components.json")).expect("vector file parses")
}

/// Explicit coins in the place of an XOF.
pub(crate) struct Coins<'a>(pub(crate) &'a [u8]);

impl XofReader for Coins<'_> {
    fn read(&mut self, out: &mut [u8]) {
        let (head, rest) = self.0.split_at(out.len());
        out.copy_from_slice(head);
        self.0 = rest;
    }
}

/// A small generator for test inputs (an LCG by Knuth): values in `0..limit`.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % limit
    }
}

/// For comparisons with the reference.
pub(crate) fn wide(coefficients: &[i16]) -> Vec<i64> {
    coefficients.iter().map(|&c| c.into()).collect()
}

/// The bytes of f = 2 f' + 1.
pub(crate) fn pack_f_prime(mut f_prime: impl FnMut(usize) -> i16) -> [u8; F_LEN] {
    let mut bytes = [0; F_LEN];
    Poly(from_fn(|k| 2 * f_prime(k) + i16::from(k == 0))).pack_f(&mut bytes);
    bytes
}
