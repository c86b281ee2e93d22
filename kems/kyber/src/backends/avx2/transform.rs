//! Seven layers: three on eight registers, one between two, three within two, whose halves are exchanged for it and back.

use core::arch::x86_64::*;

use kem_core::modular::Zq;
use kem_core::ntt::twiddles;

use super::Coefficients;
use super::vector::{Factor, Factors, LANES, factor, factors, load, multiply, reduce, splat, store};
use crate::poly::Q;

/// In: |c| < Q. Out: |c| <= (Q + 1) / 2.
#[target_feature(enable = "avx2")]
pub(super) fn forward(p: &mut Coefficients) {
    let (vectors, _) = p.as_chunks_mut::<LANES>();
    for first in 0..2 {
        let mut v = gather(vectors, first);
        for (span, group) in [(4, 1), (2, 2), (1, 4)] {
            for low in (0..8).filter(|low| low & span == 0) {
                let zeta = splat(ZETAS[group + low / (2 * span)]);
                [v[low], v[low + span]] = butterfly([v[low], v[low + span]], zeta);
            }
        }
        scatter(v, vectors, first);
    }
    for (i, pair) in vectors.as_chunks_mut().0.iter_mut().enumerate() {
        let mut v = load_pair(pair);
        v = butterfly(v, splat(ZETAS[8 + i]));
        v = butterfly(swap_128(v), factor(&WITHIN[i][0]));
        v = butterfly(swap_64(v), factor(&WITHIN[i][1]));
        // Below 8 Q before the reductions.
        v = butterfly(swap_32(v), factor(&WITHIN[i][2]));
        v = swap_128(swap_64(swap_32([reduce(v[0]), reduce(v[1])])));
        store_pair(v, pair);
    }
}

/// In: any c. Out: |c| < Q, times R.
#[target_feature(enable = "avx2")]
pub(super) fn inverse(p: &mut Coefficients) {
    let (vectors, _) = p.as_chunks_mut::<LANES>();
    for (i, pair) in vectors.as_chunks_mut().0.iter_mut().enumerate() {
        let mut v = load_pair(pair);
        v = swap_32(swap_64(swap_128([reduce(v[0]), reduce(v[1])])));
        v = swap_32(inverse_butterfly(v, factor(&INVERSE_WITHIN[i][2])));
        v = swap_64(inverse_butterfly(v, factor(&INVERSE_WITHIN[i][1])));
        v = swap_128(inverse_butterfly(v, factor(&INVERSE_WITHIN[i][0])));
        // From Q / 2 to 8 Q in four layers, and from Q after the reduction to 8 Q in the other three.
        v = inverse_butterfly(v, splat(ZETAS[15 - i]));
        store_pair([reduce(v[0]), v[1]], pair);
    }
    for first in 0..2 {
        let mut v = gather(vectors, first);
        for (span, last) in [(1, 7), (2, 3), (4, 1)] {
            for low in (0..8).filter(|low| low & span == 0) {
                let zeta = splat(ZETAS[last - low / (2 * span)]);
                [v[low], v[low + span]] = inverse_butterfly([v[low], v[low + span]], zeta);
            }
        }
        for v in &mut v {
            *v = multiply(*v, splat(UNSCALE));
        }
        scatter(v, vectors, first);
    }
}

/// Cooley-Tukey. In: any with |a| + Q < 2^15. Out: at most Q more than before.
#[inline]
#[target_feature(enable = "avx2")]
fn butterfly([a, b]: [__m256i; 2], zeta: Factor) -> [__m256i; 2] {
    let t = multiply(b, zeta);
    [_mm256_add_epi16(a, t), _mm256_sub_epi16(a, t)]
}

/// Gentleman-Sande, with the factor of the mirrored group. Out: the first twice as much as before, |second| < Q.
#[inline]
#[target_feature(enable = "avx2")]
fn inverse_butterfly([a, b]: [__m256i; 2], zeta: Factor) -> [__m256i; 2] {
    [_mm256_add_epi16(a, b), multiply(_mm256_sub_epi16(b, a), zeta)]
}

/// Exchanges the high half of the first with the low half of the second.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_128([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x31>(a, b),
    ]
}

/// The same in every 128 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_64([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)]
}

/// The same in every 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_32([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_blend_epi32::<0xaa>(a, _mm256_slli_epi64::<32>(b)),
        _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(a), b),
    ]
}

/// Every other register from `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn gather(vectors: &[[i16; LANES]], first: usize) -> [__m256i; 8] {
    let mut v = [_mm256_setzero_si256(); 8];
    for (v, c) in v.iter_mut().zip(vectors[first..].iter().step_by(2)) {
        *v = load(c);
    }
    v
}

#[inline]
#[target_feature(enable = "avx2")]
fn scatter(v: [__m256i; 8], vectors: &mut [[i16; LANES]], first: usize) {
    for (v, c) in v.into_iter().zip(vectors[first..].iter_mut().step_by(2)) {
        store(v, c);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_pair([a, b]: &[[i16; LANES]; 2]) -> [__m256i; 2] {
    [load(a), load(b)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_pair([first, second]: [__m256i; 2], [a, b]: &mut [[i16; LANES]; 2]) {
    store(first, a);
    store(second, b);
}

/// 17^BitRev_7(k) R (FIPS 203 appendix A).
pub(super) const ZETAS: [i16; 128] = twiddles::<Q, 128>(17);

/// R^2 / 128: the product with it multiplies by R / 128.
const UNSCALE: i16 = Zq::<Q>::to_montgomery(Zq::<Q>::to_montgomery(3303));

/// Of the layers of spans 8, 4 and 2 within each pair of registers, in the order that the exchanges give.
static WITHIN: [[Factors; 3]; 8] = within(false);
static INVERSE_WITHIN: [[Factors; 3]; 8] = within(true);

const fn within(mirrored: bool) -> [[Factors; 3]; 8] {
    let mut table = [[[[0; LANES]; 2]; 3]; 8];
    let mut i = 0;
    while i < 24 {
        let (pair, layer) = (i / 3, i % 3);
        // Groups of the layer, of which 2, 4 or 8 lie in a pair.
        let groups = 16 << layer;
        let mut zetas = [0; LANES];
        let mut lane = 0;
        while lane < LANES {
            let group = (pair << (layer + 1)) + (lane >> (3 - layer));
            let k = if mirrored {
                2 * groups - 1 - group
            } else {
                groups + group
            };
            zetas[lane] = ZETAS[k];
            lane += 1;
        }
        table[pair][layer] = factors(zetas);
        i += 1;
    }
    table
}
