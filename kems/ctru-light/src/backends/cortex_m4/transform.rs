use kem_core::modular::Zq;
use kem_core::packed::{add_q_if_negative, factor, factor_of_montgomery, forward3, inverse3, multiply};

use crate::ring::{BLOCK, N};

/// The constants of a transform, in the order in which six layers in two passes use them.
pub(super) struct Factors<const Q: i16> {
    first: [u32; 7],
    second: [[u32; 7]; 8],
    inverse_first: [[u32; 7]; 8],
    inverse_second: [u32; 7],
    /// z of blocks 0, 2, 4, ..; the blocks between have -z.
    pub(super) blocks: [u32; 32],
}

impl<const Q: i16> Factors<Q> {
    /// From the table of `kem_core::ntt`.
    pub(super) const fn new(zetas: &[i16; N / BLOCK]) -> Self {
        let mut new = Self {
            first: [0; 7],
            second: [[0; 7]; 8],
            inverse_first: [[0; 7]; 8],
            inverse_second: [0; 7],
            blocks: [0; 32],
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
            new.inverse_first[node] = [
                mirrored::<Q>(zetas, 32, 4 * node),
                mirrored::<Q>(zetas, 32, 4 * node + 1),
                mirrored::<Q>(zetas, 32, 4 * node + 2),
                mirrored::<Q>(zetas, 32, 4 * node + 3),
                mirrored::<Q>(zetas, 16, 2 * node),
                mirrored::<Q>(zetas, 16, 2 * node + 1),
                mirrored::<Q>(zetas, 8, node),
            ];
            node += 1;
        }
        new.inverse_second = [
            mirrored::<Q>(zetas, 4, 0),
            mirrored::<Q>(zetas, 4, 1),
            mirrored::<Q>(zetas, 4, 2),
            mirrored::<Q>(zetas, 4, 3),
            mirrored::<Q>(zetas, 2, 0),
            mirrored::<Q>(zetas, 2, 1),
            // The last layer also takes the factor that is left, so that only its sums need a product of their own.
            factor_of_montgomery::<Q>(Zq::<Q>::mul(-zetas[1], Self::SCALE)),
        ];
        let mut i = 0;
        while i < 32 {
            new.blocks[i] = factor_of_montgomery::<Q>(zetas[32 + i]);
            i += 1;
        }
        new
    }

    /// R / 64 in the Montgomery domain: what the layers doubled and the block product divided.
    const SCALE: i16 = crate::ring::unscale::<Q>();
}

/// 1 / zeta of group `group` in the layer of `groups` of them, which is -zeta of the mirrored group.
const fn mirrored<const Q: i16>(zetas: &[i16], groups: usize, group: usize) -> u32 {
    factor_of_montgomery::<Q>(-zetas[2 * groups - 1 - group])
}

/// In: any c for which c + 6 Q / 2 fits. Out: |c| at most that much larger.
#[inline(always)]
pub(super) fn forward<const Q: i16>(p: &mut [u32; N / 2], factors: &Factors<Q>) {
    forward3::<Q, 32>(p, &factors.first);
    for (node, factors) in p.as_chunks_mut::<32>().0.iter_mut().zip(&factors.second) {
        forward3::<Q, 4>(node, factors);
    }
}

/// In: |c| < Q. Out: 0..Q, times R.
#[inline(always)]
pub(super) fn inverse<const Q: i16>(p: &mut [u32; N / 2], factors: &Factors<Q>) {
    for (node, factors) in p.as_chunks_mut::<32>().0.iter_mut().zip(&factors.inverse_first) {
        // Below 8 Q before, at most 2 Q afterwards: below 16 Q in the second pass.
        inverse3::<Q, 4>(node, factors, |w| w[0] = multiply::<Q>(w[0], const { factor::<Q>(1) }));
    }
    inverse3::<Q, 32>(p, &factors.inverse_second, |w| {
        let (sums, products) = w.split_at_mut(4);
        for w in sums {
            *w = add_q_if_negative::<Q>(multiply::<Q>(
                *w,
                const { factor_of_montgomery::<Q>(Factors::<Q>::SCALE) },
            ));
        }
        for w in products {
            *w = add_q_if_negative::<Q>(*w);
        }
    });
}
