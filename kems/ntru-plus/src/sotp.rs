//! Ternary polynomials and the bits that they are made from: CBD1, and SOTP, the one-time pad that hides the message
//! (specification, building blocks).
//!
//! Each function reads 2n bits itself, into a frame of its own: they are secret, and RAM is short.

use core::ops::Range;

use kem_core::{Bytes, hash::XofReader};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::{params::Params, profile::Profile};

/// CBD1: each coefficient is one of the first n bits minus one of the next n.
#[inline(never)]
pub(crate) fn cbd1<P: Params, V: Profile>(bits: &mut impl XofReader, out: &mut P::Poly) {
    let mut halves = Bits::<P>::ZERO;
    halves.fill(bits);
    halves.subtract::<V>(out.as_mut(), |c, difference| *c = difference);
}

/// [`cbd1`] of the n/4 bytes of `bits`.
#[inline(never)]
pub(crate) fn cbd1_bytes<P: Params, V: Profile>(bits: &[u8], out: &mut P::Poly) {
    let (low, high) = bits.split_at(P::Message::LEN);
    subtract::<V>(low, high, out.as_mut(), |c, difference| *c = difference);
}

/// 1 if `poly`, |c| < q, is what [`cbd1`] makes of the same bits. Leaves the difference in `poly`.
#[inline(never)]
pub(crate) fn is_cbd1<P: Params, V: Profile>(bits: &mut impl XofReader, poly: &mut P::Poly) -> Choice {
    let mut halves = Bits::<P>::ZERO;
    halves.fill(bits);
    halves.subtract::<V>(poly.as_mut(), |c, difference| *c -= difference);
    poly.as_ref().iter().fold(0, |all, c| all | c).ct_eq(&0)
}

/// SOTP.Encode(m, U) with U from `pad`: CBD1 of m ^ U_lo and U_hi.
#[inline(never)]
pub(crate) fn encode<P: Params, V: Profile>(m: &P::Message, pad: &mut impl XofReader, out: &mut P::Poly) {
    let mut bits = Bits::<P>::ZERO;
    bits.fill(pad);
    bits.low
        .as_mut()
        .iter_mut()
        .zip(m.as_ref())
        .for_each(|(low, m)| *low ^= m);
    bits.subtract::<V>(out.as_mut(), |c, difference| *c = difference);
}

/// SOTP.Decode(y, U) with U from `pad`, on the bits of y: `m` holds the non-zero ones and becomes the message. 1 if y was
/// in range, that is if y = m' - U_hi for bits m'.
///
/// Without the range check, a coefficient of y could change its sign and give the same message.
#[inline(never)]
pub(crate) fn decode<P: Params>(m: &mut P::Message, negative: &P::Message, pad: &mut impl XofReader) -> Choice {
    let mut bits = Bits::<P>::ZERO;
    bits.fill(pad);
    let pad = bits.low.as_ref().iter().zip(bits.high.as_ref());
    let mut bad = 0;
    for ((m, negative), (low, high)) in m.as_mut().iter_mut().zip(negative.as_ref()).zip(pad) {
        // y = 1 needs U_hi = 0, y = -1 needs U_hi = 1.
        bad |= *m & (negative ^ high);
        *m ^= low ^ high;
    }
    bad.ct_eq(&0)
}

/// The bits of a ternary polynomial: which coefficients are not 0, and which are -1.
pub(crate) fn split_trits<P: Params, V: Profile>(poly: &P::Poly, nonzero: &mut P::Message, negative: &mut P::Message) {
    let (nonzero, negative) = (nonzero.as_mut().as_chunks_mut().0, negative.as_mut().as_chunks_mut().0);
    for (block, lanes, words) in blocks::<V>(P::N) {
        let poly = &poly.as_ref()[block];
        for (lane, word) in words.enumerate() {
            let (mut odd, mut sign) = (0u16, 0u16);
            for bit in 0..16 {
                let trit = poly[bit * lanes + lane] as u16;
                odd |= (trit & 1) << bit;
                sign |= (trit >> 15) << bit;
            }
            nonzero[word] = odd.to_le_bytes();
            negative[word] = sign.to_le_bytes();
        }
    }
}

/// 2n bits in two halves.
struct Bits<P: Params> {
    low: P::Message,
    high: P::Message,
}

impl<P: Params> Drop for Bits<P> {
    fn drop(&mut self) {
        self.low.zeroize();
        self.high.zeroize();
    }
}

impl<P: Params> Bits<P> {
    const ZERO: Self = Self {
        low: P::Message::ZERO,
        high: P::Message::ZERO,
    };

    /// In place: small machines copy what a function returns.
    #[inline(always)]
    fn fill(&mut self, reader: &mut impl XofReader) {
        reader.read(self.low.as_mut());
        reader.read(self.high.as_mut());
    }

    /// As the function of that name, for both halves.
    #[inline(always)]
    fn subtract<V: Profile>(&self, poly: &mut [i16], visit: impl Fn(&mut i16, i16)) {
        subtract::<V>(self.low.as_ref(), self.high.as_ref(), poly, visit);
    }
}

