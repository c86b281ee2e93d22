//! The transform: one special layer, then radix 3, then radix 2 (specification, NTT).

use super::rows::{LANES, Row, load, store};
use crate::{backends::constants::Constants, field::F, params::Params};

/// Starting from |c| < q, the special layer and every radix-2 layer add less than 0.71q and a radix-3 layer less than
/// twice that: at most 7.4q before the end, so that one reduction there is enough.
pub(super) fn forward<P: Params>(poly: &mut [i16]) {
    let mut zetas = P::ZETAS[1..].iter().copied();
    let mut len = P::N / 2;
    if let Some(z) = zetas.next() {
        let (low, high) = poly.split_at_mut(len);
        for (low, high) in low.iter_mut().zip(high) {
            let (a, b) = (*low, *high);
            let zb = F::mul(b, z);
            (*low, *high) = (a + zb, a + b - zb);
        }
    }
    for _ in 0..P::RADIX3_LAYERS {
        len /= 3;
        for block in poly.chunks_exact_mut(3 * len) {
            let (Some(alpha), Some(alpha2)) = (zetas.next(), zetas.next()) else {
                return;
            };
            let (first, rest) = block.split_at_mut(len);
            let (second, third) = rest.split_at_mut(len);
            for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
                let a = *first;
                let t1 = F::mul(*second, alpha);
                let t2 = F::mul(*third, alpha2);
                let t3 = F::mul(t1 - t2, Constants::<P>::OMEGA);
                *first = a + t1 + t2;
                *second = a - t2 + t3;
                *third = a - t1 - t3;
            }
        }
    }
    while len > 4 * P::LEAF {
        len /= 2;
        for (block, zeta) in poly.chunks_exact_mut(2 * len).zip(zetas.by_ref()) {
            let (low, high) = block.split_at_mut(len);
            for (low, high) in low.iter_mut().zip(high) {
                let t = F::mul(*high, zeta);
                (*low, *high) = (*low + t, *low - t);
            }
        }
    }
    if P::LEAF == 3 {
        last_forward::<P, 12>(poly);
    } else {
        last_forward::<P, 16>(poly);
    }
}

/// The last two layers and the reduction, on blocks of `SPAN` = 4d coefficients side by side.
fn last_forward<P: Params, const SPAN: usize>(poly: &mut [i16]) {
    let (_, zetas) = P::ZETAS.split_at(P::N / SPAN);
    let (outer, inner) = zetas.split_at(P::N / SPAN);
    let zetas = outer.chunks_exact(LANES).zip(inner.chunks_exact(2 * LANES));
    for (blocks, (outer, inner)) in poly.chunks_exact_mut(SPAN * LANES).zip(zetas) {
        let mut rows: [Row; SPAN] = load(blocks);
        let [outer]: [Row; 1] = load(outer);
        let [even, odd]: [Row; 2] = load(inner);
        let (low, high) = rows.split_at_mut(SPAN / 2);
        butterflies(low, high, &outer);
        for (half, zeta) in [(low, even), (high, odd)] {
            let (low, high) = half.split_at_mut(SPAN / 4);
            butterflies(low, high, &zeta);
        }
        for row in &mut rows {
            *row = row.map(F::barrett);
        }
        store(&rows, blocks);
    }
}

#[inline(always)]
fn butterflies(low: &mut [Row], high: &mut [Row], zeta: &Row) {
    for (low, high) in low.iter_mut().zip(high) {
        for i in 0..LANES {
            let t = F::mul(high[i], zeta[i]);
            (low[i], high[i]) = (low[i] + t, low[i] - t);
        }
    }
}

/// Reads the twiddles backwards: at the mirrored place stands -1 / zeta^e for radix 2, and omega / alpha with its
/// square for radix 3.
///
/// Sums double in each radix-2 layer and triple in a radix-3 layer. They are reduced in the third layer, where they are
/// below 8q, and in every radix-3 layer, where they are below 9q.
pub(super) fn inverse<P: Params>(poly: &mut [i16]) {
    if P::LEAF == 3 {
        first_inverse::<P, 12>(poly);
    } else {
        first_inverse::<P, 16>(poly);
    }
    let mut zetas = P::ZETAS[1..P::N / P::LEAF / 4].iter().rev().copied();
    let mut len = 4 * P::LEAF;
    let mut layer = 3;
    while len < P::N / 2 / 3usize.pow(P::RADIX3_LAYERS as u32) {
        for (block, zeta) in poly.chunks_exact_mut(2 * len).zip(zetas.by_ref()) {
            let (low, high) = block.split_at_mut(len);
            for (low, high) in low.iter_mut().zip(high) {
                let (u, v) = (*low, *high);
                *low = if layer == 3 { F::barrett(u + v) } else { u + v };
                *high = F::mul(v - u, zeta);
            }
        }
        len *= 2;
        layer += 1;
    }
    for _ in 0..P::RADIX3_LAYERS {
        for block in poly.chunks_exact_mut(3 * len) {
            let (Some(alpha2), Some(alpha)) = (zetas.next(), zetas.next()) else {
                return;
            };
            let (first, rest) = block.split_at_mut(len);
            let (second, third) = rest.split_at_mut(len);
            for ((first, second), third) in first.iter_mut().zip(second).zip(third) {
                let (u, v, w) = (*first, *second, *third);
                let t = F::mul(v - u, Constants::<P>::OMEGA);
                *first = F::barrett(u + v + w);
                *second = F::mul(w - u + t, alpha);
                *third = F::mul(w - v - t, alpha2);
            }
        }
        len *= 3;
    }

    let (low, high) = poly.split_at_mut(len);
    for (low, high) in low.iter_mut().zip(high) {
        let t = F::mul(*low - *high, Constants::<P>::SPECIAL);
        *low = F::barrett(F::mul(*low + *high - t, Constants::<P>::SCALE));
        *high = F::barrett(F::mul(2 * t, Constants::<P>::SCALE));
    }
}

/// The first two layers, on blocks of `SPAN` = 4d coefficients side by side.
fn first_inverse<P: Params, const SPAN: usize>(poly: &mut [i16]) {
    let (_, zetas) = P::ZETAS.split_at(P::N / SPAN);
    let (outer, inner) = zetas.split_at(P::N / SPAN);
    let zetas = outer.rchunks_exact(LANES).zip(inner.rchunks_exact(2 * LANES));
    for (blocks, (outer, inner)) in poly.chunks_exact_mut(SPAN * LANES).zip(zetas) {
        let mut rows: [Row; SPAN] = load(blocks);
        let [mut outer]: [Row; 1] = load(outer);
        let [mut odd, mut even]: [Row; 2] = load(inner);
        outer.reverse();
        odd.reverse();
        even.reverse();
        let (low, high) = rows.split_at_mut(SPAN / 2);
        for (half, zeta) in [(&mut *low, even), (&mut *high, odd)] {
            let (low, high) = half.split_at_mut(SPAN / 4);
            inverse_butterflies(low, high, &zeta);
        }
        inverse_butterflies(low, high, &outer);
        store(&rows, blocks);
    }
}

#[inline(always)]
fn inverse_butterflies(low: &mut [Row], high: &mut [Row], zeta: &Row) {
    for (low, high) in low.iter_mut().zip(high) {
        for i in 0..LANES {
            let (u, v) = (low[i], high[i]);
            (low[i], high[i]) = (u + v, F::mul(v - u, zeta[i]));
        }
    }
}
