//! Short polynomials: every coefficient is the difference of two uniform bits.

use crate::lab::params::Params;

/// Calls `each` with the index and the value of every coefficient, in an order of its own.
///
/// The first half of the n / 4 `bytes` holds the bits that count, the second those that are subtracted.
pub(crate) fn short<P: Params>(bytes: &[u8], mut each: impl FnMut(usize, i16)) {
    let (plus, minus) = bytes.split_at(bytes.len() / 2);
    let bit = |bytes: &[u8], at: usize| i16::from(bytes[at / 8] >> (at % 8) & 1);
    positions(P::N, |index, at| each(index, bit(plus, at) - bit(minus, at)));
}

/// Calls `each` with the index of every coefficient and the position of its bits: groups of up to eight 32-bit words are
/// interleaved, what is left after the last whole word is in plain order.
fn positions(n: usize, mut each: impl FnMut(usize, usize)) {
    let mut base = 0;
    while n - base >= 32 {
        let words = ((n - base) / 32).min(8);
        for (word, half, bit) in (0..words).flat_map(|j| (0..2).flat_map(move |k| (0..16).map(move |l| (j, k, l)))) {
            each(
                base + 2 * words * bit + 2 * word + half,
                base + 32 * word + 16 * half + bit,
            );
        }
        base += 32 * words;
    }
    (base..n).for_each(|at| each(at, at));
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn positions_are_a_permutation() {
        for n in [648, 1296, 2592] {
            let mut seen = vec![0; n];
            positions(n, |index, at| seen[index] += at + 1);
            let mut sorted = seen.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=n).collect::<vec::Vec<_>>());
            assert_ne!(seen, sorted);
        }
    }

    /// 648 = 256 + 256 + 128 + 8: the last eight are in plain order, and in the group of four words index 1 is bit 16.
    #[test]
    fn groups_of_648() {
        let mut map = [0; 648];
        positions(648, |index, at| map[index] = at);
        assert_eq!(map[640..], [640, 641, 642, 643, 644, 645, 646, 647]);
        assert_eq!(map[..4], [0, 16, 32, 48]);
        assert_eq!(map[16..18], [1, 17]);
        assert_eq!(map[512..522], [512, 528, 544, 560, 576, 592, 608, 624, 513, 529]);
    }
}
