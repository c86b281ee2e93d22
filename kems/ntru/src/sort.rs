//! Sorting in constant time.

/// Sorts in ascending order by Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M): a
/// network, so that which elements are compared depends on their number only.
pub(crate) fn sort(keys: &mut [u32]) {
    let top = keys.len().next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            exchange(keys, p, r, d);
            if q == p {
                break;
            }
            (d, r, q) = (q - p, p, q / 2);
        }
        p /= 2;
    }
}

/// Puts the pairs (i, i + d) in order for every i with i & p = r. In: d >= p, r is 0 or p.
fn exchange(keys: &mut [u32], p: usize, r: usize, d: usize) {
    for start in (r..keys.len().saturating_sub(d)).step_by(2 * p) {
        let (low, high) = keys.split_at_mut(start + d);
        let run = low.len().min(start + p);
        low[start..run].iter_mut().zip(high).for_each(|(a, b)| order(a, b));
    }
}

/// `a` takes the smaller, `b` the greater.
fn order(a: &mut u32, b: &mut u32) {
    // The borrow of b - a without a wider subtraction.
    let greater = (!*b & *a) | ((!*b | *a) & b.wrapping_sub(*a));
    let difference = (*a ^ *b) & (greater >> 31).wrapping_neg();
    *a ^= difference;
    *b ^= difference;
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_at_the_ends_of_the_range() {
        let ends = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff];
        for a in ends {
            for b in ends {
                let (mut low, mut high) = (a, b);
                order(&mut low, &mut high);
                assert_eq!((low, high), (a.min(b), a.max(b)));
            }
        }
    }

    /// A network that sorts every sequence of zeros and ones sorts everything (Knuth's zero-one principle).
    #[test]
    fn every_zero_one_sequence_of_up_to_sixteen() {
        for len in 0..=16 {
            for bits in 0..1u32 << len {
                let mut keys: Vec<_> = (0..len).map(|i| bits >> i & 1).collect();
                sort(&mut keys);
                assert!(keys.is_sorted() && keys.iter().sum::<u32>() == bits.count_ones());
            }
        }
    }

    #[test]
    fn zero_one_sequences_of_the_lengths_in_use() {
        for len in [508, 676, 820] {
            for ones in 0..=len {
                let mut keys: Vec<_> = (0..len).map(|i| u32::from(i < ones)).collect();
                sort(&mut keys);
                assert!(keys.is_sorted() && keys.iter().sum::<u32>() == ones, "{ones} of {len}");
            }
        }
    }

    proptest! {
        #[test]
        fn like_the_standard_library(mut keys in prop::collection::vec(any::<u32>(), 0..900)) {
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys);
            prop_assert_eq!(keys, expected);
        }
    }
}
