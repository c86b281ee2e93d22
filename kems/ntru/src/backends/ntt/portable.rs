//! Layers of butterflies in plain Rust, twins of `backends::cortex_m4::ntt`. Values are bounded by multiples of P and never
//! canonical.

use core::array::from_fn;

use super::constants::{INVERSES, P, ZETAS, montgomery, power};

/// From polynomials of less than N / 2 coefficients to residues modulo x^D - w. In: |c| <= 2^12 in the lower half, the upper one
/// is taken for zero. Out: |c| < 4.5 P.
pub(in crate::backends) fn forward<const N: usize>(p: &mut [i32; N]) {
    for j in 0..N / 8 {
        first_layers(p, j);
    }
    quarters::<N>(p, 8);
    quarters::<N>(p, 32);
}

/// Layers 1 to 3; layer 1 only copies.
fn first_layers<const N: usize>(p: &mut [i32; N], j: usize) {
    let eighth = N / 8;
    let x: [i32; 4] = from_fn(|i| p[i * eighth + j]);
    let t = [product(x[2], ZETAS[1]), product(x[3], ZETAS[1])];
    let groups = [
        [x[0] + x[2], x[1] + x[3]],
        [x[0] - x[2], x[1] - x[3]],
        [x[0] + t[0], x[1] + t[1]],
        [x[0] - t[0], x[1] - t[1]],
    ];
    for (i, [a, b]) in groups.into_iter().enumerate() {
        let t = if i == 0 { b } else { product(b, ZETAS[i]) };
        p[2 * i * eighth + j] = a + t;
        p[(2 * i + 1) * eighth + j] = a - t;
    }
}

/// Two layers on each of `groups` groups.
fn quarters<const N: usize>(p: &mut [i32; N], groups: usize) {
    for (i, group) in p.chunks_exact_mut(N / groups).enumerate() {
        let z = [ZETAS[i], ZETAS[2 * i], ZETAS[2 * i + 1]];
        for [a, b, c, d] in columns(group) {
            (*a, *c) = butterfly(*a, *c, z[0]);
            (*b, *d) = butterfly(*b, *d, z[0]);
            (*a, *b) = butterfly(*a, *b, z[1]);
            (*c, *d) = butterfly(*c, *d, z[2]);
        }
    }
}

/// The inverse of [`forward`], except for a factor of 128. In: |c| < 0.7 P. Out: |c| < 2.3 P.
pub(in crate::backends) fn inverse<const N: usize>(p: &mut [i32; N]) {
    inverse_quarters::<N>(p, 32);
    inverse_quarters::<N>(p, 8);
    for j in 0..N / 8 {
        last_layers(p, j);
    }
}

fn inverse_quarters<const N: usize>(p: &mut [i32; N], groups: usize) {
    for (i, group) in p.chunks_exact_mut(N / groups).enumerate() {
        let z = [INVERSES[i], INVERSES[2 * i], INVERSES[2 * i + 1]];
        for [a, b, c, d] in columns(group) {
            (*a, *b) = inverse_butterfly(*a, *b, z[1]);
            (*c, *d) = inverse_butterfly(*c, *d, z[2]);
            (*a, *c) = inverse_butterfly(*a, *c, z[0]);
            (*b, *d) = inverse_butterfly(*b, *d, z[0]);
            *a = product(*a, ONE);
            *b = product(*b, ONE);
        }
    }
}

/// Layers 3 to 1. All values are below 0.6 P after layer 3, and double twice.
fn last_layers<const N: usize>(p: &mut [i32; N], j: usize) {
    let eighth = N / 8;
    let groups: [[i32; 2]; 4] = from_fn(|i| {
        let (a, b) = (p[2 * i * eighth + j], p[(2 * i + 1) * eighth + j]);
        [product(a + b, ONE), product(a - b, INVERSES[i])]
    });
    for k in 0..2 {
        let [a, b, c, d] = groups.map(|group| group[k]);
        let (even, odd) = (a + b, a - b);
        let (even_i, odd_i) = (c + d, product(c - d, INVERSES[1]));
        p[k * eighth + j] = even + even_i;
        p[(4 + k) * eighth + j] = even - even_i;
        p[(2 + k) * eighth + j] = odd + odd_i;
        p[(6 + k) * eighth + j] = odd - odd_i;
    }
}

