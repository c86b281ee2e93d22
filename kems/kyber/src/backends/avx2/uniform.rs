//! SampleNTT (FIPS 203 algorithm 7) on bytes that are there: public ones, so that tables and branches may depend on them.

use core::arch::x86_64::*;

use super::bytes::unpack12;
use super::vector::{LANES, load_bytes, store_half};
use crate::poly::{N, Q};

/// An entry of the matrix, and room behind it for what the last register holds besides.
pub(super) type Entry = [i16; N + LANES];

pub(super) const NONE: Entry = [0; N + LANES];

/// Appends what `block` gives to the first `taken` coefficients, until there are at least N of them; returns how many there
/// are.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn append(block: &[u8; 168], entry: &mut Entry, mut taken: usize) -> usize {
    for bytes in block.as_chunks().0 {
        if taken >= N {
            break;
        }
        let candidates = unpack12(bytes);
        let good = _mm256_cmpgt_epi16(_mm256_set1_epi16(Q), candidates);
        for (half, good) in [
            (_mm256_castsi256_si128(candidates), _mm256_castsi256_si128(good)),
            (
                _mm256_extracti128_si256::<1>(candidates),
                _mm256_extracti128_si256::<1>(good),
            ),
        ] {
            let mask = _mm_movemask_epi8(_mm_packs_epi16(good, _mm_setzero_si128())) as u8;
            let Some(places) = entry.get_mut(taken..).and_then(|rest| rest.first_chunk_mut()) else {
                return taken;
            };
            store_half(
                _mm_shuffle_epi8(half, load_bytes(&TO_THE_FRONT[usize::from(mask)])),
                places,
            );
            taken += mask.count_ones() as usize;
        }
    }
    taken
}

/// For each set of good ones among eight values: the bytes of those, in order.
static TO_THE_FRONT: [[u8; 16]; 256] = {
    let mut table = [[0x80; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut value, mut place) = (0, 0);
        while value < 8 {
            if mask >> value & 1 == 1 {
                table[mask][place] = 2 * value;
                table[mask][place + 1] = 2 * value + 1;
                place += 2;
            }
            value += 1;
        }
        mask += 1;
    }
    table
};
