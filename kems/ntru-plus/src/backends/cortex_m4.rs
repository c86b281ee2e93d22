//! Cortex-M4: two coefficients in a register, several layers of the transform between loads and stores.
//!
//! The products and inverses of residues of degree 3 (n = 864) are the portable ones.
#![allow(unsafe_code)]

mod inverse;
mod product;
mod transform;

use subtle::Choice;

use super::{Arith, portable::Portable};
use crate::params::Params;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct CortexM4;

impl Arith for CortexM4 {
    #[inline(never)]
    fn ntt<P: Params>(self, poly: &mut P::Poly) {
        transform::forward::<P>(words(poly.as_mut()));
    }

    #[inline(never)]
    fn inverse_ntt<P: Params>(self, poly: &mut P::Poly) {
        transform::inverse::<P>(words(poly.as_mut()));
    }

    #[inline(never)]
    fn multiply<P: Params>(self, a: &mut [i16], b: &[i16], start: usize, scale: i16) {
        if P::LEAF == 4 {
            product::quartics::<P>(a, b, start, scale);
        } else {
            Portable.multiply::<P>(a, b, start, scale);
        }
    }

    #[inline(never)]
    fn invert<P: Params>(self, a: &mut P::Poly, scale: i16) -> Choice {
        if P::LEAF == 4 {
            inverse::quartics::<P>(a.as_mut(), scale)
        } else {
            Portable.invert::<P>(a, scale)
        }
    }
}

/// The coefficients in pairs, the first one in the low half.
fn words(coefficients: &mut [i16]) -> &mut [u32] {
    // SAFETY: pairs of `i16` have no bit pattern that is not a `u32`.
    let (before, words, after) = unsafe { coefficients.align_to_mut() };
    assert!(before.is_empty() && after.is_empty(), "polynomials are aligned");
    words
}
