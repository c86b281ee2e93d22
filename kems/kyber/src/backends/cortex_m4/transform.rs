//! Seven layers: three, three, and the last one on neighbouring words.

use kem_core::modular::Zq;
use kem_core::ntt::twiddles;
use kem_core::packed::{butterfly, factor, factor_of_montgomery, forward3, inverse_butterfly, inverse3, multiply};

use crate::poly::{N, Q};

/// In: |c| < Q. Out: |c| <= Q / 2.
#[inline(always)]
pub(super) fn forward(p: &mut [u32; N / 2]) {
    forward3::<Q, 16>(p, &FACTORS.first);
    for (node, factors) in p.as_chunks_mut::<16>().0.iter_mut().zip(&FACTORS.second) {
        forward3::<Q, 2>(node, factors);
    }
    // Below 4.5 Q before the reduction.
    for ([a, b], &factor) in p.as_chunks_mut::<2>().0.iter_mut().zip(&FACTORS.last) {
        butterfly::<Q>(a, b, factor);
        *a = multiply::<Q>(*a, ONE);
        *b = multiply::<Q>(*b, ONE);
    }
}

/// In: |c| < 4 Q. Out: |c| <= Q / 2, times R.
#[inline(always)]
pub(super) fn inverse(p: &mut [u32; N / 2]) {
    for ([a, b], &factor) in p.as_chunks_mut::<2>().0.iter_mut().zip(&FACTORS.inverse_last) {
        // Below 8 Q, which an `i16` holds.
        inverse_butterfly::<Q>(a, b, factor);
        *a = multiply::<Q>(*a, ONE);
    }
    for (node, factors) in p.as_chunks_mut::<16>().0.iter_mut().zip(&FACTORS.inverse_second) {
        // From Q / 2 to 4 Q, and at most Q after these two reductions: 8 Q in the last pass.
        inverse3::<Q, 2>(node, factors, |w| {
            w[0] = multiply::<Q>(w[0], ONE);
            w[1] = multiply::<Q>(w[1], ONE);
        });
    }
    inverse3::<Q, 16>(p, &FACTORS.inverse_first, |w| {
        for w in &mut w[..4] {
            *w = multiply::<Q>(*w, const { factor_of_montgomery::<Q>(SCALE) });
        }
    });
}

/// The factor of a reduction.
pub(super) const ONE: u32 = factor::<Q>(1);

/// R / 128 in the Montgomery domain: what the layers doubled and the products of T_q divided.
const SCALE: i16 = Zq::<Q>::to_montgomery(Zq::<Q>::to_montgomery(3303));

/// The constants in the order of their use.
pub(super) struct Factors {
    first: [u32; 7],
    second: [[u32; 7]; 8],
    /// Of the last layer, and of the products modulo x^2 - zeta and x^2 + zeta.
    pub(super) last: [u32; 64],
    inverse_last: [u32; 64],
    inverse_second: [[u32; 7]; 8],
    inverse_first: [u32; 7],
}

pub(super) static FACTORS: Factors = factors();

const fn factors() -> Factors {
    let zetas: [i16; 128] = twiddles::<Q, 128>(17);
    let mut new = Factors {
        first: [0; 7],
        second: [[0; 7]; 8],
        last: [0; 64],
        inverse_last: [0; 64],
        inverse_second: [[0; 7]; 8],
        inverse_first: [0; 7],
    };
    let mut i = 0;
    while i < 7 {
        new.first[i] = factor_of_montgomery::<Q>(zetas[i + 1]);
        i += 1;
    }
    let mut node = 0;
    while node < 8 {
        new.second[node] = [
            factor_of_montgomery::<Q>(zetas[8 + node]),
            factor_of_montgomery::<Q>(zetas[16 + 2 * node]),
            factor_of_montgomery::<Q>(zetas[17 + 2 * node]),
            factor_of_montgomery::<Q>(zetas[32 + 4 * node]),
            factor_of_montgomery::<Q>(zetas[33 + 4 * node]),
            factor_of_montgomery::<Q>(zetas[34 + 4 * node]),
            factor_of_montgomery::<Q>(zetas[35 + 4 * node]),
        ];
        new.inverse_second[node] = [
            mirrored(&zetas, 32, 4 * node),
            mirrored(&zetas, 32, 4 * node + 1),
            mirrored(&zetas, 32, 4 * node + 2),
            mirrored(&zetas, 32, 4 * node + 3),
            mirrored(&zetas, 16, 2 * node),
            mirrored(&zetas, 16, 2 * node + 1),
            mirrored(&zetas, 8, node),
        ];
        node += 1;
    }
    let mut i = 0;
    while i < 64 {
        new.last[i] = factor_of_montgomery::<Q>(zetas[64 + i]);
        new.inverse_last[i] = mirrored(&zetas, 64, i);
        i += 1;
    }
    new.inverse_first = [
        mirrored(&zetas, 4, 0),
        mirrored(&zetas, 4, 1),
        mirrored(&zetas, 4, 2),
        mirrored(&zetas, 4, 3),
        mirrored(&zetas, 2, 0),
        mirrored(&zetas, 2, 1),
        // The last layer also takes the factor that is left, so that only its sums need a product of their own.
        factor_of_montgomery::<Q>(Zq::<Q>::mul(-zetas[1], SCALE)),
    ];
    new
}

/// 1 / zeta of group `group` in the layer of `groups` of them, which is -zeta of the mirrored group.
const fn mirrored(zetas: &[i16], groups: usize, group: usize) -> u32 {
    factor_of_montgomery::<Q>(-zetas[2 * groups - 1 - group])
}
