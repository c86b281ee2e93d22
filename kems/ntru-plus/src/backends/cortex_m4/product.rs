use kem_core::packed::{dual_crossed, mla_bb, mla_dual_crossed, mla_tt, mul_bb, mul_tb, multiply, reduce};

use crate::{field::Q, params::Params};

/// Modulo x^4 - c. In: |a| < 2q, |b| < 4096: 4 |a| |b| < 2^15 q. Out: |c| < q.
#[inline(always)]
pub(super) fn quartics<P: Params>(a: &mut [i16], b: &[i16], start: usize, scale: i16) {
    let first_pair = (P::N + start) / 8;
    let pairs = a.as_chunks_mut::<8>().0.iter_mut().zip(b.as_chunks::<8>().0);
    for ((a, b), &c) in pairs.zip(&P::FACTORS[first_pair..]) {
        let (a, a_minus) = a.split_at_mut(4);
        let (b, b_minus) = b.split_at(4);
        residue(a, b, c, scale);
        // The factor of -c.
        residue(a_minus, b_minus, 1u32.wrapping_sub(c), scale);
    }
}

#[inline(always)]
fn residue(a: &mut [i16], b: &[i16], c: u32, scale: i16) {
    let (a0, a1) = (pair(a[0], a[1]), pair(a[2], a[3]));
    let (b0, b1) = (pair(b[0], b[1]), pair(b[2], b[3]));
    let (c0, c1) = (multiply::<Q>(b0, c), multiply::<Q>(b1, c));
    let r0 = mla_tt(a1, c0, mla_bb(a1, c1, mla_tt(a0, c1, mul_bb(a0, b0))));
    let r1 = mla_dual_crossed(a1, c1, dual_crossed(a0, b0));
    let r2 = mla_tt(a1, c1, mla_bb(a1, b0, mla_tt(a0, b0, mul_bb(a0, b1))));
    let r3 = mla_dual_crossed(a1, b0, dual_crossed(a0, b1));
    let low = scaled(reduce::<Q>(r0, r1), scale);
    let high = scaled(reduce::<Q>(r2, r3), scale);
    a.copy_from_slice(&[low as i16, (low >> 16) as i16, high as i16, (high >> 16) as i16]);
}

#[inline(always)]
fn scaled(a: u32, scale: i16) -> u32 {
    reduce::<Q>(mul_bb(a, scale as u32), mul_tb(a, scale as u32))
}

#[inline(always)]
fn pair(low: i16, high: i16) -> u32 {
    u32::from(low as u16) | u32::from(high as u16) << 16
}
