//! Polynomials from SHAKE128 streams, one at a time.

use kem_core::hash::{KeccakReader, Shake128, XofReader};

use crate::backends::decode_centred;
use crate::params::Params;
use crate::poly::{N, Poly};

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
const _: () = assert!((PIECE_LEN * 8).is_multiple_of(13) && N.is_multiple_of(PIECE_LEN * 8 / 13));

#[cfg(test)]
mod tests {
    use kem_core::testkit::File;

    use super::*;
    use crate::params::{Rank2, Rank3, Rank4};

    /// Intermediate values of the reference implementation: A\[0\]\[1\] is second in the stream, A\[1\]\[0\] number l.
    #[test]
    fn matrix_and_secret_streams() {
        fn check<P: Params>(json: &str) {
            let vector = serde_json::from_str::<File>(json)
                .expect("vector file parses")
                .vectors
                .remove(0);
            let seed_a = hex::decode(vector.extra["seed_A"].as_str().expect("a string")).expect("hexadecimal");
            let numbers = |name: &str| -> std::vec::Vec<i16> {
                serde_json::from_value(vector.extra[name].clone()).expect("numbers")
            };
            let mut matrix = Matrix::new(seed_a[..].try_into().expect("32 bytes"));
            for at in 0..=P::RANK {
                let mut a = [0; N];
                matrix.next(&mut a);
                for (position, name) in [(0, "A00_first8"), (1, "A01_first8"), (P::RANK, "A10_first8")] {
                    if position == at {
                        assert_eq!(a.map(|c| c & 0x1fff)[..8], numbers(name), "{name}");
                    }
                }
                assert!(a.iter().all(|c| (-4096..4096).contains(c)));
            }
            let mut s = [0; N];
            Secrets::new(vector.keygen_coins[32..64].try_into().expect("32 bytes")).next::<P>(&mut s);
            assert_eq!(s[..16], numbers("s0_first16"));
        }
        check::<Rank2>(include_str!("../tests/vectors/lightsaber.json"));
        check::<Rank3>(include_str!("../tests/vectors/saber.json"));
        check::<Rank4>(include_str!("../tests/vectors/firesaber.json"));
    }
}
