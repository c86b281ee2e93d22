//! The product of polynomials: quarters by Toom and Cook's interpolation, seven products instead of 16, then halves by
//! Karatsuba's rule twice, nine products instead of 16, then term by term; folded at x^n = 1 afterwards.

#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod portable;

use zeroize::Zeroize;

use super::{POINTS, Product, add, load, store};
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use crate::backends::cortex_m4::toom as step;
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
use portable as step;

/// Memory of a product of 32 U coefficients. U2 is 2 U, U4 is 4 U.
pub struct Scratch<const U: usize, const U2: usize, const U4: usize> {
    /// Both factors at each point, which become the two halves of their product.
    points: [[u32; U4]; 2 * POINTS],
    small_a: [[u32; U]; PRODUCTS],
    small_b: [[u32; U]; PRODUCTS],
    small_products: [[u32; U2]; PRODUCTS],
}

/// Of two halvings.
const PRODUCTS: usize = 9;

impl<const U: usize, const U2: usize, const U4: usize> Product for Scratch<U, U2, U4> {
    const NEW: Self = Self {
        points: [[0; U4]; 2 * POINTS],
        small_a: [[0; U]; PRODUCTS],
        small_b: [[0; U]; PRODUCTS],
        small_products: [[0; U2]; PRODUCTS],
    };

    /// Modulo 2^13. In: n odd, at most 32 U.
    #[inline(never)]
    fn multiply(&mut self, a: &mut [u16], b: &[u16]) {
        load(self.points[..4].as_flattened_mut(), a);
        load(self.points[4..8].as_flattened_mut(), b);
        step::evaluate::<U, U4>(&mut self.points);
        for point in self.points.as_chunks_mut().0 {
            step::small_factors(&mut self.small_a, &point[0]);
            step::small_factors(&mut self.small_b, &point[1]);
            step::small_products(&mut self.small_products, &self.small_a, &self.small_b);
            step::add_products::<U, U2, U4>(point, &self.small_products);
        }
        step::interpolate::<U, U4>(&mut self.points);
        let product = self.points[..8].as_flattened();
        // n is odd: coefficient i + n lies across the borders of words.
        let wrapped = product[a.len() / 2..]
            .windows(2)
            .map(|pair| pair[0] >> 16 | pair[1] << 16);
        // What the interpolation multiplied by.
        store(
            a,
            product
                .iter()
                .zip(wrapped)
                .map(|(word, wrapped)| add(*word, wrapped) >> 3),
        );
    }
}

impl<const U: usize, const U2: usize, const U4: usize> Zeroize for Scratch<U, U2, U4> {
    fn zeroize(&mut self) {
        self.points.as_flattened_mut().zeroize();
        self.small_a.as_flattened_mut().zeroize();
        self.small_b.as_flattened_mut().zeroize();
        self.small_products.as_flattened_mut().zeroize();
    }
}
