use kem_core::ct::CtSink;
use kem_core::modular::Zq;
use zeroize::Zeroize;

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

    /// Out: |c| <= (Q + 1) / 2.
    pub(crate) fn reduce(&mut self) {
        self.0.iter_mut().for_each(|c| *c = Zq::<Q>::barrett(*c));
    }

    /// The sum has to fit in an `i16`.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(c, other)| *c += other);
    }

    /// The difference has to fit in an `i16`.
    pub(crate) fn sub(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(c, other)| *c -= other);
    }

    /// Makes up for the factor 1/R of [`Arith::basemul_acc`](crate::backends::Arith::basemul_acc). Out: |c| < Q.
    pub(crate) fn lift(&mut self) {
        self.0.iter_mut().for_each(|c| *c = Zq::<Q>::to_montgomery(*c));
    }

    /// Adds Decompress_1 of a message (FIPS 203 section 4.2.1). Adds 0 or (Q + 1) / 2 to each coefficient.
    pub(crate) fn add_message(&mut self, m: &[u8; 32]) {
        for (eight, byte) in self.0.as_chunks_mut::<8>().0.iter_mut().zip(m) {
            for (bit, c) in eight.iter_mut().enumerate() {
                *c += -i16::from(byte >> bit & 1) & ((Q + 1) / 2);
            }
        }
    }

    /// ByteEncode_12 of the canonical coefficients. In: any c.
    pub(crate) fn encode(&self, sink: &mut impl CtSink) {
        for pair in self.0.as_chunks::<2>().0 {
            let [low, high] = pair.map(|c| Zq::<Q>::freeze(c) as u16);
            sink.put_all(&[low as u8, (low >> 8 | high << 4) as u8, (high >> 4) as u8]);
        }
    }

    /// The 12-bit values of [`POLY_LEN`] bytes, 0 <= c < 4096: congruent to ByteDecode_12, and equal to it for what
    /// [`is_canonical`] accepts.
    pub(crate) fn decode(&mut self, bytes: &[u8]) {
        for (pair, triple) in self.0.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
            *pair = values(triple);
        }
    }
}

/// The modulus check of FIPS 203 section 7.2: no 12-bit value of `bytes` is Q or more.
pub(crate) fn is_canonical(bytes: &[u8]) -> bool {
    let highest = bytes.as_chunks().0.iter().flat_map(values).max();
    highest.is_none_or(|value| value < Q)
}

/// Two 12-bit values, little-endian.
#[inline(always)]
fn values(&[a, b, c]: &[u8; 3]) -> [i16; 2] {
    [
        i16::from(a) | i16::from(b & 15) << 8,
        i16::from(b >> 4) | i16::from(c) << 4,
    ]
}

/// k polynomials.
pub trait PolyVec: AsRef<[Poly]> + AsMut<[Poly]> + Zeroize {
    const ZERO: Self;
}

impl<const K: usize> PolyVec for [Poly; K] {
    const ZERO: Self = [Poly::ZERO; K];
}
