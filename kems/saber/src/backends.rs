//! The multiplication in Z\[x\]/(x^256 + 1) and the conversions of its elements, which a target may replace.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
mod avr;
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
mod cortex_m4;
#[cfg(any(
    feature = "self-check",
    kemqtt_portable,
    not(any(cortex_m4_fpu, target_arch = "avr"))
))]
pub(crate) mod decode;
#[cfg(any(
    feature = "self-check",
    kemqtt_portable,
    not(any(cortex_m4_fpu, target_arch = "avr"))
))]
mod portable;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
pub(crate) mod tests;

use zeroize::Zeroize;

use crate::poly::Poly;

/// What this target uses.
#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) const NATIVE: avr::Avr = avr::Avr;
/// What this target uses.
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
pub(crate) const NATIVE: cortex_m4::CortexM4 = cortex_m4::CortexM4;
/// What this target uses.
#[cfg(any(kemqtt_portable, not(any(cortex_m4_fpu, target_arch = "avr"))))]
pub(crate) const NATIVE: portable::Portable = portable::Portable;

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) use avr::encoding::{
    cbd, decode_centred, decode_message, decode_secret, encode_message, encode_q, encode_rounded,
};
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
pub(crate) use cortex_m4::decode::{decode_centred, decode_secret};
#[cfg(any(kemqtt_portable, not(any(cortex_m4_fpu, target_arch = "avr"))))]
pub(crate) use decode::{decode_centred, decode_secret};
#[cfg(any(kemqtt_portable, not(target_arch = "avr")))]
pub(crate) use {
    crate::poly::{decode_message, encode_message, encode_q, encode_rounded},
    kem_core::sample::cbd,
};

/// Sums of products of a public and a secret polynomial. The bounds are contract: callers rely on them, and one set of
/// tests drives every backend to them.
///
/// Constant time in all three arguments.
pub(crate) trait Arith: Copy {
    /// A secret polynomial, ready to be multiplied many times.
    type Secret: Copy + Zeroize;
    /// A sum of up to four products.
    type Sum: Copy + Zeroize;

    /// A place for a secret.
    const SECRET: Self::Secret;
    /// The empty sum.
    const SUM: Self::Sum;

    /// In: -8..8.
    fn secret(self, s: &Poly, out: &mut Self::Secret);

    /// `sum` += `a` * `s`. In: coefficients of `a` in -2^12..2^12, at most three products in `sum`.
    fn mul_acc(self, sum: &mut Self::Sum, a: &Poly, s: &Self::Secret);

    /// Writes the sum modulo 2^16 and empties it.
    fn finish(self, sum: &mut Self::Sum, out: &mut Poly);
}
