//! The product as a Toeplitz matrix times a vector: quarters by the transpose of Toom and Cook's interpolation, seven products
//! instead of 16, then halves twice, nine products instead of 16, then rows.
//!
//! A matrix of m rows is its 2 m - 1 diagonals, entry (i, j) at index m - 1 + i - j, so that a part of the matrix is a part of
//! the list.

#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod portable;

use zeroize::Zeroize;

use super::{POINTS, Product, copy, join, load, store};
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use crate::backends::cortex_m4::toeplitz as step;
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
use portable as step;

/// Memory of a product of 32 U coefficients. U2 is 2 U, U4 is 4 U.
pub struct Scratch<const U: usize, const U2: usize, const U4: usize> {
    /// The earlier and the later half of the diagonals of matrices of a quarter's size, and behind them what the next matrices
    /// will be made of.
    matrices: [[u32; U4]; 10],
    /// Vectors of a quarter, and then their products.
    vectors: [[u32; U4]; POINTS],
    small_matrices: [[u32; U2]; 6],
    small_vectors: [[u32; U]; PRODUCTS],
}

/// Of two halvings.
const PRODUCTS: usize = 9;

impl<const U: usize, const U2: usize, const U4: usize> Product for Scratch<U, U2, U4> {
    const NEW: Self = Self {
        matrices: [[0; U4]; 10],
        vectors: [[0; U4]; POINTS],
        small_matrices: [[0; U2]; 6],
        small_vectors: [[0; U]; PRODUCTS],
    };

    /// Modulo 2^13. In: n odd, at most 32 U.
    #[inline(never)]
    fn multiply(&mut self, a: &mut [u16], b: &[u16]) {
        load_diagonals(self.matrices[..8].as_flattened_mut(), b);
        load(self.vectors[..4].as_flattened_mut(), a);
        step::vectors_at_points::<U, U4>(&mut self.vectors);
        // In the order of the points 0, 1, -1, 2, -2, 3 and infinity the vectors; the matrices as memory allows.
        step::prepare::<U, U4>(&mut self.matrices);
        self.quarter(5, 1);
        step::zero_and_infinity::<U, U4>(&mut self.matrices);
        self.quarter(0, 0);
        self.quarter(6, 1);
        step::plus_and_minus::<1, U, U4>(&mut self.matrices);
        self.quarter(1, 0);
        self.quarter(2, 2);
        step::plus_and_minus::<2, U, U4>(&mut self.matrices);
        self.quarter(3, 0);
        self.quarter(4, 2);
        step::from_points::<U, U4>(&mut self.vectors);
        // What the interpolation multiplied by.
        store(a, self.vectors[..4].as_flattened().iter().map(|word| word >> 3));
    }
}

impl<const U: usize, const U2: usize, const U4: usize> Scratch<U, U2, U4> {
    /// The vector at `point` becomes its product with the matrix whose first half is at `matrix`.
    ///
    /// With (D, U; L, D) in the matrix, the product is D (v0 + v1) + (U - D) v1 above and D (v0 + v1) + (L - D) v0 below; and
    /// so each of these three.
    #[inline(never)]
    fn quarter(&mut self, point: usize, matrix: usize) {
        let vector = &mut self.vectors[point];
        let diagonals = &self.matrices[matrix..].as_chunks().0[0];
        step::small_vectors(&mut self.small_vectors, vector);
        let (shared, others) = self.small_vectors.split_at_mut(3);
        step::shared_matrices::<U, U2, U4>(&mut self.small_matrices, diagonals);
        step::small_products(shared, &self.small_matrices[..3]);
        step::other_matrices::<U, U2, U4>(&mut self.small_matrices, diagonals);
        step::small_products(others, &self.small_matrices);
        step::add_products(vector, &self.small_vectors);
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
    copy(&mut below[..pairs.len()], pairs);
    below[pairs.len()] = join([b[b.len() - 1], b[0]]);
    let pairs = b[1..].as_chunks().0;
    copy(&mut above[..pairs.len()], pairs);
}