/// A value of each quarter at a time.
fn columns(group: &mut [i32]) -> impl Iterator<Item = [&mut i32; 4]> {
    let (low, high) = group.split_at_mut(group.len() / 2);
    let (a, b) = low.split_at_mut(low.len() / 2);
    let (c, d) = high.split_at_mut(high.len() / 2);
    let halves = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
    halves.map(|((a, b), (c, d))| [a, b, c, d])
}

/// Adds at most 0.75 P.
fn butterfly(a: i32, b: i32, zeta: i32) -> (i32, i32) {
    let t = product(b, zeta);
    (a + t, a - t)
}

fn inverse_butterfly(a: i32, b: i32, zeta: i32) -> (i32, i32) {
    (a + b, product(a - b, zeta))
}

/// `a` * `b` / 2^32 modulo P. In: any a, |b| <= P / 2. Out: at most P / 2 + |a| / 23.
pub(super) fn product(a: i32, b: i32) -> i32 {
    reduce(i64::from(a) * i64::from(b))
}

/// `sum` / 2^32 modulo P (Montgomery). In: |sum| < 2^62.5. Out: at most P / 2 + |sum| / 2^32.
pub(super) fn reduce(sum: i64) -> i32 {
    let factor = (sum as i32).wrapping_mul(NEGATIVE_INVERSE);
    ((sum + i64::from(factor) * i64::from(P)) >> 32) as i32
}

/// Coefficient i of `out` becomes the integer of at most (P - 1) / 2 that the sum of values i and i + n is modulo P, modulo 2^16.
/// In: |c| < 2.5 P, the product of polynomials of n coefficients, as many as `out` has.
pub(in crate::backends) fn fold(out: &mut [u16], values: &[i32]) {
    const HALF: i32 = (P - 1) / 2;
    let (low, wrapped) = values.split_at(out.len());
    for (out, (low, wrapped)) in out.iter_mut().zip(low.iter().zip(wrapped)) {
        let c = product(low + wrapped, ONE);
        let c = c + P * (((HALF - c) >> 31) - ((HALF + c) >> 31));
        *out = c as u16;
    }
}

/// `a` becomes `a` * `b` / 128 in every residue. In: |c| < 4.5 P. Out: |c| < 0.7 P.
pub(in crate::backends) fn multiply<const N: usize, const D: usize>(a: &mut [i32; N], b: &[i32; N]) {
    let pairs = a.as_chunks_mut::<D>().0.iter_mut().zip(b.as_chunks::<D>().0);
    for (i, (a, b)) in pairs.enumerate() {
        let zeta = ZETAS[i / 2];
        residue(a, b, if i % 2 == 0 { zeta } else { -zeta });
    }
}

/// Coefficient k is the sum of a_i e_(k - i) where e_j is b_j, and w b_(D + j) for a negative j.
fn residue<const D: usize>(a: &mut [i32; D], b: &[i32; D], w: i32) {
    let e = [b.map(|b| product(b, w)), b.map(|b| product(b, ONE))];
    let e = e.as_flattened();
    *a = from_fn(|k| {
        // At most 13 * 4.5 P * 0.7 P.
        let sum = a
            .iter()
            .enumerate()
            .map(|(i, &a)| i64::from(a) * i64::from(e[D + k - i]))
            .sum();
        product(reduce(sum), SCALE)
    });
}

/// 2^64 / 128: a product with it divides by what the inverse transform will multiply by.
const SCALE: i32 = montgomery(power(128, P as u64 - 2) * ((1 << 32) % P as u64));

/// -1 / P modulo 2^32.
const NEGATIVE_INVERSE: i32 = {
    let mut inverse = P;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2i32.wrapping_sub(P.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
};

/// 1.
const ONE: i32 = montgomery(1);
