//! The steps in plain Rust, twins of `backends::cortex_m4::toom`.
#![expect(clippy::needless_range_loop, reason = "k runs through several arrays at once")]

use core::array::from_fn;

use super::{POINTS, PRODUCTS};
use crate::backends::pairs::points::{at_points, four_times, less_3, scaled_at_points, three_times, twice};
use crate::backends::pairs::{add, half, join, sub};

/// In: the four parts of one factor, then of the other.
pub(super) fn evaluate<const U: usize, const U4: usize>(points: &mut [[u32; U4]; 2 * POINTS]) {
    for k in 0..U4 {
        let a = scaled_at_points(from_fn(|i| points[i][k]));
        let b = at_points(from_fn(|i| points[4 + i][k]));
        for i in 0..POINTS {
            (points[2 * i][k], points[2 * i + 1][k]) = (a[i], b[i]);
        }
    }
}

/// Eight times the product, in eight pieces: those that the halves at the points determine, added where they overlap.
pub(super) fn interpolate<const U: usize, const U4: usize>(points: &mut [[u32; U4]; 2 * POINTS]) {
    for k in 0..U4 {
        let [low, high] = [0, 1].map(|half| from_points(from_fn(|i| points[2 * i + half][k])));
        points[0][k] = low[0];
        for i in 1..POINTS {
            points[i][k] = add(low[i], high[i - 1]);
        }
        points[POINTS][k] = high[POINTS - 1];
    }
}

/// The sum of w M / (x - p) at the points p and of w M at infinity, as coefficients of x, with the signs that
/// [`scaled_at_points`] left out at 0, 2 and -2.
#[inline(always)]
fn from_points(w: [u32; POINTS]) -> [u32; POINTS] {
    // (x^2 - 1)(x^2 - 4) times p0 + p1 x + p2 x^2 for 0, 3 and infinity.
    let p = [three_times(w[0]), less_3(sub(w[5], w[0]), w[6]), w[6]];
    let four_p = p.map(four_times);
    let [five_p0, five_p1, five_p2]: [u32; 3] = from_fn(|i| add(four_p[i], p[i]));
    // x (x - 3) times r for the others, r = (x^2 - 4)(even x + odd) - (x^2 - 1)(even_2 x + odd_2).
    let (even, odd) = (add(w[1], w[2]), sub(w[1], w[2]));
    let (even_2, odd_2) = (add(w[3], w[4]), twice(sub(w[3], w[4])));
    let r = [
        sub(odd_2, four_times(odd)),
        sub(even_2, four_times(even)),
        sub(odd, odd_2),
        sub(even, even_2),
    ];
    [
        four_p[0],
        less_3(four_p[1], r[0]),
        less_3(add(sub(four_p[2], five_p0), r[0]), r[1]),
        less_3(sub(r[1], five_p1), r[2]),
        less_3(add(sub(p[0], five_p2), r[2]), r[3]),
        add(p[1], r[3]),
        p[2],
    ]
}

/// Both halves and their sum, and then three of each.
pub(super) fn small_factors<const U: usize, const U4: usize>(factors: &mut [[u32; U]; PRODUCTS], factor: &[u32; U4]) {
    for k in 0..U {
        let [p0, p1, p2, p3]: [u32; 4] = from_fn(|i| factor[i * U + k]);
        let three = [[p0, p1], [p2, p3], [add(p0, p2), add(p1, p3)]];
        for (small, [low, high]) in factors.as_chunks_mut::<3>().0.iter_mut().zip(three) {
            (small[0][k], small[1][k], small[2][k]) = (low, high, add(low, high));
        }
    }
}

/// The products of `a` and `b`.
pub(super) fn small_products<const U: usize, const U2: usize>(
    products: &mut [[u32; U2]; PRODUCTS],
    a: &[[u32; U]; PRODUCTS],
    b: &[[u32; U]; PRODUCTS],
) {
    for (product, (a, b)) in products.iter_mut().zip(a.iter().zip(b)) {
        let coefficient = |i: usize| {
            let terms = (i + 1).saturating_sub(2 * U)..(2 * U).min(i + 1);
            terms.fold(0, |sum: u16, j| {
                sum.wrapping_add(half(a, j).wrapping_mul(half(b, i - j)))
            })
        };
        *product = from_fn(|i| join([coefficient(2 * i), coefficient(2 * i + 1)]));
    }
}

/// Undoes the halvings.
pub(super) fn add_products<const U: usize, const U2: usize, const U4: usize>(
    product: &mut [[u32; U4]; 2],
    products: &[[u32; U2]; PRODUCTS],
) {
    let out = product.as_flattened_mut();
    for k in 0..U {
        let [low, high, sum]: [[u32; 4]; 3] = from_fn(|i| {
            let pieces = |j: usize| [products[3 * i + j][k], products[3 * i + j][U + k]];
            karatsuba(pieces(0), pieces(1), pieces(2))
        });
        for i in 0..2 {
            let d = sub(low[2 + i], high[i]);
            out[i * U + k] = low[i];
            out[(2 + i) * U + k] = add(sub(d, low[i]), sum[i]);
            out[(4 + i) * U + k] = sub(sub(sum[2 + i], d), high[2 + i]);
            out[(6 + i) * U + k] = high[2 + i];
        }
    }
}

/// The product of two halves by those of the low halves, of the high halves and of their sums.
#[inline(always)]
fn karatsuba(low: [u32; 2], high: [u32; 2], sum: [u32; 2]) -> [u32; 4] {
    let d = sub(low[1], high[0]);
    [
        low[0],
        add(sub(d, low[0]), sum[0]),
        sub(sub(sum[1], d), high[1]),
        high[1],
    ]
}
