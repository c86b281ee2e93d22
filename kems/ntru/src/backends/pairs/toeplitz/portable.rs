//! The steps in plain Rust, twins of `backends::cortex_m4::toeplitz`.
#![expect(clippy::needless_range_loop, reason = "k runs through several arrays at once")]

use core::array::from_fn;

use super::{POINTS, PRODUCTS};
use crate::backends::pairs::points::{four_times, less_3, scaled_at_points, three_times, twice};
use crate::backends::pairs::{add, half, join, sub};

/// For each point the diagonals taken for the powers of x in M / (x - p) or M. In: diagonals in groups 0 to 7; a matrix takes
/// seven of them in a row for each of its halves.
pub(super) fn matrices_at_points<const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 2 * POINTS]) {
    for k in 0..U4 {
        let z: [u32; 8] = from_fn(|i| matrices[i][k]);
        // Multiples of x^2 - 1 and of x^2 - 4, and then of both.
        let by_1: [u32; 6] = from_fn(|i| sub(z[i + 2], z[i]));
        let by_4: [u32; 4] = from_fn(|i| sub(z[i + 3], four_times(z[i + 1])));
        let both: [u32; 4] = from_fn(|i| sub(by_1[i + 2], four_times(by_1[i])));
        // The factor x - 3.
        let both_3: [u32; 3] = from_fn(|i| less_3(both[i + 1], both[i]));
        let by_1_3: [u32; 3] = from_fn(|i| less_3(by_1[i + 2], by_1[i + 1]));
        let by_4_3: [u32; 3] = from_fn(|i| less_3(by_4[i + 1], by_4[i]));
        let halves = |i: usize| {
            let twice_1_3 = twice(by_1_3[i]);
            [
                both_3[i],
                add(by_4_3[i + 1], by_4_3[i]),
                sub(by_4_3[i + 1], by_4_3[i]),
                add(by_1_3[i + 1], twice_1_3),
                sub(by_1_3[i + 1], twice_1_3),
                both[i + 1],
                both_3[i + 1],
            ]
        };
        for half in 0..2 {
            for (i, part) in halves(half).into_iter().enumerate() {
                matrices[2 * i + half][k] = part;
            }
        }
    }
}

/// The vector as a polynomial, last part first, at each point.
pub(super) fn vectors_at_points<const U: usize, const U4: usize>(vectors: &mut [[u32; U4]; POINTS]) {
    for k in 0..U4 {
        let parts = scaled_at_points(from_fn(|i| vectors[3 - i][k]));
        (0..POINTS).for_each(|i| vectors[i][k] = parts[i]);
    }
}

/// Eight times the product: part i is the sum of p^i y at the points p, with the signs that [`scaled_at_points`] left out at
/// 0, 2 and -2.
pub(super) fn from_points<const U: usize, const U4: usize>(vectors: &mut [[u32; U4]; POINTS]) {
    for k in 0..U4 {
        let y: [u32; POINTS] = from_fn(|i| vectors[i][k]);
        let (even, odd) = (add(y[1], y[2]), sub(y[1], y[2]));
        let (even_2, odd_2) = (add(y[3], y[4]), twice(sub(y[3], y[4])));
        let y3 = three_times(y[5]);
        let y9 = three_times(y3);
        vectors[0][k] = sub(add(sub(even, even_2), y[5]), y[0]);
        vectors[1][k] = add(sub(odd, odd_2), y3);
        vectors[2][k] = add(sub(even, four_times(even_2)), y9);
        vectors[3][k] = add(add(sub(odd, four_times(odd_2)), three_times(y9)), y[6]);
    }
}

/// With (D, U; L, D) in a matrix, the product is D (v0 + v1) + (U - D) v1 above and D (v0 + v1) + (L - D) v0 below: these
/// three, and then three of each.
pub(super) fn small_matrices<const U: usize, const U2: usize, const U4: usize>(
    matrices: &mut [[u32; U2]; PRODUCTS],
    diagonals: &[[u32; U4]; 2],
) {
    let diagonals = diagonals.as_flattened();
    for k in 0..U {
        let a: [u32; 8] = from_fn(|i| diagonals[i * U + k]);
        let three = [
            [a[2], a[3], a[4], a[5]],
            from_fn(|i| sub(a[i], a[i + 2])),
            from_fn(|i| sub(a[i + 4], a[i + 2])),
        ];
        for (small, b) in matrices.as_chunks_mut::<3>().0.iter_mut().zip(three) {
            let [shared, above, below] = small;
            (shared[k], shared[U + k]) = (b[1], b[2]);
            (above[k], above[U + k]) = (sub(b[0], b[1]), sub(b[1], b[2]));
            (below[k], below[U + k]) = (sub(b[2], b[1]), sub(b[3], b[2]));
        }
    }
}

/// v0 + v1, v1 and v0, and then three of each.
pub(super) fn small_vectors<const U: usize, const U4: usize>(vectors: &mut [[u32; U]; PRODUCTS], vector: &[u32; U4]) {
    for k in 0..U {
        let v: [u32; 4] = from_fn(|i| vector[i * U + k]);
        let three = [[add(v[0], v[2]), add(v[1], v[3])], [v[2], v[3]], [v[0], v[1]]];
        for (small, [v0, v1]) in vectors.as_chunks_mut::<3>().0.iter_mut().zip(three) {
            let [shared, above, below] = small;
            (shared[k], above[k], below[k]) = (add(v0, v1), v1, v0);
        }
    }
}

/// Each vector becomes its product with the matrix.
pub(super) fn small_products<const U: usize, const U2: usize>(
    vectors: &mut [[u32; U]; PRODUCTS],
    matrices: &[[u32; U2]; PRODUCTS],
) {
    for (vector, matrix) in vectors.iter_mut().zip(matrices) {
        let row = |i: usize| {
            (0..2 * U).fold(0, |sum: u16, j| {
                sum.wrapping_add(half(matrix, 2 * U - 1 + i - j).wrapping_mul(half(vector, j)))
            })
        };
        *vector = from_fn(|i| join([row(2 * i), row(2 * i + 1)]));
    }
}

/// Undoes the halvings.
pub(super) fn add_products<const U: usize, const U4: usize>(product: &mut [u32; U4], products: &[[u32; U]; PRODUCTS]) {
    for k in 0..U {
        let p: [u32; PRODUCTS] = from_fn(|i| products[i][k]);
        let [shared, above, below]: [[u32; 2]; 3] =
            from_fn(|i| [add(p[3 * i], p[3 * i + 1]), add(p[3 * i], p[3 * i + 2])]);
        for i in 0..2 {
            product[i * U + k] = add(shared[i], above[i]);
            product[(2 + i) * U + k] = add(shared[i], below[i]);
        }
    }
}
