use kem_core::packed::{dual_crossed, factor, mla_bb, mla_dual_crossed, mla_tt, mul_bb, multiply, reduce};

use super::transform::Factors;
use crate::ring::N;

/// r = r a / R in each of the 64 blocks, modulo x^8 - z. In: |r| < 8000 (Q = 769) or 4000 (Q = 257), any a. Out: |r| < Q.
#[inline(always)]
pub(super) fn multiply_all<const Q: i16>(r: &mut [u32; N / 2], a: &[u32; N / 2], factors: &Factors<Q>) {
    let pairs = r.as_chunks_mut::<8>().0.iter_mut().zip(a.as_chunks::<8>().0);
    for ((r, a), &z) in pairs.zip(&factors.blocks) {
        let (r, r_minus) = r.split_at_mut(4);
        let (a, a_minus) = a.split_at(4);
        product::<Q>(r, a, z);
        // The factor of -z.
        product::<Q>(r_minus, a_minus, 1u32.wrapping_sub(z));
    }
}

/// Modulo x^8 - z. The words of a and below them those of z a, x_-8 to x_7, so that coefficient k of the product is the sum of
/// r_i x_(k - i): for odd k a pair of r meets a whole word of x, for even k halves of two. |x| <= Q / 2 keeps 8 |r| |x| below
/// 2^15 Q.
#[inline(always)]
fn product<const Q: i16>(r: &mut [u32], a: &[u32], z: u32) {
    let mut x = [0; 8];
    for i in 0..4 {
        x[i] = multiply::<Q>(a[i], z);
        x[4 + i] = multiply::<Q>(a[i], const { factor::<Q>(1) });
    }
    let mut w = [0; 4];
    w.copy_from_slice(r);
    for k in 0..4 {
        // Coefficients 2 k and 2 k + 1.
        let mut even = mul_bb(w[0], x[4 + k]);
        let mut odd = dual_crossed(w[0], x[4 + k]);
        even = mla_tt(w[0], x[3 + k], even);
        for m in 1..4 {
            even = mla_bb(w[m], x[4 + k - m], even);
            even = mla_tt(w[m], x[3 + k - m], even);
            odd = mla_dual_crossed(w[m], x[4 + k - m], odd);
        }
        r[k] = reduce::<Q>(even, odd);
    }
}
