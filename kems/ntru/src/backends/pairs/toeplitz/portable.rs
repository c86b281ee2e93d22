//! The steps in plain Rust, twins of `backends::cortex_m4::toeplitz`.
#![expect(clippy::needless_range_loop, reason = "k runs through several arrays at once")]

use core::array::from_fn;

use super::{POINTS, PRODUCTS};
use crate::backends::pairs::points::{four_times, less_3, scaled_at_points, three_times, twice};
use crate::backends::pairs::{add, half, join, sub};

/// What the matrices are made of. That of a point has the diagonals taken for the powers of x in M / (x - p) or M.
///
/// In: diagonals in groups 0 to 7, of which a matrix takes seven in a row for each of its halves. Out: multiples of
/// (x^2 - 1)(x^2 - 4) in arrays 0 to 3, of which 1 and 2 are the matrix of 3; of (x^2 - 4)(x - 3) in arrays 4 to 6, of
/// (x^2 - 1)(x - 3) in the last three.
pub(super) fn prepare<const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
    for k in 0..U4 {
        let z: [u32; 8] = from_fn(|i| matrices[i][k]);
        let by_1: [u32; 6] = from_fn(|i| sub(z[i + 2], z[i]));
        let by_4: [u32; 4] = from_fn(|i| sub(z[i + 3], four_times(z[i + 1])));
        for i in 0..4 {
            matrices[i][k] = sub(by_1[i + 2], four_times(by_1[i]));
        }
        for i in 0..3 {
            matrices[4 + i][k] = less_3(by_4[i + 1], by_4[i]);
            matrices[7 + i][k] = less_3(by_1[i + 2], by_1[i + 1]);
        }
    }
}

/// The matrix of 0 in arrays 0 and 1, that of infinity in arrays 1 and 2.
pub(super) fn zero_and_infinity<const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
    for k in 0..U4 {
        for i in 0..3 {
            matrices[i][k] = less_3(matrices[i + 1][k], matrices[i][k]);
        }
    }
}

/// The matrix of `POINT`, 1 or 2, in arrays 0 and 1, that of its negative in arrays 2 and 3.
pub(super) fn plus_and_minus<const POINT: u16, const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
    for k in 0..U4 {
        let parts: [u32; 3] = from_fn(|i| matrices[3 * POINT as usize + 1 + i][k]);
        for i in 0..2 {
            let odd = if POINT == 1 { parts[i] } else { twice(parts[i]) };
            matrices[i][k] = add(parts[i + 1], odd);
            matrices[2 + i][k] = sub(parts[i + 1], odd);
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

/// Three of D.
pub(super) fn shared_matrices<const U: usize, const U2: usize, const U4: usize>(
    matrices: &mut [[u32; U2]; 6],
    diagonals: &[[u32; U4]; 2],
) {
    let diagonals = diagonals.as_flattened();
    for k in 0..U {
        three::<U, U2>(&mut matrices[..3], k, from_fn(|i| diagonals[(2 + i) * U + k]));
    }
}

/// Three of U - D and three of L - D.
pub(super) fn other_matrices<const U: usize, const U2: usize, const U4: usize>(
    matrices: &mut [[u32; U2]; 6],
    diagonals: &[[u32; U4]; 2],
) {
    let diagonals = diagonals.as_flattened();
    for k in 0..U {
        let a: [u32; 8] = from_fn(|i| diagonals[i * U + k]);
        three::<U, U2>(&mut matrices[..3], k, from_fn(|i| sub(a[i], a[i + 2])));
        three::<U, U2>(&mut matrices[3..], k, from_fn(|i| sub(a[i + 4], a[i + 2])));
    }
}

/// Word `k` of the D, U - D and L - D of a matrix.
fn three<const U: usize, const U2: usize>(matrices: &mut [[u32; U2]], k: usize, diagonals: [u32; 4]) {
    let middle = [diagonals[1], diagonals[2]];
    for i in 0..2 {
        matrices[0][i * U + k] = middle[i];
        matrices[1][i * U + k] = sub(diagonals[i], middle[i]);
        matrices[2][i * U + k] = sub(diagonals[2 + i], middle[i]);
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
pub(super) fn small_products<const U: usize, const U2: usize>(vectors: &mut [[u32; U]], matrices: &[[u32; U2]]) {
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
