//! The product as a Toeplitz matrix times a vector: quarters by the transpose of Toom and Cook's interpolation, seven products
//! instead of 16, then two halvings, nine products instead of 16, then rows.
//!
//! A matrix of m rows is its 2 m - 1 diagonals, entry (i, j) at index m - 1 + i - j, so that a part of the matrix is a part of
//! the list.

use core::array::from_fn;

use zeroize::Zeroize;

use super::{Product, add, four_times, join, load, scale, store, sub, twice};
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use crate::backends::cortex_m4::toeplitz as small_products;
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
use portable::small_products;

/// Memory of a product of 32 U coefficients. U2 is 2 U, U4 is 4 U.
pub struct Scratch<const U: usize, const U2: usize, const U4: usize> {
    /// Of each matrix of a quarter's size the earlier and the later half of its diagonals.
    matrices: [[u32; U4]; 2 * POINTS],
    /// Vectors of a quarter, and then their products.
    vectors: [[u32; U4]; POINTS],
    small_matrices: [[u32; U2]; PRODUCTS],
    small_vectors: [[u32; U]; PRODUCTS],
}

/// 0, 1, -1, 2, -2, 3 and infinity: they determine seven coefficients.
const POINTS: usize = 7;
/// Of two halvings.
const PRODUCTS: usize = 9;

impl<const U: usize, const U2: usize, const U4: usize> Product for Scratch<U, U2, U4> {
    const NEW: Self = Self {
        matrices: [[0; U4]; 2 * POINTS],
        vectors: [[0; U4]; POINTS],
        small_matrices: [[0; U2]; PRODUCTS],
        small_vectors: [[0; U]; PRODUCTS],
    };

    /// Modulo 2^13. In: n odd, at most 32 U.
    #[inline(never)]
    fn multiply(&mut self, a: &mut [u16], b: &[u16]) {
        load_diagonals(self.matrices[..8].as_flattened_mut(), b);
        load(self.vectors[..4].as_flattened_mut(), a);
        self.split();
        for (y, matrix) in self.vectors.iter_mut().zip(self.matrices.as_chunks().0) {
            quarter(y, matrix, &mut self.small_matrices, &mut self.small_vectors);
        }
        self.join();
        // What the interpolation multiplied by.
        store(a, self.vectors[..4].as_flattened().iter().map(|word| word >> 3));
    }
}

impl<const U: usize, const U2: usize, const U4: usize> Scratch<U, U2, U4> {
    /// Of eight groups of diagonals and four parts of the vector makes a matrix and a vector for each point.
    #[inline(never)]
    fn split(&mut self) {
        for k in 0..U4 {
            let parts = matrices_at_points(from_fn(|i| self.matrices[i][k]));
            for (matrix, part) in self.matrices.iter_mut().zip(parts) {
                matrix[k] = part;
            }
        }
        for k in 0..U4 {
            let parts = vectors_at_points(from_fn(|i| self.vectors[i][k]));
            for (vector, part) in self.vectors.iter_mut().zip(parts) {
                vector[k] = part;
            }
        }
    }

    /// Of the products at each point makes eight times the four parts of the product.
    #[inline(never)]
    fn join(&mut self) {
        for k in 0..U4 {
            let parts = from_points(from_fn(|i| self.vectors[i][k]));
            for (vector, part) in self.vectors.iter_mut().zip(parts) {
                vector[k] = part;
            }
        }
    }
}

impl<const U: usize, const U2: usize, const U4: usize> Zeroize for Scratch<U, U2, U4> {
    fn zeroize(&mut self) {
        self.matrices.as_flattened_mut().zeroize();
        self.vectors.as_flattened_mut().zeroize();
        self.small_matrices.as_flattened_mut().zeroize();
        self.small_vectors.as_flattened_mut().zeroize();
    }
}

