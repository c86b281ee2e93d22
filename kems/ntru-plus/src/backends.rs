//! Ring arithmetic that a CPU may have a better way to do.

mod constants;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
mod cortex_m4;
mod portable;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
mod tests;

use subtle::Choice;

/// The backend of this target.
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4::CortexM4 as Native;
#[cfg(any(kemqtt_portable, not(cortex_m4)))]
pub(crate) use portable::Portable as Native;

use crate::params::Params;

/// What a backend may replace. Bounds are contract: callers rely on them, and one test drives every backend to them.
///
/// The transform has no scaling and no final permutation: it holds residue i, of degree below d = `P::LEAF`, at
/// d * i .. d * (i + 1).
pub(crate) trait Arith: Copy {
    /// Forward transform, in place. In: |c| < q. Out: |c| <= q / 2.
    fn ntt<P: Params>(self, poly: &mut P::Poly);

    /// Inverse transform, in place. In: |c| < q. Out: |c| <= q / 2.
    fn inverse_ntt<P: Params>(self, poly: &mut P::Poly);

    /// `a * b * scale / 2^32`, in place of `a`, residue by residue. Both are the same stretch of a transformed
    /// polynomial, from coefficient `start` on; it begins and ends at a multiple of 8 residues. In: |a| < 2q,
    /// |b| < 4096, |scale| <= q / 2. Out: |c| < q.
    fn multiply<P: Params>(self, a: &mut [i16], b: &[i16], start: usize, scale: i16);

    /// `scale / a` in the transformed domain, in place. 1 if `a` has an inverse, else the result means nothing.
    /// In: |c| < q, |scale| <= q / 2. Out: |c| < q.
    fn invert<P: Params>(self, a: &mut P::Poly, scale: i16) -> Choice;
}
