//! Polynomials of Z\[x\]/(x^256 + 1) in the encodings of section 2, and the two roundings.

use kem_core::ct::CtSink;
use kem_core::pack::{pack, pack8, unpack};
use subtle::Choice;

use crate::params::Params;

/// Number of coefficients.
pub(crate) const N: usize = 256;
/// Bytes of a polynomial modulo q = 2^13.
pub(crate) const Q_LEN: usize = 13 * N / 8;
/// Bytes of a polynomial modulo p = 2^10.
pub(crate) const P_LEN: usize = 10 * N / 8;

/// Coefficients modulo 2^16, of which the low bits count: q, p and T all divide 2^16, so additions may wrap.
pub(crate) type Poly = [i16; N];

/// Writes coefficients modulo q.
pub(crate) fn encode_q(p: &Poly, sink: &mut impl CtSink) {
    for eight in p.as_chunks().0 {
        sink.put_all(&pack8::<13>(&eight.map(|c: i16| c as u16)));
    }
}

/// 1 if `bytes` encodes a polynomial with coefficients in -`eta`..=`eta`.
pub(crate) fn is_secret(bytes: &[u8], eta: i16) -> Choice {
    let outside = unpack::<13>(bytes).fold(0, |outside, value| {
        let c = (value << 3) as i16 >> 3;
        outside | (eta - c) | (eta + c)
    });
    // Negative if any of the differences was.
    Choice::from(1 ^ (outside as u16 >> 15) as u8)
}

/// Rounds from q to p, ((c + h1) mod q) >> 3, and writes the result.
pub(crate) fn encode_rounded(p: &Poly, sink: &mut impl CtSink) {
    for eight in p.as_chunks().0 {
        sink.put_all(&pack8::<10>(&eight.map(|c: i16| (c as u16).wrapping_add(H1) >> 3)));
    }
}

/// c_m = ((v - 2^9 m + h1) mod p) >> (10 - eps_T), bit i of `m` belonging to coefficient i.
pub(crate) fn encode_message<P: Params>(v: &Poly, m: &[u8; 32], sink: &mut impl CtSink) {
    let bits = unpack::<1>(m);
    let masked = v
        .iter()
        .zip(bits)
        .map(|(&v, bit)| (v as u16).wrapping_sub(bit << 9).wrapping_add(H1) & P_MASK);
    P::pack_cm(masked.map(|c| c >> (10 - P::EPS_T)), sink);
}

/// m = ((v + h2 - 2^(10 - eps_T) c_m) mod p) >> 9.
pub(crate) fn decode_message<P: Params>(v: &Poly, cm: &[u8], m: &mut impl CtSink) {
    let cm = P::unpack_cm(cm).map(|c| c << (10 - P::EPS_T));
    let bits = v
        .iter()
        .zip(cm)
        .map(|(&v, cm)| ((v as u16).wrapping_add(h2::<P>()).wrapping_sub(cm) & P_MASK) >> 9);
    pack::<1>(bits, m);
}

/// 2^(eps_q - eps_p - 1): half of the step from q to p.
const H1: u16 = 4;
const P_MASK: u16 = (1 << 10) - 1;

/// 2^(eps_p - 2) - 2^(eps_p - eps_T - 1) + 2^(eps_q - eps_p - 1).
const fn h2<P: Params>() -> u16 {
    (1 << 8) - (1 << (9 - P::EPS_T)) + H1
}

#[cfg(test)]
mod tests {
    use kem_core::ct::Emit;

    use super::*;
    use crate::backends::decode_centred;
    use crate::params::{Rank2, Rank3, Rank4};

    #[test]
    fn h2_of_the_three_sets() {
        assert_eq!([h2::<Rank2>(), h2::<Rank3>(), h2::<Rank4>()], [196, 228, 252]);
    }

    #[test]
    fn decoding_centres() {
        // 0x200, 0x1ff, 0x000, 0x3ff in 10 bits each, then the same again.
        let bytes = [0x00, 0xfe, 0x07, 0xc0, 0xff, 0x00, 0xfe, 0x07, 0xc0, 0xff];
        let mut out = [0; 8];
        decode_centred::<10>(&bytes, &mut out);
        assert_eq!(out, [-512, 511, 0, -1, -512, 511, 0, -1]);
    }

    /// (c + 4) has to be reduced modulo q before the shift: 8188 rounds to 0, not to 1024.
    #[test]
    fn rounding_wraps_at_q() {
        let mut p = [0; N];
        p[..4].copy_from_slice(&[8187, 8188, -4, -5]);
        let mut bytes = [0; P_LEN];
        encode_rounded(&p, &mut Emit::new(&mut bytes));
        let mut out = [0; N];
        decode_centred::<10>(&bytes, &mut out);
        assert_eq!(out[..5], [-1, 0, 0, -1, 0]);
    }

    /// The largest rounding error, 2^(9 - eps_T) - 1 in either direction, still gives the bit that went in.
    #[test]
    fn message_survives_its_own_rounding() {
        fn check<P: Params>(cm_len: usize) {
            let m: [u8; 32] = core::array::from_fn(|i| 0x35u8.wrapping_mul(i as u8 + 1));
            for offset in [-512, -3, 0, 3, 100, 511, 600] {
                let v: Poly = core::array::from_fn(|i| (37 * i as i16) % 1024 + offset);
                let mut cm = [0; 192];
                encode_message::<P>(&v, &m, &mut Emit::new(&mut cm[..cm_len]));
                let mut back = [0; 32];
                decode_message::<P>(&v, &cm[..cm_len], &mut Emit::new(&mut back));
                assert_eq!(back, m);
            }
        }
        check::<Rank2>(96);
        check::<Rank3>(128);
        check::<Rank4>(192);
    }
}
