//! The E8 lattice code (specification section 3): four message bits in eight coefficients.

/// The code word of `nibble` (0..=15): bit j belongs to coefficient j of the octet.
pub(crate) fn encode(nibble: u8) -> u8 {
    let bit = |i: u8| (nibble >> i) & 1;
    (bit(0) * GENERATORS[0]) ^ (bit(1) * GENERATORS[1]) ^ (bit(2) * GENERATORS[2]) ^ (bit(3) * GENERATORS[3])
}

/// The message nearest to the 512 coefficients `v(k)`, residues modulo 256.
#[inline(always)]
pub(crate) fn decode_message(v: impl Fn(usize) -> u8, m: &mut [u8; 32]) {
    for (i, bytes) in m.chunks_exact_mut(LANES / 2).enumerate() {
        let mut octets = [[0; 8]; LANES];
        for (k, c) in octets.as_flattened_mut().iter_mut().enumerate() {
            *c = v(8 * LANES * i + k);
        }
        let nibbles = decode(&octets);
        for (byte, [low, high]) in bytes.iter_mut().zip(nibbles.as_chunks().0) {
            *byte = low | high << 4;
        }
    }
}

/// How many octets are decoded at a time: some vectors' worth, or the two that make a byte of the message.
const LANES: usize = if cfg!(target_pointer_width = "64") { 16 } else { 2 };

/// The nibble whose code word, with bits scaled by 128, lies nearest to each octet on the cycle modulo 256. Total: every octet
/// decodes, and ties go where the specification sends them. Works in constant time, on `L` octets at once.
///
/// The specification sums squared distances. With `a` the distance of a coefficient to 0 on the cycle, the costs of a pair
/// of coefficients differ by 256 times a linear term, and the costs of all pairs of a branch add up to the same value in
/// both branches. So the linear terms alone decide, and 16 bits hold them.
#[inline(always)]
fn decode<const L: usize>(octets: &[[u8; 8]; L]) -> [u8; L] {
    let (mut straight, mut crossed) = ([[0; L]; 4], [[0; L]; 4]);
    for (lane, octet) in octets.iter().enumerate() {
        for i in 0..4 {
            let [p, q] = [distance(octet[2 * i]), distance(octet[2 * i + 1])];
            straight[i][lane] = 128 - p - q;
            crossed[i][lane] = p - q;
        }
    }
    let (straight, crossed) = (Branch::new(&straight), Branch::new(&crossed));
    let mut nibbles = [0; L];
    for (lane, nibble) in nibbles.iter_mut().enumerate() {
        let a0 = sign(straight.gain[lane] - crossed.gain[lane]);
        let w = straight.word[lane] ^ (a0 & (straight.word[lane] ^ crossed.word[lane]));
        *nibble = ((a0 & 1) | ((w & 1) << 1) | (((w ^ (w >> 1)) & 1) << 2) | (w & 8)) as u8;
    }
    nibbles
}

/// The best words of one coset: a pair holds (0, 0) or (1, 1) in the straight branch, (1, 0) or (0, 1) in the crossed one.
struct Branch<const L: usize> {
    /// Bit i is w_i; the parity is even.
    word: [i16; L],
    /// How much nearer than average the word is; in 0..=512.
    gain: [i16; L],
}

impl<const L: usize> Branch<L> {
    /// `leads[i]` in -128..=128: by how much 0 beats 1 as the value of w_i.
    #[inline(always)]
    fn new(leads: &[[i16; L]; 4]) -> Self {
        let (mut word, mut gain) = ([0; L], [0; L]);
        for lane in 0..L {
            let (mut w, mut sum) = (0, 0);
            let (mut weakest, mut flip) = (i16::MAX, 0);
            for (i, leads) in leads.iter().enumerate() {
                let negative = sign(leads[lane]);
                let size = (leads[lane] ^ negative) - negative;
                w |= negative & (1 << i);
                sum += size;
                // Strictly smaller replaces: the first of equals stays.
                let smaller = sign(size - weakest);
                weakest += smaller & (size - weakest);
                flip ^= smaller & (flip ^ (1 << i));
            }
            let odd = -((w ^ (w >> 1) ^ (w >> 2) ^ (w >> 3)) & 1);
            word[lane] = w ^ (odd & flip);
            gain[lane] = sum - (odd & (2 * weakest));
        }
        Self { word, gain }
    }
}

/// Distance to 0 on the cycle modulo 256.
fn distance(v: u8) -> i16 {
    let centred = i16::from(v as i8);
    (centred ^ sign(centred)) - sign(centred)
}

/// All ones for a negative value, else zero.
fn sign(x: i16) -> i16 {
    x >> 15
}

/// What each message bit, lowest first, adds to the code word.
const GENERATORS: [u8; 4] = [0x55, 0x0f, 0x3c, 0xf0];

#[cfg(test)]
mod tests {
    use core::array::from_fn;

    use super::{decode as decode_lanes, *};
    use crate::components::{self, Draw};
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
                let octet = from_fn(|_| (step * draw.below(256 / step)) as u8);
                assert_eq!(decode(&octet), reference::decode(&octet.map(i64::from)), "{octet:?}");
            }
        }
    }

    #[test]
    fn decode_finds_a_nearest_word() {
        let mut draw = Draw(2);
        for _ in 0..20_000 {
            let octet = from_fn(|_| draw.below(256) as u8);
            let distance = |nibble| reference::distance(&octet.map(i64::from), nibble);
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
                for error in [127, 129] {
                    let mut octet = word(nibble);
                    octet[place] = octet[place].wrapping_add(error);
                    assert_eq!(decode(&octet), nibble, "{error} at {place}");
                }
            }
            for _ in 0..1000 {
                // 8 * 45^2 < 128^2.
                let octet = word(nibble).map(|v| v.wrapping_add(draw.below(91) as u8).wrapping_sub(45));
                assert_eq!(decode(&octet), nibble);
            }
        }
    }

    /// Lanes do not mix.
    #[test]
    fn lanes_decode_as_they_do_alone() {
        let mut draw = Draw(5);
        for _ in 0..1000 {
            let octets: [[u8; 8]; 16] = from_fn(|_| from_fn(|_| draw.below(256) as u8));
            assert_eq!(decode_lanes(&octets), octets.map(|octet| decode(&octet)));
        }
    }

    fn decode(octet: &[u8; 8]) -> u8 {
        let [nibble] = decode_lanes(&[*octet]);
        nibble
    }

    fn word(nibble: u8) -> [u8; 8] {
        from_fn(|j| ((encode(nibble) >> j) & 1) << 7)
    }
}
