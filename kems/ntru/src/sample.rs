//! Polynomials modulo 3 from uniform bytes (section 1.10).

use core::hint::black_box;

use zeroize::Zeroizing;

use crate::params::Params;
use crate::ring::{centre, mod_3};
use crate::sort::sort;

/// Ternary: a byte a coefficient, the last one zero.
pub(crate) fn ternary(bytes: &[u8], p: &mut [u16]) {
    let (last, rest) = p.split_last_mut().expect("a polynomial has coefficients");
    rest.iter_mut()
        .zip(bytes)
        .for_each(|(c, &byte)| *c = mod_3(byte.into()));
    *last = 0;
}

/// Ternary_Plus: as [`ternary`], with the coefficients of even index negated if neighbours correlate negatively.
pub(crate) fn ternary_plus(bytes: &[u8], p: &mut [u16]) {
    ternary(bytes, p);
    let correlation = p.windows(2).fold(0, |sum: u16, pair| {
        sum.wrapping_add(centre(pair[0]).wrapping_mul(centre(pair[1])))
    });
    // Opaque, or the compiler would branch on it.
    let negative = black_box((correlation >> 15).wrapping_neg());
    for c in p.iter_mut().step_by(2) {
        let negated = (*c << 1 | *c >> 1) & 3;
        *c ^= (*c ^ negated) & negative;
    }
}

/// Fixed_Type: `weight` / 2 coefficients are 1, as many are 2, in the order into which sorting puts 30-bit words.
pub(crate) fn fixed_type<P: Params>(bytes: &[u8], p: &mut [u16], weight: usize) {
    let mut keys = Zeroizing::new(P::KEYS);
    let keys = (*keys).as_mut();
    for (four, fifteen) in keys.chunks_exact_mut(4).zip(bytes.chunks_exact(15)) {
        let mut bits = [0; 16];
        bits[..15].copy_from_slice(fifteen);
        let bits = u128::from_le_bytes(bits);
        // The specification sorts signed numbers: with the top bit flipped, unsigned ones are in the same order.
        for (k, key) in four.iter_mut().enumerate() {
            *key = ((bits >> (30 * k)) as u32) << 2 ^ 1 << 31;
        }
    }
    keys[..weight / 2].iter_mut().for_each(|key| *key |= 1);
    keys[weight / 2..weight].iter_mut().for_each(|key| *key |= 2);
    sort(keys);
    for (c, key) in p.iter_mut().zip(keys) {
        *c = (*key & 3) as u16;
    }
    p[P::N - 1] = 0;
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::params::Hps509;

    #[test]
    fn correlation_decides_the_sign_of_even_coefficients() {
        let mut p = [9; 5];
        ternary_plus(&[1, 1, 2, 2], &mut p); // 1 - 1 + 1 + 0
        assert_eq!(p, [1, 1, 2, 2, 0]);
        ternary_plus(&[1, 2, 1, 0], &mut p); // -1 - 1
        assert_eq!(p, [2, 2, 2, 0, 0]);
        ternary_plus(&[1, 0, 2, 0], &mut p); // 0
        assert_eq!(p, [1, 0, 2, 0, 0]);
    }

    /// With the comparison sort of the standard library on signed numbers, as the specification words it.
    #[test]
    fn fixed_type_is_a_signed_sort_of_tagged_words() {
        let bytes: Vec<u8> = (0..1905u32)
            .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8)
            .collect();
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        let mut keys: Vec<i32> = (0..508)
            .map(|i| {
                let word = (0..30).fold(0, |word, k| word | bit(30 * i + k) << k);
                let tag = if i < 127 { 1 } else { 2 * u32::from(i < 254) };
                (word << 2 | tag) as i32
            })
            .collect();
        assert!(keys.iter().any(|key| *key < 0) && keys.iter().any(|key| *key > 0));
        keys.sort_unstable();
        let expected: Vec<_> = keys.iter().map(|key| (key & 3) as u16).chain([0]).collect();
        let mut p = [9; 509];
        fixed_type::<Hps509>(&bytes, &mut p, 254);
        assert_eq!(p, expected[..]);
    }

    /// Equal words: the tags alone decide.
    #[test]
    fn equal_words_are_ordered_by_tag() {
        for fill in [0x00, 0xff] {
            let mut p = [9; 509];
            fixed_type::<Hps509>(&[fill; 1905], &mut p, 254);
            assert!(p[..508].is_sorted());
            assert_eq!(
                [0, 1, 2].map(|c| p.iter().filter(|x| **x == c).count()),
                [255, 127, 127]
            );
        }
    }
}
