//! The multiplication in Z_q\[x\]/(x^n - 1), in several forms that give the same product.

#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
mod cortex_m4;
mod karatsuba;
pub(crate) mod ntt;
pub(crate) mod pairs;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
pub(crate) mod tests;
mod tmvp;
mod toom_cook;

use zeroize::Zeroize;

use crate::params::Params;
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
pub(crate) use cortex_m4::memory::order_pairs;

/// The product as a Toeplitz matrix times a vector, taken apart down to rows that fit into registers. The fastest one.
pub enum Tmvp {}

/// Karatsuba's product of polynomials, folded at x^n = 1 afterwards.
pub enum Karatsuba {}

/// Toom and Cook's product of polynomials in four parts, then Karatsuba's; folded as well. For small processors.
pub enum ToomCook {}

/// Number theoretic transforms modulo a prime of 29 bits, folded as well. For small processors.
pub enum Ntt {}

/// One of the multiplications above.
pub trait Multiply: sealed::Multiply {}

impl Multiply for Tmvp {}
impl Multiply for Karatsuba {}
impl Multiply for ToomCook {}
impl Multiply for Ntt {}

pub(crate) mod sealed {
    use super::{Params, Zeroize};

    pub trait Multiply {
        /// What it needs beside the polynomials. Secrets stay there: its owner wipes it.
        type Scratch<P: Params>: Zeroize;

        fn scratch<P: Params>() -> Self::Scratch<P>;

        /// `a` becomes `a` * `b` modulo x^n - 1 and q. In: any coefficients, n of them in both. Out: bits above q have no
        /// meaning.
        ///
        /// Constant time in both arguments.
        fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut Self::Scratch<P>);

        /// The same where all coefficients of `a` are -1, 0 or 1 modulo 2^16.
        fn multiply_ternary<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut Self::Scratch<P>) {
            Self::multiply::<P>(a, b, scratch);
        }
    }
}

/// `sum` += `a`.
fn add(sum: &mut [u16], a: &[u16]) {
    for (sum, a) in sum.iter_mut().zip(a) {
        *sum = sum.wrapping_add(*a);
    }
}
