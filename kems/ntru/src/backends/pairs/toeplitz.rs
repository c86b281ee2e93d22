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
    /// Of each matrix of a quarter's size the earlier and the later half of its diagonals.
    matrices: [[u32; U4]; 2 * POINTS],
    /// Vectors of a quarter, and then their products.
    vectors: [[u32; U4]; POINTS],
    small_matrices: [[u32; U2]; PRODUCTS],
    small_vectors: [[u32; U]; PRODUCTS],
}

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
        step::matrices_at_points::<U, U4>(&mut self.matrices);
        step::vectors_at_points::<U, U4>(&mut self.vectors);
        for (y, matrix) in self.vectors.iter_mut().zip(self.matrices.as_chunks().0) {
            step::small_matrices::<U, U2, U4>(&mut self.small_matrices, matrix);
            step::small_vectors(&mut self.small_vectors, y);
            step::small_products(&mut self.small_vectors, &self.small_matrices);
            step::add_products(y, &self.small_vectors);
        }
        step::from_points::<U, U4>(&mut self.vectors);
        // What the interpolation multiplied by.
        store(a, self.vectors[..4].as_flattened().iter().map(|word| word >> 3));
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