/// Visits every coefficient with its bit of `low` minus its bit of `high`.
#[inline(always)]
fn subtract<V: Profile>(low: &[u8], high: &[u8], poly: &mut [i16], visit: impl Fn(&mut i16, i16)) {
    for (block, lanes, words) in blocks::<V>(poly.len()) {
        let poly = &mut poly[block];
        for (lane, word) in words.enumerate() {
            let (low, high) = (word_at(low, word), word_at(high, word));
            for bit in 0..16 {
                let difference = i16::from(low & 1 << bit != 0) - i16::from(high & 1 << bit != 0);
                visit(&mut poly[bit * lanes + lane], difference);
            }
        }
    }
}

#[inline(always)]
fn word_at(bits: &[u8], word: usize) -> u16 {
    u16::from_le_bytes(bits.as_chunks().0[word])
}

/// The blocks that `n` coefficients and their bits are laid out in: the coefficients, the number of lanes w, and w 16-bit
/// words. Bit k of word i belongs to coefficient i + k * w.
///
/// w is that of the profile, or the largest power of 2 that fits into what is left.
fn blocks<V: Profile>(n: usize) -> impl Iterator<Item = (Range<usize>, usize, Range<usize>)> {
    let mut start = 0;
    core::iter::from_fn(move || {
        let left = (n - start) / 16;
        let lanes = if V::LANES == 1 {
            left.min(1)
        } else {
            V::LANES.min(1 << left.checked_ilog2()?)
        };
        let block = start..start + 16 * lanes;
        start = block.end;
        (lanes > 0).then_some((block.clone(), lanes, block.start / 16..block.end / 16))
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use kem_core::testkit::File;

    use super::*;
    use crate::{Final, P768, P864, P1152, V2_2, params::sealed::Zeroed};

    macro_rules! on_every_set {
        ($($name:ident $set:ty, $profile:ty, $file:literal;)*) => {$(
            mod $name {
                use super::*;

                #[test]
                fn polynomials_of_the_known_answers() {
                    known_answers::<$set, $profile>(include_str!(concat!("../tests/vectors/", $file, ".json")));
                }

                #[test]
                fn one_changed_sign_is_noticed() {
                    changed_signs::<$set, $profile>();
                }
            }
        )*};
    }

    on_every_set! {
        final_768 P768, Final, "768-final";
        final_864 P864, Final, "864-final";
        final_1152 P1152, Final, "1152-final";
        v2_2_768 P768, V2_2, "768-v2_2";
        v2_2_864 P864, V2_2, "864-v2_2";
        v2_2_1152 P1152, V2_2, "1152-v2_2";
    }

    fn known_answers<P: Params, V: Profile>(json: &str) {
        let file: File = serde_json::from_str(json).expect("vector file parses");
        let vector = &file.vectors[0];
        let bytes = |name: &str| hex::decode(vector.extra[name].as_str().expect(name)).expect("hexadecimal");
        let integers = |name: &str| serde_json::from_value::<Vec<i16>>(vector.extra[name].clone()).expect(name);
        let mut poly = P::Poly::ZERO;

        let r = bytes("H_out_r_seed");
        cbd1::<P, V>(&mut Output(&r), &mut poly);
        assert_eq!(poly.as_ref()[..16], integers("r_first16"));
        assert!(bool::from(is_cbd1::<P, V>(&mut Output(&r), &mut poly)));

        let pad = bytes("G_out");
        let message = P::Message::from_slice(&vector.encaps_coins).expect("n/8 bytes");
        encode::<P, V>(message, &mut Output(&pad), &mut poly);
        assert_eq!(poly.as_ref()[..16], integers("m_poly_first16"));
        let (mut m, mut negative) = (P::Message::ZERO, P::Message::ZERO);
        split_trits::<P, V>(&poly, &mut m, &mut negative);
        assert!(bool::from(decode::<P>(&mut m, &negative, &mut Output(&pad))));
        assert_eq!(m.as_ref(), message.as_ref());
    }

    /// Wherever it is, and whatever else the polynomial and the pad are.
    fn changed_signs<P: Params, V: Profile>() {
        let pad = (0..P::N / 4).map(|i| (i * i / 3 % 251) as u8).collect::<Vec<_>>();
        let mut y = P::Poly::ZERO;
        cbd1::<P, V>(&mut Output(&pad), &mut y);
        for place in 0..P::N {
            y.as_mut()[place] = -y.as_ref()[place];
            let changed = y.as_ref()[place] != 0;
            let (mut m, mut negative) = (P::Message::ZERO, P::Message::ZERO);
            split_trits::<P, V>(&y, &mut m, &mut negative);
            let good = decode::<P>(&mut m, &negative, &mut Output(&pad));
            assert_eq!(bool::from(good), !changed, "coefficient {place}");
            assert_eq!(m.as_ref(), P::Message::ZERO.as_ref(), "the message is the same");

            let mut r = P::Poly::ZERO;
            r.as_mut().copy_from_slice(y.as_ref());
            assert_eq!(
                bool::from(is_cbd1::<P, V>(&mut Output(&pad), &mut r)),
                !changed,
                "coefficient {place}"
            );
            y.as_mut()[place] = -y.as_ref()[place];
        }
    }

    /// Known output of a hash.
    struct Output<'a>(&'a [u8]);

    impl XofReader for Output<'_> {
        fn read(&mut self, out: &mut [u8]) {
            let (head, rest) = self.0.split_at(out.len());
            out.copy_from_slice(head);
            self.0 = rest;
        }
    }
}
