//! What an instruction set may replace, and the contract it has to keep.

mod portable;
#[cfg(test)]
mod tests;

use crate::poly::Poly;

pub(crate) use portable::Portable;

/// The backend of this target.
pub(crate) use Portable as Native;

/// Arithmetic of R_q and T_q, chosen once per operation. Bounds are contract: callers rely on them.
pub(crate) trait Arith: Copy {
    /// NTT (FIPS 203 algorithm 9), in place. In: |c| < Q. Out: |c| <= (Q + 1) / 2.
    fn ntt(self, p: &mut Poly);

    /// Inverse NTT (algorithm 10) times R: removes the factor 1/R of [`Arith::basemul_acc`]. In: |c| < 4 Q. Out: |c| < Q.
    fn inverse_ntt(self, p: &mut Poly);

    /// `acc` += a b / R in T_q (algorithm 11). In: 0 <= a < 4096, |b| <= (Q + 1) / 2. Adds |c| < Q to each coefficient.
    fn basemul_acc(self, acc: &mut Poly, a: &Poly, b: &Poly);
}
