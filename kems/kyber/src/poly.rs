use kem_core::sample::UNIFORM_BLOCK;
use zeroize::Zeroize;

use crate::backends::convert;

/// The modulus (FIPS 203 section 2.4).
pub(crate) const Q: i16 = 3329;
/// Coefficients of a polynomial.
pub(crate) const N: usize = 256;
/// Bytes of an uncompressed polynomial, 12 bits a coefficient.
pub(crate) const POLY_LEN: usize = 12 * N / 8;

/// A polynomial of R_q or of T_q. Bounds of the coefficients stand at every function.
///
/// Aligned so that a backend may take coefficients in pairs.
#[derive(Clone, Zeroize)]
#[repr(align(4))]
pub struct Poly(pub(crate) [i16; N]);

impl Poly {
    pub(crate) const ZERO: Self = Self([0; N]);

    /// The difference has to fit in an `i16`.
    pub(crate) fn sub(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(c, other)| *c -= other);
    }
}

/// The 12-bit values of `bytes`, 0 <= c < 4096, in pieces with the index of their first coefficient: congruent to
/// ByteDecode_12, and equal to it for what [`is_canonical`] accepts. No polynomial has to be stored.
#[inline(always)]
pub(crate) fn decode(bytes: &[u8], mut take: impl FnMut(usize, &[i16; PIECE])) {
    let mut piece = [0; PIECE];
    for (i, bytes) in bytes.as_chunks::<{ 12 * PIECE / 8 }>().0.iter().enumerate() {
        convert::unpack12(bytes, &mut piece);
        take(PIECE * i, &piece);
    }
    piece.zeroize();
}

/// Coefficients that [`decode`] gives at a time, as many as in a block of a uniform stream.
pub(crate) const PIECE: usize = UNIFORM_BLOCK;

/// Whether no 12-bit value of `bytes` is Q or more.
pub(crate) fn is_canonical(bytes: &[u8]) -> bool {
    let mut highest = 0;
    decode(bytes, |_, piece| {
        highest = piece.iter().fold(highest, |highest, &value| highest.max(value));
    });
    highest < Q
}

/// k polynomials.
pub trait PolyVec: AsRef<[Poly]> + AsMut<[Poly]> + Zeroize {
    const ZERO: Self;
}

impl<const K: usize> PolyVec for [Poly; K] {
    const ZERO: Self = [Poly::ZERO; K];
}
