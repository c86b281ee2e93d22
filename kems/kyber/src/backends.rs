//! What an instruction set may replace, and the contract it has to keep.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
mod avr;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
mod cortex_m4;
#[cfg(any(feature = "self-check", kemqtt_portable, not(any(target_arch = "avr", cortex_m4))))]
mod portable;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
mod tests;

use core::ops::RangeInclusive;

use crate::poly::Poly;

/// Conversions with the fastest code of this target.
#[cfg(not(all(target_arch = "avr", not(kemqtt_portable))))]
pub(crate) use crate::convert;
/// The backend of this target.
#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) use avr::{Avr as Native, convert};
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4::CortexM4 as Native;
#[cfg(any(kemqtt_portable, not(any(target_arch = "avr", cortex_m4))))]
pub(crate) use portable::Portable as Native;

/// Arithmetic of R_q and T_q, chosen once per operation. Bounds are contract: callers rely on them.
///
/// Elements of T_q are in the backend's own form after [`Arith::ntt`], with a constant factor that is its affair; canonical after
/// [`Arith::standard`]. Sums of products have a factor too: sums over the former go to [`Arith::inverse_ntt`] and over the
/// latter to [`Arith::standard_sum`], which remove it.
pub(crate) trait Arith: Copy {
    /// Coefficients that `basemul_acc` takes for `b`. `ntt` gives no others, and canonical ones are among them.
    #[cfg_attr(not(feature = "self-check"), allow(dead_code))]
    const FACTOR: RangeInclusive<i16>;

    /// What `basemul_acc` adds to a coefficient. `lift` gives no others.
    #[cfg_attr(not(feature = "self-check"), allow(dead_code))]
    const SUMMAND: RangeInclusive<i16>;

    /// NTT (FIPS 203 algorithm 9) into the backend's form, in place. In: |c| < Q.
    fn ntt(self, p: &mut Poly);

    /// Inverse NTT (algorithm 10) of a sum of at most four products. Out: |c| < 4 Q.
    fn inverse_ntt(self, p: &mut Poly);

    /// `acc` += a b in T_q (algorithm 11), with a factor, on the coefficients from `first` on: as many as `a` has, a multiple of
    /// 4 like `first`. In: 0 <= a < 4096.
    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize);

    /// From the form of `ntt` to that of a product of canonical polynomials.
    fn lift(self, p: &mut Poly);

    /// Canonical representatives in T_q. In: from `ntt`. Out: 0 <= c < Q.
    fn standard(self, p: &mut Poly);

    /// The same of a sum of at most four products and one result of `lift`.
    fn standard_sum(self, p: &mut Poly);

    /// Canonical representatives of coefficients. In: |c| < 8 Q. Out: 0 <= c < Q.
    fn freeze(self, p: &mut Poly);
}