/// b\[d mod n\] for the diagonals -n < d < n; the diagonal 0 is in the high half of the middle word. What lies beyond meets the
/// zeros of the vector, or rows that nobody reads.
fn load_diagonals(words: &mut [u32], b: &[u16]) {
    let (below, above) = words.split_at_mut(words.len() / 2);
    let pairs = b.as_chunks().0;
    let below = &mut below[above.len() - pairs.len() - 1..];
    for (word, pair) in below.iter_mut().zip(pairs) {
        *word = join(*pair);
    }
    below[pairs.len()] = join([b[b.len() - 1], b[0]]);
    for (word, pair) in above.iter_mut().zip(b[1..].as_chunks().0) {
        *word = join(*pair);
    }
}

/// For point p the diagonals taken for the powers of x in the polynomial that is zero at all other points, times its value at p
/// and 24. In: diagonals in groups 0 to 7; a matrix takes seven of them in a row for each of its halves.
///
/// With M = x (x^2 - 1)(x^2 - 4)(x - 3) these are M / (x - p), and M for infinity.
#[inline(always)]
fn matrices_at_points(z: [u32; 8]) -> [u32; 2 * POINTS] {
    // Multiples of x^2 - 1 and of x^2 - 4, and then of both.
    let by_1: [u32; 6] = from_fn(|i| sub(z[i + 2], z[i]));
    let by_4: [u32; 4] = from_fn(|i| sub(z[i + 3], four_times(z[i + 1])));
    let both: [u32; 4] = from_fn(|i| sub(by_1[i + 2], four_times(by_1[i])));
    // The factor x - 3.
    let both_3: [u32; 3] = from_fn(|i| less_3(both[i + 1], both[i]));
    let by_1_3: [u32; 3] = from_fn(|i| less_3(by_1[i + 2], by_1[i + 1]));
    let by_4_3: [u32; 3] = from_fn(|i| less_3(by_4[i + 1], by_4[i]));
    let twice_1_3 = [twice(by_1_3[0]), twice(by_1_3[1])];
    [
        both_3[0],
        both_3[1],
        add(by_4_3[1], by_4_3[0]),
        add(by_4_3[2], by_4_3[1]),
        sub(by_4_3[1], by_4_3[0]),
        sub(by_4_3[2], by_4_3[1]),
        add(by_1_3[1], twice_1_3[0]),
        add(by_1_3[2], twice_1_3[1]),
        sub(by_1_3[1], twice_1_3[0]),
        sub(by_1_3[2], twice_1_3[1]),
        both[1],
        both[2],
        both_3[1],
        both_3[2],
    ]
}

/// a - 3 b.
#[inline(always)]
fn less_3(a: u32, b: u32) -> u32 {
    sub(sub(a, b), twice(b))
}

/// The polynomial whose coefficients are the parts of the vector, last part first, at each point, and divided there by what
/// [`matrices_at_points`] multiplied by. 8 is left as a factor, because only odd numbers have inverses modulo 2^16; [`from_points`]
/// sees to the signs.
#[inline(always)]
fn vectors_at_points(v: [u32; 4]) -> [u32; POINTS] {
    let highest = v[0];
    let [a3, a2, a1, a0] = v.map(|part| scale(part, THIRD));
    let (even, odd) = (add(a0, a2), add(a1, a3));
    let (even_2, odd_2) = (add(a0, four_times(a2)), twice(add(a1, four_times(a3))));
    let at_3 = [a2, a1, a0].into_iter().fold(a3, |sum, a| add(add(sum, twice(sum)), a));
    [
        twice(a0),
        twice(add(even, odd)),
        sub(even, odd),
        add(even_2, odd_2),
        scale(sub(even_2, odd_2), FIFTH),
        scale(at_3, FIFTH),
        twice(four_times(highest)),
    ]
}

/// 1 / 3 and 1 / 5 modulo 2^16.
const THIRD: u16 = 0xaaab;
const FIFTH: u16 = 0xcccd;

