//! What an instruction set may replace, and the contract it has to keep.

#[cfg(all(cortex_m4, not(kemqtt_portable)))]
mod cortex_m4;
#[cfg(any(feature = "self-check", kemqtt_portable, not(cortex_m4)))]
mod portable;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
mod tests;

use crate::poly::Poly;

/// The backend of this target.
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4::CortexM4 as Native;
#[cfg(any(kemqtt_portable, not(cortex_m4)))]
pub(crate) use portable::Portable as Native;

/// Arithmetic of R_q and T_q, chosen once per operation. Bounds are contract: callers rely on them.
pub(crate) trait Arith: Copy {
    /// NTT (FIPS 203 algorithm 9), in place. In: |c| < Q. Out: |c| <= (Q + 1) / 2.
    fn ntt(self, p: &mut Poly);

    /// Inverse NTT (algorithm 10) times R: removes the factor 1/R of [`Arith::basemul_acc`]. In: |c| < 4 Q. Out: |c| < Q.
    fn inverse_ntt(self, p: &mut Poly);

    /// `acc` += a b / R in T_q (algorithm 11), on the coefficients from `first` on: as many as `a` has, a multiple of 4 like
    /// `first`. In: 0 <= a < 4096, |b| < Q. Adds |c| < Q to each coefficient.
    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize);

    /// All coefficients times `factor`. In: any c, |factor| < Q, in the Montgomery domain. Out: |c| < Q.
    fn scale(self, p: &mut Poly, factor: i16);

    /// Canonical representatives. In: any c. Out: 0 <= c < Q.
    fn freeze(self, p: &mut Poly);
}
