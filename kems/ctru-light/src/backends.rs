//! The arithmetic that a target may replace, and the choice among its implementations.

#[cfg(target_arch = "avr")]
mod avr;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
mod cortex_m4;
// Its twin in assembly replaces most of it on AVR, and all of it on a Cortex-M4.
#[cfg(any(feature = "self-check", kemqtt_portable, not(cortex_m4)))]
#[cfg_attr(target_arch = "avr", allow(dead_code))]
pub(crate) mod portable;
#[cfg(test)]
mod tests;

use subtle::Choice;

use crate::encoding::{CT_LEN, F_LEN};
use crate::ring::Poly;

/// What the KEM calls unless the processor is known to offer more.
#[cfg(not(target_arch = "avr"))]
pub(crate) use crate::encoding::portable as encoding;
#[cfg(target_arch = "avr")]
pub(crate) use avr::{Avr as Native, bytes, encoding};
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4::CortexM4 as Native;
#[cfg(not(any(target_arch = "avr", all(cortex_m4, not(kemqtt_portable)))))]
pub(crate) use portable::Portable as Native;
/// Polynomials of bytes.
#[cfg(all(
    not(target_arch = "avr"),
    any(feature = "self-check", kemqtt_portable, not(cortex_m4))
))]
pub(crate) mod bytes {
    pub(crate) use crate::encoding::portable::unpack_f_prime;
    pub(crate) use crate::product::bytes::*;
}

/// Arithmetic of Z_769\[x\]/(x^512 + 1), in time that does not depend on coefficients. Bounds are contract: callers rely on
/// them, and one test drives every backend to them.
///
/// Between `ntt` and `invntt` a polynomial is in the backend's own form: order, range and constant factors are its affair.
/// What every backend owes is the result of these chains, exact and canonical:
///
/// * `ntt(a); ntt(b); basemul(a, b); invntt(a)` makes `a` the product a * b;
/// * `ntt(a); ntt(b); baseinv(b); basemul(a, b); invntt(a)` makes `a` the quotient a / b.
pub(crate) trait Arith: Copy {
    /// Into the backend's form. In: -769..=1024.
    fn ntt(self, p: &mut Poly);

    /// Product into `r`. In: `r` from `ntt`; `a` from `ntt` or `baseinv`.
    fn basemul(self, r: &mut Poly, a: &Poly);

    /// Inverse. In: from `ntt`. 0, and an unusable `p`, if there is none.
    fn baseinv(self, p: &mut Poly) -> Choice;

    /// Back to coefficients. In: from `basemul`. Out: 0..769.
    fn invntt(self, p: &mut Poly);

    /// r = r * a. In: -769..=1024. Out: `r` in 0..769; `a` is overwritten.
    fn multiply(self, r: &mut Poly, a: &mut Poly) {
        self.ntt(r);
        self.ntt(a);
        self.basemul(r, a);
        self.invntt(r);
    }

    /// m = the message of `ct`: decodes the exact product ct * f modulo 256 and x^512 + 1. Every ciphertext has a message; with
    /// codes of f that no key has it is arbitrary.
    fn decrypt(self, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]);
}
