use kem_core::ct::CtSink;

use crate::backends::Backend;
use crate::poly::{Poly, Q};

/// Compression to a number of bits (FIPS 203 section 4.2.1).
pub trait Width {
    const BITS: usize;

    /// ByteEncode(Compress(p)). In: 0 <= c < Q.
    fn encode(backend: impl Backend, p: &Poly, sink: &mut impl CtSink);

    /// Decompress(ByteDecode(bytes)). Out: 0 <= c < Q.
    fn decode(backend: impl Backend, bytes: &[u8], p: &mut Poly);
}

/// `D` bits a coefficient, at most 11.
pub enum Bits<const D: usize> {}

impl<const D: usize> Width for Bits<D> {
    const BITS: usize = D;

    #[inline(always)]
    fn encode(backend: impl Backend, p: &Poly, sink: &mut impl CtSink) {
        backend.compress::<D>(p, sink);
    }

    #[inline(always)]
    fn decode(backend: impl Backend, bytes: &[u8], p: &mut Poly) {
        backend.decompress::<D>(bytes, p);
    }
}

/// round(2^D x / Q), where 2^D stands for 0: only the low D bits of the result count. In: 0 <= x < Q.
///
/// Coefficients are secret, and a division instruction takes longer for some values than for others ("KyberSlash"). The
/// quotient is estimated with floor(2^(D+16) / Q), which is at most one too low, and corrected by the remainder: that is
/// below 2 Q, so that 16 bits are enough.
#[inline(always)]
pub(crate) fn compress<const D: usize>(x: u16) -> u16 {
    const { assert!(D <= 11) };
    const HALF: u16 = Q as u16 / 2;
    let reciprocal = const { (1 << (D + 16)) / Q as u32 };
    let quotient = ((u32::from(x) * reciprocal) >> 16) as u16;
    let remainder = (x << D)
        .wrapping_add(HALF)
        .wrapping_sub(quotient.wrapping_mul(Q as u16));
    quotient + ((Q as u16 - 1).wrapping_sub(remainder) >> 15)
}

/// round(Q y / 2^D). In: y < 2^D.
#[inline(always)]
pub(crate) fn decompress<const D: usize>(y: u16) -> i16 {
    ((u32::from(y) * Q as u32 + (1 << (D - 1))) >> D) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::convert;

    fn exhaustive<const D: usize>() {
        let q = Q as u32;
        for x in 0..Q as u16 {
            let expected = ((u32::from(x) << D) + q / 2) / q % (1 << D);
            assert_eq!(u32::from(compress::<D>(x)) % (1 << D), expected, "compress_{D}({x})");
        }
        for y in 0..1 << D {
            let expected = (f64::from(y) * f64::from(Q) / f64::from(1 << D) + 0.5) as i16;
            assert_eq!(decompress::<D>(y), expected, "decompress_{D}({y})");
            assert_eq!(compress::<D>(decompress::<D>(y) as u16) % (1 << D), y);
        }
    }

    #[test]
    fn every_value_and_width() {
        exhaustive::<1>();
        exhaustive::<4>();
        exhaustive::<5>();
        exhaustive::<10>();
        exhaustive::<11>();
    }

    /// FIPS 203 section 4.2.1: rounding is to the nearest integer, not down; 2^D wraps to 0.
    #[test]
    fn rounding_boundaries() {
        assert_eq!((compress::<1>(832), compress::<1>(833)), (0, 1));
        assert_eq!((compress::<1>(2496), compress::<1>(2497) & 1), (1, 0));
        assert_eq!((compress::<10>(1), compress::<10>(2)), (0, 1));
        assert_eq!(compress::<10>(3328) & 0x3ff, 0);
        assert_eq!(decompress::<1>(1), 1665);
    }

    #[test]
    fn message_bits_are_little_endian() {
        let mut p = Poly::ZERO;
        convert::add_message(&mut p.0, &core::array::from_fn(|i| i as u8 ^ 0xa3));
        let mut m = [0; 32];
        convert::message_of(&p.0, &mut m);
        assert_eq!(m, core::array::from_fn(|i| i as u8 ^ 0xa3));
        assert_eq!(p.0[..8], [1665, 1665, 0, 0, 0, 1665, 0, 1665]);
    }
}
