//! Ternary polynomials and the bits that they are made from: CBD1, and SOTP, the one-time pad that hides the message
//! (specification, building blocks).

use core::ops::Range;

use subtle::{Choice, ConstantTimeEq};

use crate::profile::Profile;

/// CBD1: each coefficient is a bit of `plus` minus a bit of `minus`. Both hold n bits, `out` n coefficients.
///
/// SOTP.Encode(m, U) is the same with m ^ U_lo and U_hi.
pub(crate) fn subtract_bits<V: Profile>(plus: &[u8], minus: &[u8], out: &mut [i16]) {
    for_each_difference::<V>(plus, minus, out, |c, difference| *c = difference);
}

/// 1 if `poly`, |c| < 2^15, is what [`subtract_bits`] makes from `plus` and `minus`. Leaves the error in `poly`.
pub(crate) fn is_difference<V: Profile>(poly: &mut [i16], plus: &[u8], minus: &[u8]) -> Choice {
    for_each_difference::<V>(plus, minus, poly, |c, difference| *c -= difference);
    poly.iter().fold(0, |all, c| all | c).ct_eq(&0)
}

/// The bits of a ternary polynomial: which coefficients are not 0, and which are -1.
pub(crate) fn split_trits<V: Profile>(poly: &[i16], nonzero: &mut [u8], negative: &mut [u8]) {
    for (block, lanes, words) in blocks::<V>(poly.len()) {
        let poly = &poly[block];
        for (lane, word) in words.enumerate() {
            let (mut odd, mut sign) = (0, 0);
            for bit in 0..16 {
                let trit = poly[bit * lanes + lane] as u16;
                odd |= (trit & 1) << bit;
                sign |= (trit >> 15) << bit;
            }
            nonzero[2 * word..][..2].copy_from_slice(&u16::to_le_bytes(odd));
            negative[2 * word..][..2].copy_from_slice(&u16::to_le_bytes(sign));
        }
    }
}

/// SOTP.Decode on bits: `message` comes in as the non-zero bits of y and goes out as m; `negative` are the negative
/// ones. 1 if y was in range, that is if y = m' - U_hi for bits m'.
///
/// Without the range check, a coefficient of y could change its sign and give the same message.
pub(crate) fn decode(message: &mut [u8], negative: &[u8], pad_lo: &[u8], pad_hi: &[u8]) -> Choice {
    let mut bad = 0;
    for (((m, negative), lo), hi) in message.iter_mut().zip(negative).zip(pad_lo).zip(pad_hi) {
        // y = 1 needs U_hi = 0, y = -1 needs U_hi = 1.
        bad |= *m & (negative ^ hi);
        *m ^= lo ^ hi;
    }
    bad.ct_eq(&0)
}

#[inline(always)]
fn for_each_difference<V: Profile>(plus: &[u8], minus: &[u8], poly: &mut [i16], visit: impl Fn(&mut i16, i16)) {
    for (block, lanes, words) in blocks::<V>(poly.len()) {
        let poly = &mut poly[block];
        for (lane, word) in words.enumerate() {
            let (plus, minus) = (word_at(plus, word), word_at(minus, word));
            for bit in 0..16 {
                let difference = i16::from(plus & 1 << bit != 0) - i16::from(minus & 1 << bit != 0);
                visit(&mut poly[bit * lanes + lane], difference);
            }
        }
    }
}

#[inline(always)]
fn word_at(bits: &[u8], word: usize) -> u16 {
    u16::from_le_bytes([bits[2 * word], bits[2 * word + 1]])
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
    use std::{vec, vec::Vec};

    use kem_core::testkit::File;
    use serde_json::Value;

    use super::*;
    use crate::{Final, P768, P864, P1152, Params, V2_2};

    macro_rules! on_every_set {
        ($($name:ident $set:ty, $profile:ty, $file:literal;)*) => {$(
            mod $name {
                use super::*;

                #[test]
                fn polynomials_of_the_known_answers() {
                    let json = include_str!(concat!("../tests/vectors/", $file, ".json"));
                    known_answers::<$profile>(json, <$set>::N);
                }

                #[test]
                fn bits_survive_and_signs_are_checked() {
                    round_trip::<$profile>(<$set>::N);
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

    fn known_answers<V: Profile>(json: &str, n: usize) {
        let file: File = serde_json::from_str(json).expect("vector file parses");
        let vector = &file.vectors[0];
        let bytes = |name: &str| hex::decode(vector.extra[name].as_str().expect(name)).expect("hexadecimal");
        let mut poly = vec![0; n];

        let r = bytes("H_out_r_seed");
        subtract_bits::<V>(&r[..n / 8], &r[n / 8..], &mut poly);
        assert_eq!(poly[..16], integers(&vector.extra["r_first16"]));
        assert!(bool::from(is_difference::<V>(
            &mut poly.clone(),
            &r[..n / 8],
            &r[n / 8..]
        )));

        let pad = bytes("G_out");
        let low = vector
            .encaps_coins
            .iter()
            .zip(&pad)
            .map(|(m, pad)| m ^ pad)
            .collect::<Vec<_>>();
        subtract_bits::<V>(&low, &pad[n / 8..], &mut poly);
        assert_eq!(poly[..16], integers(&vector.extra["m_poly_first16"]));

        let (mut m, mut negative) = (vec![0; n / 8], vec![0; n / 8]);
        split_trits::<V>(&poly, &mut m, &mut negative);
        assert!(bool::from(decode(&mut m, &negative, &pad[..n / 8], &pad[n / 8..])));
        assert_eq!(m, *vector.encaps_coins);
    }

    fn round_trip<V: Profile>(n: usize) {
        let mut poly = (0..n).map(|i| (i * i / 7 % 3) as i16 - 1).collect::<Vec<_>>();
        let (mut nonzero, mut negative) = (vec![0; n / 8], vec![0; n / 8]);
        split_trits::<V>(&poly, &mut nonzero, &mut negative);
        let positive = nonzero.iter().zip(&negative).map(|(a, b)| a ^ b).collect::<Vec<_>>();
        let mut again = vec![0; n];
        subtract_bits::<V>(&positive, &negative, &mut again);
        assert_eq!(poly, again);

        // With U = (0, negative) the message is `positive`. One sign the other way is out of range, wherever it is.
        for place in 0..n {
            poly[place] = -poly[place];
            let different = Choice::from(u8::from(poly[place] != 0));
            let (mut m, mut signs) = (vec![0; n / 8], vec![0; n / 8]);
            split_trits::<V>(&poly, &mut m, &mut signs);
            let good = decode(&mut m, &signs, &vec![0; n / 8], &negative);
            assert_eq!(bool::from(good), !bool::from(different), "coefficient {place}");
            assert_eq!(
                bool::from(is_difference::<V>(&mut poly.clone(), &positive, &negative)),
                !bool::from(different)
            );
            poly[place] = -poly[place];
        }
    }

    fn integers(list: &Value) -> Vec<i16> {
        serde_json::from_value(list.clone()).expect("a list of integers")
    }
}
