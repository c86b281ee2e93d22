//! The product of polynomials by number theoretic transforms modulo a prime so large that the integers can be read off, folded
//! at x^n = 1 afterwards.
//!
//! Seven layers of Z_p\[x\]/(x^N - 1) with N = 128 D at least 2 n - 1 leave residues modulo x^D - w. A product of a ternary
//! factor takes two transforms and an inverse one; any other factor is split into two small ones first.

pub(in crate::backends) mod constants;
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod portable;
mod product;

use super::{Ntt, sealed};
use crate::params::Params;
pub(crate) use product::{Integers, Scratch};

impl sealed::Multiply for Ntt {
    type Scratch<P: Params> = P::Ntt;

    fn scratch<P: Params>() -> P::Ntt {
        P::Ntt::NEW
    }

    fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::Ntt) {
        scratch.multiply(a.as_mut(), b.as_ref());
    }

    fn multiply_ternary<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::Ntt) {
        scratch.multiply_ternary(a.as_mut(), b.as_ref());
    }
}
