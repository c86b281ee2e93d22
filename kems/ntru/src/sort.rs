//! Sorting in constant time.

#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use crate::backends::order_pairs;

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
    let end = keys.len().saturating_sub(d);
    if p < SHORT {
        for first in r..end.min(r + p) {
            order_pairs(keys, first, d, (end - first).div_ceil(2 * p), 2 * p);
        }
    } else {
        for start in (r..end).step_by(2 * p) {
            order_pairs(keys, start, d, p.min(end - start), 1);
        }
    }
}

/// Below that many neighbours it is better to go by every 2 p-th pair.
const SHORT: usize = 8;

/// Of the pairs (i, i + d) for `count` numbers i from `first` on, `step` apart, the first one takes the smaller key. In: `count`
/// is at most d if `step` is 1.
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
fn order_pairs(keys: &mut [u32], first: usize, d: usize, count: usize, step: usize) {
    if step == 1 {
        let (low, high) = keys.split_at_mut(first + d);
        low[first..][..count]
            .iter_mut()
            .zip(high)
            .for_each(|(a, b)| order(a, b));
        return;
    }
    for i in (first..).step_by(step).take(count) {
        let (low, high) = keys.split_at_mut(i + d);
        order(&mut low[i], &mut high[0]);
    }
}

/// `a` takes the smaller, `b` the greater.
#[cfg(any(test, not(all(cortex_m4_fpu, not(kemqtt_portable)))))]
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
