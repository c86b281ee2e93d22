//! Products in T_q: blocks modulo x^2 - zeta and x^2 + zeta, eight at a time.

use core::arch::x86_64::*;

use kem_core::modular::Zq;

use super::Coefficients;
use super::bytes::unpack12;
use super::transform::ZETAS;
use super::vector::{Factors, LANES, factor, factors, load, multiply, store};
use crate::poly::{N, POLY_LEN, Q};

/// acc + a b / R from coefficient `first`, a multiple of 16 like the length of `a`. In: 0 <= a < 4096, |b| < Q. Adds less
/// than Q.
#[target_feature(enable = "avx2")]
pub(super) fn accumulate(acc: &mut Coefficients, a: &[i16], b: &Coefficients, first: usize) {
    let (acc, _) = acc[first..].as_chunks_mut();
    let (b, _) = b[first..].as_chunks();
    for (((acc, a), b), twists) in acc.iter_mut().zip(a.as_chunks().0).zip(b).zip(&TWISTS[first / LANES..]) {
        blocks(acc, load(a), load(b), twists);
    }
}

/// The same for the 12-bit values of `a`.
#[target_feature(enable = "avx2")]
pub(super) fn accumulate_packed(acc: &mut Coefficients, a: &[u8; POLY_LEN], b: &Coefficients) {
    for (((acc, a), b), twists) in acc
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(a.as_chunks().0)
        .zip(b.as_chunks().0)
        .zip(&TWISTS)
    {
        blocks(acc, unpack12(a), load(b), twists);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn blocks(acc: &mut [i16; LANES], a: __m256i, b: __m256i, twists: &Factors) {
    let twisted = multiply(b, factor(twists));
    let swapped = _mm256_or_si256(_mm256_slli_epi32::<16>(b), _mm256_srli_epi32::<16>(b));
    let even = _mm256_srli_epi32::<16>(shifted_up(_mm256_madd_epi16(a, twisted)));
    let odd = shifted_up(_mm256_madd_epi16(a, swapped));
    let product = _mm256_blend_epi16::<0xaa>(even, odd);
    store(_mm256_add_epi16(load(acc), product), acc);
}

/// `Zq::reduce` of eight sums, each in the high half of its word.
#[inline]
#[target_feature(enable = "avx2")]
fn shifted_up(sums: __m256i) -> __m256i {
    let low = _mm256_mullo_epi16(sums, _mm256_set1_epi32(Zq::<Q>::QINV as u16 as i32));
    _mm256_sub_epi32(sums, _mm256_madd_epi16(low, _mm256_set1_epi32(Q.into())))
}

/// For the second coefficient of each block zeta or -zeta, for the first one R, which leaves it as it is modulo Q.
static TWISTS: [Factors; N / LANES] = {
    let mut table = [[[0; LANES]; 2]; N / LANES];
    let mut i = 0;
    while i < N / LANES {
        let mut constants = [Zq::<Q>::R; LANES];
        let mut four = 0;
        while four < LANES / 4 {
            let zeta = ZETAS[64 + 4 * i + four];
            constants[4 * four + 1] = zeta;
            constants[4 * four + 3] = -zeta;
            four += 1;
        }
        table[i] = factors(constants);
        i += 1;
    }
    table
};
