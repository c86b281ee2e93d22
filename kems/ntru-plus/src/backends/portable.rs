//! The backend for every CPU, and the reference for the others.

mod inverse;

mod product;
mod rows;
mod transform;

use subtle::Choice;

use super::Arith;
use crate::params::Params;

/// Plain Rust.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Arith for Portable {
    fn ntt<P: Params>(self, poly: &mut P::Poly) {
        transform::forward::<P>(poly.as_mut());
    }

    fn inverse_ntt<P: Params>(self, poly: &mut P::Poly) {
        transform::inverse::<P>(poly.as_mut());
    }

    fn multiply<P: Params>(self, a: &mut [i16], b: &[i16], start: usize, scale: i16) {
        product::multiply::<P>(a, b, start, scale);
    }

    fn invert<P: Params>(self, a: &mut P::Poly, scale: i16) -> Choice {
        inverse::invert::<P>(a.as_mut(), scale)
    }
}
