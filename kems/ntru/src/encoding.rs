//! Polynomials as bytes (section 1.8). The last coefficient is never stored.

use kem_core::ct::CtSink;
use subtle::{Choice, ConstantTimeEq};

use crate::params::Params;
use crate::ring::{div_3, mod_3};

/// pack_S3: five coefficients modulo 3 a byte, the first one least significant.
pub(crate) fn pack_trits(p: &[u16], sink: &mut impl CtSink) {
    for five in p[..p.len() - 1].chunks(5) {
        sink.put(five.iter().rev().fold(0, |byte, &c| 3 * byte + c as u8));
    }
}

/// unpack_S3. Bytes that no five coefficients give are reduced; the last coefficient is zero.
pub(crate) fn unpack_trits(bytes: &[u8], p: &mut [u16]) {
    let (last, stored) = p.split_last_mut().expect("a polynomial has coefficients");
    for (five, &byte) in stored.chunks_mut(5).zip(bytes) {
        let mut rest = u16::from(byte);
        for c in five {
            *c = mod_3(rest);
            rest = div_3(rest);
        }
    }
    *last = 0;
}

/// pack_Sq and pack_Rq0. Bits beyond q are dropped.
pub(crate) fn pack_q<P: Params>(p: &[u16], sink: &mut impl CtSink) {
    P::pack_q(p[..P::N - 1].iter().copied(), sink);
}

/// unpack_Sq: the last coefficient is zero.
pub(crate) fn unpack_q<P: Params>(bytes: &[u8], p: &mut [u16]) {
    p[..P::N - 1]
        .iter_mut()
        .zip(P::unpack_q(bytes))
        .for_each(|(c, value)| *c = value);
    p[P::N - 1] = 0;
}

/// unpack_Rq0: the last coefficient makes the sum of all zero.
pub(crate) fn unpack_sum_zero<P: Params>(bytes: &[u8], p: &mut [u16]) {
    unpack_q::<P>(bytes, p);
    p[P::N - 1] = p.iter().fold(0, |last: u16, c| last.wrapping_sub(*c));
}

/// 1 if the bits of the last byte that belong to no coefficient are zero.
pub(crate) fn padding_is_zero<P: Params>(bytes: &[u8]) -> Choice {
    let used = P::LOG_Q as usize * (P::N - 1) - 8 * (bytes.len() - 1);
    let last = bytes.last().map_or(0, |&last| u16::from(last));
    (last >> used).ct_eq(&0)
}

#[cfg(test)]
mod tests {
    use kem_core::ct::Emit;

    use super::*;
    use crate::params::{Hps509, Hps677, Hps821, Hrss701};

    #[test]
    fn five_trits_a_byte() {
        let mut bytes = [0; 2];
        pack_trits(&[1, 2, 0, 1, 2, 2, 1, 0], &mut Emit::new(&mut bytes));
        assert_eq!(bytes, [1 + 2 * 3 + 27 + 2 * 81, 2 + 3]);
        let mut p = [9; 8];
        unpack_trits(&bytes, &mut p);
        assert_eq!(p, [1, 2, 0, 1, 2, 2, 1, 0]);
    }

    /// 243 is 3^5: such bytes are no key, and read as their value modulo 3^5.
    #[test]
    fn bytes_beyond_five_trits_are_reduced() {
        for byte in 243..=255 {
            let (mut p, mut same) = ([9; 6], [9; 6]);
            unpack_trits(&[byte], &mut p);
            unpack_trits(&[byte - 243], &mut same);
            assert_eq!(p, same);
        }
    }

    #[test]
    fn sum_zero_encoding_restores_the_last_coefficient() {
        let mut bytes = [0; 699];
        bytes[..3].copy_from_slice(&[0x03, 0x28, 0]);
        let mut p = [9; 509];
        unpack_sum_zero::<Hps509>(&bytes, &mut p);
        // 11 bits each: 3, then 5.
        assert_eq!((p[0], p[1], p[508]), (3, 5, 0u16.wrapping_sub(8)));
        unpack_q::<Hps509>(&bytes, &mut p);
        assert_eq!((p[0], p[1], p[508]), (3, 5, 0));
    }

    #[test]
    fn unused_bits() {
        fn check<P: Params<Ct: kem_core::Bytes>>(unused: u8) {
            for bit in 0..8 {
                let mut ct = <P::Ct as kem_core::Bytes>::ZERO;
                *ct.as_mut().last_mut().expect("not empty") = 1 << bit;
                assert_eq!(bool::from(padding_is_zero::<P>(ct.as_ref())), bit < 8 - unused);
            }
        }
        check::<Hps509>(4);
        check::<Hps677>(4);
        check::<Hps821>(0);
        check::<Hrss701>(4);
    }
}
