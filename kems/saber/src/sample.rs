//! Polynomials from SHAKE128 streams, one at a time.

use kem_core::hash::{KeccakReader, Shake128, XofReader};

use crate::params::Params;
use crate::poly::{N, Poly, decode_centred};

/// GenMatrix: the l^2 polynomials of the matrix A, row by row, as they leave the stream.
pub(crate) struct Matrix(KeccakReader<168>);

impl Matrix {
    /// Starts with A\[0\]\[0\].
    pub(crate) fn new(seed_a: &[u8; 32]) -> Self {
        Self(Shake128::absorb_all(&[seed_a]))
    }

    /// The next polynomial, coefficients in -2^12..2^12.
    pub(crate) fn next(&mut self, a: &mut Poly) {
        let mut bytes = [0; PIECE_LEN];
        for piece in a.chunks_exact_mut(8 * PIECE_LEN / 13) {
            self.0.read(&mut bytes);
            decode_centred::<13>(&bytes, piece);
        }
    }
}

/// GenSecret: the l polynomials of a secret vector as they leave the stream.
pub(crate) struct Secrets(KeccakReader<168>);

impl Secrets {
    /// Starts with s\[0\].
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        Self(Shake128::absorb_all(&[seed]))
    }

    /// The next polynomial, coefficients in -mu/2..=mu/2.
    pub(crate) fn next<P: Params>(&mut self, s: &mut Poly) {
        P::sample_secret(&mut self.0, s);
    }
}

/// 64 coefficients of 13 bits: a quarter of a polynomial on the stack, whole 64-bit words from the stream.
const PIECE_LEN: usize = 104;
const _: () = assert!(PIECE_LEN * 8 % 13 == 0 && N % (PIECE_LEN * 8 / 13) == 0);
