//! ByteEncode and ByteDecode, with and without compression, sixteen coefficients at a time.

use core::arch::x86_64::*;

use kem_core::ct::CtSink;

use super::Coefficients;
use super::vector::{load, load_all_bytes, load_bytes, load_words, store};
use crate::poly::Q;

/// In: 0 <= c < Q.
#[target_feature(enable = "avx2")]
pub(super) fn encode(p: &Coefficients, sink: &mut impl CtSink) {
    for c in p.as_chunks().0 {
        sink.put_all(pack::<12>(load(c)).as_flattened());
    }
}

/// In: 0 <= c < Q.
#[target_feature(enable = "avx2")]
pub(super) fn compress<const D: usize>(p: &Coefficients, sink: &mut impl CtSink) {
    // As `compress::compress`, whose quotient it is to the bit.
    const { assert!(D <= 11) };
    let reciprocal = _mm256_set1_epi16(const { ((1u32 << (D + 16)) / Q as u32) as i16 });
    for c in p.as_chunks().0 {
        let x = load(c);
        let quotient = _mm256_mulhi_epu16(x, reciprocal);
        let numerator = _mm256_add_epi16(
            _mm256_mullo_epi16(x, _mm256_set1_epi16(1 << D)),
            _mm256_set1_epi16(Q / 2),
        );
        let remainder = _mm256_sub_epi16(numerator, _mm256_mullo_epi16(quotient, _mm256_set1_epi16(Q)));
        // Below 2 Q, so that a signed comparison will do; all ones are -1.
        let one_more = _mm256_cmpgt_epi16(remainder, _mm256_set1_epi16(Q - 1));
        let rounded = _mm256_sub_epi16(quotient, one_more);
        let low = _mm256_and_si256(rounded, _mm256_set1_epi16((1 << D) - 1));
        sink.put_all(pack::<D>(low).as_flattened());
    }
}

/// Out: 0 <= c < Q.
#[target_feature(enable = "avx2")]
pub(super) fn decompress<const D: usize>(bytes: &[u8], p: &mut Coefficients) {
    let half = |i: usize| {
        let y = unpack8::<D>(bytes_from(bytes, D * i));
        let rounded = _mm256_add_epi32(
            _mm256_madd_epi16(y, _mm256_set1_epi32(Q.into())),
            _mm256_set1_epi32(1 << (D - 1)),
        );
        _mm256_srl_epi32(rounded, _mm_cvtsi32_si128(D as i32))
    };
    for (i, c) in p.as_chunks_mut().0.iter_mut().enumerate() {
        let both = _mm256_packus_epi32(half(2 * i), half(2 * i + 1));
        store(_mm256_permute4x64_epi64::<0b11_01_10_00>(both), c);
    }
}

/// The modulus check of FIPS 203 section 7.2.
#[target_feature(enable = "avx2")]
pub(super) fn is_canonical(bytes: &[u8]) -> bool {
    let mut too_large = _mm256_setzero_si256();
    for bytes in bytes.as_chunks().0 {
        let above = _mm256_cmpgt_epi16(unpack12(bytes), _mm256_set1_epi16(Q - 1));
        too_large = _mm256_or_si256(too_large, above);
    }
    _mm256_testz_si256(too_large, too_large) == 1
}

/// The 12-bit values of 24 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unpack12(bytes: &[u8; 24]) -> __m256i {
    let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return _mm256_setzero_si256();
    };
    let both = _mm256_set_m128i(load_bytes(high), load_bytes(low));
    // Two bytes for each value, from three for two of them; the high half lies four bytes further on.
    #[rustfmt::skip]
    let pairs = _mm256_shuffle_epi8(both, _mm256_setr_epi8(
        0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11,
        4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15,
    ));
    let aligned = _mm256_blend_epi16::<0xaa>(pairs, _mm256_srli_epi16::<4>(pairs));
    _mm256_and_si256(aligned, _mm256_set1_epi16(0xfff))
}

/// Two packed groups of eight values below 2^D.
#[inline]
#[target_feature(enable = "avx2")]
fn pack<const D: usize>(values: __m256i) -> [[u8; D]; 2] {
    const { assert!(D <= 12) };
    let twos = _mm256_madd_epi16(values, _mm256_set1_epi32(1 | 1 << (16 + D)));
    // The lower of two words moves up to the other one, and both down again.
    let gap = 32 - 2 * D as i64;
    let fours = _mm256_srl_epi64(_mm256_sllv_epi32(twos, _mm256_set1_epi64x(gap)), _mm_cvtsi64_si128(gap));
    let fours = [
        _mm256_extract_epi64::<0>(fours),
        _mm256_extract_epi64::<1>(fours),
        _mm256_extract_epi64::<2>(fours),
        _mm256_extract_epi64::<3>(fours),
    ]
    .map(|four| u128::from(four as u64));
    let mut packed = [[0; D]; 2];
    for (packed, [low, high]) in packed.iter_mut().zip(fours.as_chunks().0) {
        let bytes = (low | high << (4 * D)).to_le_bytes();
        packed.copy_from_slice(&bytes[..D]);
    }
    packed
}

/// The eight values of the first D bytes, one a word.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack8<const D: usize>(bytes: __m128i) -> __m256i {
    let table = const { Windows::of(D) };
    let both = _mm256_broadcastsi128_si256(bytes);
    let words = _mm256_shuffle_epi8(both, load_all_bytes(&table.places));
    let shifted = _mm256_srlv_epi32(words, load_words(&table.shifts));
    _mm256_and_si256(shifted, _mm256_set1_epi32((1 << D) - 1))
}

/// Where the eight values lie: the bytes around each, and its distance from the first bit of them.
struct Windows {
    places: [u8; 32],
    shifts: [u32; 8],
}

impl Windows {
    const fn of(bits: usize) -> Self {
        // A place with the highest bit set gives a zero.
        let (mut places, mut shifts) = ([0x80; 32], [0; 8]);
        let mut k = 0;
        while k < 8 {
            let first = k * bits / 8;
            let mut i = 0;
            while i < 3 && first + i < bits {
                places[4 * k + i] = (first + i) as u8;
                i += 1;
            }
            shifts[k] = (k * bits % 8) as u32;
            k += 1;
        }
        Self { places, shifts }
    }
}

/// Sixteen bytes from `at` on, zeros where there are no more.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_from(bytes: &[u8], at: usize) -> __m128i {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => load_bytes(bytes),
        None => {
            let mut padded = [0; 16];
            padded[..rest.len()].copy_from_slice(rest);
            load_bytes(&padded)
        }
    }
}
