//! The E8 lattice code (specification section 3): four message bits in eight coefficients.

use core::array::from_fn;

/// The code word of `nibble` (0..=15): bit j belongs to coefficient j of the octet.
pub(crate) fn encode(nibble: u8) -> u8 {
    let bit = |i: u8| (nibble >> i) & 1;
    (bit(0) * GENERATORS[0]) ^ (bit(1) * GENERATORS[1]) ^ (bit(2) * GENERATORS[2]) ^ (bit(3) * GENERATORS[3])
}

/// The nibble whose code word, with bits scaled by 128, lies nearest to `octet` on the cycle modulo 256. Total: every
/// octet decodes, and ties go where the specification sends them. Works in constant time.
///
/// The specification sums squared distances. With `a` the distance of a coefficient to 0 on the cycle, the costs of a pair
/// of coefficients differ by 256 times a linear term, and the costs of all pairs of a branch add up to the same value in
/// both branches. So the linear terms alone decide, and 16 bits hold them.
///
/// In: any representatives modulo 256.
pub(crate) fn decode(octet: &[i16; 8]) -> u8 {
    let a = octet.map(|v| {
        let centred = i16::from(v as i8);
        (centred ^ sign(centred)) - sign(centred)
    });
    let straight = Branch::new(from_fn(|i| 128 - a[2 * i] - a[2 * i + 1]));
    let crossed = Branch::new(from_fn(|i| a[2 * i] - a[2 * i + 1]));

    let a0 = sign(straight.gain - crossed.gain) as u8;
    let w = straight.word ^ (a0 & (straight.word ^ crossed.word));
    (a0 & 1) | ((w & 1) << 1) | (((w ^ (w >> 1)) & 1) << 2) | (w & 8)
}

/// The best word of one coset: each pair holds (0, 0) or (1, 1) in the straight branch, (1, 0) or (0, 1) in the crossed one.
struct Branch {
    /// Bit i is w_i; the parity is even.
    word: u8,
    /// How much nearer than average the word is; in -512..=512.
    gain: i16,
}

impl Branch {
    /// `lead[i]` in -128..=128: by how much 0 beats 1 as the value of w_i.
    fn new(lead: [i16; 4]) -> Self {
        let (mut word, mut sum) = (0, 0);
        let (mut weakest, mut flip) = (i16::MAX, 0);
        for (i, lead) in lead.into_iter().enumerate() {
            let negative = sign(lead);
            let size = (lead ^ negative) - negative;
            word |= (negative as u8 & 1) << i;
            sum += size;
            // Strictly smaller replaces: the first of equals stays.
            let smaller = sign(size - weakest);
            weakest += smaller & (size - weakest);
            flip ^= smaller as u8 & (flip ^ (1 << i));
        }
        let odd = (word ^ (word >> 1) ^ (word >> 2) ^ (word >> 3)) & 1;
        let odd_mask = odd.wrapping_neg();
        Self {
            word: word ^ (odd_mask & flip),
            gain: sum - ((2 * weakest) & i16::from(odd_mask as i8)),
        }
    }
}

/// All ones for a negative value, else zero.
fn sign(x: i16) -> i16 {
    x >> 15
}

/// What each message bit, lowest first, adds to the code word.
const GENERATORS: [u8; 4] = [0x55, 0x0f, 0x3c, 0xf0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::{self, Draw, wide};
    use crate::reference;

    #[test]
    fn encode_is_the_table() {
        for (nibble, word) in components::load().e8_encode.into_iter().enumerate() {
            assert_eq!(encode(nibble as u8), word);
            assert_eq!(reference::WORDS[nibble], word);
        }
    }

    #[test]
    fn decode_vectors() {
        let vectors = components::load().e8_decode;
        assert!(vectors.len() > 60);
        for vector in vectors {
            assert_eq!(decode(&vector.v), vector.nibble, "{:?}", vector.v);
        }
    }

    /// Few distinct values make ties of every kind.
    #[test]
    fn decode_is_the_specified_one_on_random_and_on_tied_inputs() {
        let mut draw = Draw(1);
        for step in [1, 3, 16, 32, 64, 128] {
            for _ in 0..20_000 {
                let octet = from_fn(|_| (step * draw.below(256 / step)) as i16);
                assert_eq!(decode(&octet), reference::decode(&wide(&octet)), "{octet:?}");
            }
        }
    }

    #[test]
    fn decode_finds_a_nearest_word() {
        let mut draw = Draw(2);
        for _ in 0..20_000 {
            let octet = from_fn(|_| draw.below(256) as i16);
            let distance = |nibble| reference::distance(&wide(&octet), nibble);
            let least = (0..16).map(distance).min();
            assert_eq!(Some(distance(decode(&octet).into())), least, "{octet:?}");
        }
    }

    /// Words differ in four places at least, so any error of squared length below 128^2 = 4 * 128^2 / 4 is corrected.
    #[test]
    fn errors_within_the_packing_radius_are_corrected() {
        let mut draw = Draw(3);
        for nibble in 0..16 {
            for place in 0..8 {
                for error in [-127, 127] {
                    let mut octet = word(nibble);
                    octet[place] += error;
                    assert_eq!(decode(&octet), nibble, "{error} at {place}");
                }
            }
            for _ in 0..1000 {
                // 8 * 45^2 < 128^2.
                let octet = word(nibble).map(|v| v + draw.below(91) as i16 - 45);
                assert_eq!(decode(&octet), nibble);
            }
        }
    }

    #[test]
    fn any_representative_decodes_alike() {
        let mut draw = Draw(4);
        for _ in 0..1000 {
            let octet: [i16; 8] = from_fn(|_| draw.below(256) as i16);
            let moved = octet.map(|v| v + 256 * (draw.below(200) as i16 - 100));
            assert_eq!(decode(&octet), decode(&moved));
        }
    }

    fn word(nibble: u8) -> [i16; 8] {
        from_fn(|j| i16::from(encode(nibble) >> j & 1) * 128)
    }
}