/// Part i is the sum of p^i y at the points p, with the signs that [`vectors_at_points`] left out at 0, 2 and -2.
#[inline(always)]
fn from_points(y: [u32; POINTS]) -> [u32; 4] {
    let (even, odd) = (add(y[1], y[2]), sub(y[1], y[2]));
    let (even_2, odd_2) = (add(y[3], y[4]), twice(sub(y[3], y[4])));
    let three_times = |a| add(a, twice(a));
    let y3 = three_times(y[5]);
    let y9 = three_times(y3);
    let y27 = three_times(y9);
    [
        sub(add(sub(even, even_2), y[5]), y[0]),
        add(sub(odd, odd_2), y3),
        add(sub(even, four_times(even_2)), y9),
        add(add(sub(odd, four_times(odd_2)), y27), y[6]),
    ]
}

/// `y` becomes the product of `matrix` and `y`.
///
/// With (D, U; L, D) in the matrix, above is D (v0 + v1) + (U - D) v1 and below D (v0 + v1) + (L - D) v0; twice.
#[inline(never)]
fn quarter<const U: usize, const U2: usize, const U4: usize>(
    y: &mut [u32; U4],
    matrix: &[[u32; U4]; 2],
    matrices: &mut [[u32; U2]; PRODUCTS],
    vectors: &mut [[u32; U]; PRODUCTS],
) {
    let diagonals = matrix.as_flattened();
    for k in 0..U {
        let a: [u32; 8] = from_fn(|i| diagonals[i * U + k]);
        let halves = [
            [a[2], a[3], a[4], a[5]],
            from_fn(|i| sub(a[i], a[i + 2])),
            from_fn(|i| sub(a[i + 4], a[i + 2])),
        ];
        for (small, b) in matrices.as_chunks_mut::<3>().0.iter_mut().zip(halves) {
            let [shared, above, below] = small;
            let (middle_0, middle_1) = (sub(b[0], b[1]), sub(b[1], b[2]));
            (shared[k], shared[U + k]) = (b[1], b[2]);
            (above[k], above[U + k]) = (middle_0, middle_1);
            (below[k], below[U + k]) = (sub(b[2], b[1]), sub(b[3], b[2]));
        }
    }
    for k in 0..U {
        let v: [u32; 4] = from_fn(|i| y[i * U + k]);
        let halves = [[add(v[0], v[2]), add(v[1], v[3])], [v[2], v[3]], [v[0], v[1]]];
        for (small, [v0, v1]) in vectors.as_chunks_mut::<3>().0.iter_mut().zip(halves) {
            let [shared, above, below] = small;
            (shared[k], above[k], below[k]) = (add(v0, v1), v1, v0);
        }
    }
    small_products(vectors, matrices);
    for k in 0..U {
        let p: [u32; PRODUCTS] = from_fn(|i| vectors[i][k]);
        let parts: [[u32; 2]; 3] = from_fn(|i| [add(p[3 * i], p[3 * i + 1]), add(p[3 * i], p[3 * i + 2])]);
        let [shared, above, below] = parts;
        y[k] = add(shared[0], above[0]);
        y[U + k] = add(shared[1], above[1]);
        y[2 * U + k] = add(shared[0], below[0]);
        y[3 * U + k] = add(shared[1], below[1]);
    }
}

#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod portable {
    /// The twin of `cortex_m4::toeplitz`.
    pub(super) fn small_products<const U: usize, const U2: usize>(vectors: &mut [[u32; U]], matrices: &[[u32; U2]]) {
        for (vector, matrix) in vectors.iter_mut().zip(matrices) {
            let product: [u32; U] = core::array::from_fn(|i| {
                let row = |i: usize| {
                    (0..2 * U).fold(0, |sum: u16, j| {
                        sum.wrapping_add(half(matrix, 2 * U - 1 + i - j).wrapping_mul(half(vector, j)))
                    })
                };
                crate::backends::pairs::join([row(2 * i), row(2 * i + 1)])
            });
            *vector = product;
        }
    }

    fn half(words: &[u32], i: usize) -> u16 {
        (words[i / 2] >> (16 * (i % 2))) as u16
    }
}
