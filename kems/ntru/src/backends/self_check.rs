//! The multiplications for test firmware, which is where the target's code can run.

use zeroize::Zeroizing;

use super::{Multiply, Ntt, Tmvp, ToomCook, sealed};
use crate::params::{Params, Set};

/// A multiplication and its memory.
pub struct Product<P: Params, M: Multiply>(Zeroizing<<M as sealed::Multiply>::Scratch<P>>);

impl<P: Params, M: Multiply> Product<P, M> {
    /// Bytes of its memory.
    pub const MEMORY: usize = size_of::<<M as sealed::Multiply>::Scratch<P>>();

    /// Ready for products.
    #[expect(clippy::new_without_default, reason = "nobody asks for a default product")]
    #[inline(never)]
    pub fn new() -> Self {
        Self(Zeroizing::new(M::scratch::<P>()))
    }

    /// `a` becomes `a` * `b` modulo x^n - 1 and q. In: any coefficients.
    #[inline(never)]
    pub fn multiply(&mut self, a: &mut P::Poly, b: &P::Poly) {
        M::multiply::<P>(a, b, &mut self.0);
    }

    /// The same where all coefficients of `a` are -1, 0 or 1 modulo 2^16.
    #[inline(never)]
    pub fn multiply_ternary(&mut self, a: &mut P::Poly, b: &P::Poly) {
        M::multiply_ternary::<P>(a, b, &mut self.0);
    }

    fn agrees(a: &P::Poly, b: &P::Poly, expected: &P::Poly) -> bool {
        let same = |product: &P::Poly| {
            let differences = product.as_ref().iter().zip(expected.as_ref()).map(|(x, y)| x ^ y);
            differences.fold(0, |any, difference| any | difference) & Set::<P>::Q_MASK == 0
        };
        let mut this = Self::new();
        let mut product = *a;
        this.multiply(&mut product, b);
        let mut all = same(&product);
        if a.as_ref().iter().all(|c| c.wrapping_add(1) < 3) {
            product = *a;
            this.multiply_ternary(&mut product, b);
            all &= same(&product);
        }
        all
    }
}

/// Whether the products with these coefficients are the defined one, and for a ternary `a` those by the method for such ones
/// as well.
#[inline(never)]
pub fn products_agree<P: Params>(a: impl FnMut(usize) -> u16, b: impl FnMut(usize) -> u16) -> bool {
    let (a, b) = (polynomial::<P>(a), polynomial::<P>(b));
    let expected = by_definition::<P>(&a, &b);
    Product::<P, Tmvp>::agrees(&a, &b, &expected)
        && Product::<P, ToomCook>::agrees(&a, &b, &expected)
        && Product::<P, Ntt>::agrees(&a, &b, &expected)
}

/// The sort of polynomials of fixed weight.
pub fn sort(keys: &mut [u32]) {
    crate::sort::sort(keys);
}

/// The polynomial with these coefficients.
pub fn polynomial<P: Params>(mut coefficient: impl FnMut(usize) -> u16) -> P::Poly {
    let mut p = P::POLY;
    p.as_mut().iter_mut().enumerate().for_each(|(i, c)| *c = coefficient(i));
    p
}

#[inline(never)]
fn by_definition<P: Params>(a: &P::Poly, b: &P::Poly) -> P::Poly {
    let mut product = P::POLY;
    for (i, &a) in a.as_ref().iter().enumerate() {
        let (low, high) = product.as_mut().split_at_mut(i);
        for (sum, b) in high.iter_mut().chain(low).zip(b.as_ref()) {
            *sum = sum.wrapping_add(a.wrapping_mul(*b));
        }
    }
    product
}
