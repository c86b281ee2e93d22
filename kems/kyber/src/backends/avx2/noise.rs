//! Coefficients of the centred binomial laws from bytes that are there.

use core::arch::x86_64::*;

use super::Coefficients;
use super::vector::{LANES, load, load_all_bytes, load_bytes, store};

/// Adds SamplePolyCBD_2 of 128 bytes (FIPS 203 algorithm 8).
#[target_feature(enable = "avx2")]
pub(super) fn add_2(c: &mut Coefficients, bytes: &[u8; 128]) {
    for (c, bytes) in c.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        let bits = load_all_bytes(bytes);
        let every_other = _mm256_set1_epi8(0x55);
        let weights = _mm256_add_epi8(
            _mm256_and_si256(bits, every_other),
            _mm256_and_si256(_mm256_srli_epi16::<1>(bits), every_other),
        );
        // Two differences a byte, each with 3 added to it so that it stays in its half.
        let pairs = _mm256_set1_epi8(0x33);
        let differences = _mm256_sub_epi8(
            _mm256_add_epi8(_mm256_and_si256(weights, pairs), pairs),
            _mm256_and_si256(_mm256_srli_epi16::<2>(weights), pairs),
        );
        let (nibble, three) = (_mm256_set1_epi8(15), _mm256_set1_epi8(3));
        let even = _mm256_sub_epi8(_mm256_and_si256(differences, nibble), three);
        let odd = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16::<4>(differences), nibble), three);
        add_bytes(c, even, odd);
    }
}

/// Adds SamplePolyCBD_3 of 192 bytes.
#[target_feature(enable = "avx2")]
pub(super) fn add_3(c: &mut Coefficients, bytes: &[u8; 192]) {
    for (c, bytes) in c.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks::<24>().0) {
        let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return;
        };
        let both = _mm256_set_m128i(load_bytes(high), load_bytes(low));
        // Three bytes a word, which are four coefficients; the high half lies four bytes further on.
        #[rustfmt::skip]
        let bits = _mm256_shuffle_epi8(both, _mm256_setr_epi8(
            0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
            4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1,
        ));
        let every_third = _mm256_set1_epi32(0o1111_1111);
        let weights = _mm256_add_epi32(
            _mm256_add_epi32(
                _mm256_and_si256(bits, every_third),
                _mm256_and_si256(_mm256_srli_epi32::<1>(bits), every_third),
            ),
            _mm256_and_si256(_mm256_srli_epi32::<2>(bits), every_third),
        );
        // Four differences of six bits, each with 4 added to it so that it stays in its field.
        let fields = _mm256_set1_epi32(0o0707_0707);
        let differences = _mm256_sub_epi32(
            _mm256_add_epi32(_mm256_and_si256(weights, fields), _mm256_set1_epi32(0o0404_0404)),
            _mm256_and_si256(_mm256_srli_epi32::<3>(weights), fields),
        );
        let (low, high) = (_mm256_set1_epi32(0x3f), _mm256_set1_epi32(0x3f << 16));
        let four = _mm256_set1_epi16(4);
        let first = _mm256_or_si256(
            _mm256_and_si256(differences, low),
            _mm256_and_si256(_mm256_slli_epi32::<10>(differences), high),
        );
        let second = _mm256_or_si256(
            _mm256_and_si256(_mm256_srli_epi32::<12>(differences), low),
            _mm256_and_si256(_mm256_srli_epi32::<2>(differences), high),
        );
        let (first, second) = (_mm256_sub_epi16(first, four), _mm256_sub_epi16(second, four));
        add(
            c,
            _mm256_unpacklo_epi32(first, second),
            _mm256_unpackhi_epi32(first, second),
        );
    }
}

/// Adds signed bytes, alternately from the two.
#[inline]
#[target_feature(enable = "avx2")]
fn add_bytes(c: &mut [i16; 4 * LANES], even: __m256i, odd: __m256i) {
    let ([low, high], _) = c.as_chunks_mut() else {
        return;
    };
    let (first, second) = (_mm256_unpacklo_epi8(even, odd), _mm256_unpackhi_epi8(even, odd));
    let wide = |v: __m128i| _mm256_cvtepi8_epi16(v);
    add_two(
        low,
        wide(_mm256_castsi256_si128(first)),
        wide(_mm256_castsi256_si128(second)),
    );
    let upper = |v: __m256i| _mm256_extracti128_si256::<1>(v);
    add_two(high, wide(upper(first)), wide(upper(second)));
}

/// Adds what lies in the two, 128 bits of each in turn.
#[inline]
#[target_feature(enable = "avx2")]
fn add(c: &mut [i16; 2 * LANES], first: __m256i, second: __m256i) {
    add_two(
        c,
        _mm256_permute2x128_si256::<0x20>(first, second),
        _mm256_permute2x128_si256::<0x31>(first, second),
    );
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_two(c: &mut [i16; 2 * LANES], first: __m256i, second: __m256i) {
    for (c, v) in c.as_chunks_mut().0.iter_mut().zip([first, second]) {
        store(_mm256_add_epi16(load(c), v), c);
    }
}
