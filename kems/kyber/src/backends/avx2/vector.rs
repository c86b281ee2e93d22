//! Sixteen coefficients: loads, stores, and arithmetic modulo Q as in `kem_core::modular`.

use core::arch::x86_64::*;

use kem_core::modular::Zq;

use crate::poly::Q;

/// Coefficients in a register.
pub(super) const LANES: usize = 16;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(c: &[i16; LANES]) -> __m256i {
    // SAFETY: reads 32 bytes at any address, as many as `c` has.
    unsafe { _mm256_loadu_si256(c.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(v: __m256i, c: &mut [i16; LANES]) {
    // SAFETY: writes 32 bytes at any address, as many as `c` has.
    unsafe { _mm256_storeu_si256(c.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: reads 16 bytes at any address, as many as `bytes` has.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_all_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads 32 bytes at any address, as many as `bytes` has.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_words(words: &[u32; 8]) -> __m256i {
    // SAFETY: reads 32 bytes at any address, as many as `words` has.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_half(v: __m128i, c: &mut [i16; LANES / 2]) {
    // SAFETY: writes 16 bytes at any address, as many as `c` has.
    unsafe { _mm_storeu_si128(c.as_mut_ptr().cast(), v) }
}

/// What a Montgomery product takes for a constant: the constant in the Montgomery domain, and times 1 / Q modulo 2^16.
#[derive(Clone, Copy)]
pub(super) struct Factor(pub(super) __m256i, pub(super) __m256i);

/// The constants of sixteen products, in memory.
pub(super) type Factors = [[i16; LANES]; 2];

/// The second row is the first one times 1 / Q.
pub(super) const fn factors(constants: [i16; LANES]) -> Factors {
    let mut factors = [constants; 2];
    let mut i = 0;
    while i < LANES {
        factors[1][i] = constants[i].wrapping_mul(Zq::<Q>::QINV);
        i += 1;
    }
    factors
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn factor(factors: &Factors) -> Factor {
    Factor(load(&factors[0]), load(&factors[1]))
}

/// One constant for all.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(constant: i16) -> Factor {
    Factor(
        _mm256_set1_epi16(constant),
        _mm256_set1_epi16(constant.wrapping_mul(Zq::<Q>::QINV)),
    )
}

/// `Zq::mul`. Out: |c| < Q.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn multiply(v: __m256i, Factor(constant, low): Factor) -> __m256i {
    let quotient = _mm256_mullo_epi16(v, low);
    _mm256_sub_epi16(
        _mm256_mulhi_epi16(v, constant),
        _mm256_mulhi_epi16(quotient, _mm256_set1_epi16(Q)),
    )
}

/// `Zq::barrett`. Out: |c| <= (Q + 1) / 2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn reduce(v: __m256i) -> __m256i {
    // round(2^26 / Q); the rounding shift takes the ten bits that are left of the 26.
    const RECIPROCAL: i16 = ((1 << 26) / Q as i32 + 1) as i16;
    let estimate = _mm256_mulhi_epi16(v, _mm256_set1_epi16(RECIPROCAL));
    let quotient = _mm256_mulhrs_epi16(estimate, _mm256_set1_epi16(1 << 5));
    _mm256_sub_epi16(v, _mm256_mullo_epi16(quotient, _mm256_set1_epi16(Q)))
}
