//! Polynomials of bytes, which wrap modulo 256.

use crate::e8;
use crate::ring::N;

/// Where [`product`] takes over.
pub(crate) const BASE: usize = 32;

/// sum = a + b.
pub(crate) fn sum(sum: &mut [u8], a: &[u8], b: &[u8]) {
    for (sum, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
        *sum = a.wrapping_add(*b);
    }
}

/// r = L + x^(n/2) (M - L - H) + x^n H, for `r` with L and H one after the other, of n bytes each, and `middle` with M.
pub(crate) fn join(r: &mut [u8], middle: &mut [u8]) {
    let n = middle.len();
    let (bottom, top) = r.split_at(n);
    for (m, (l, h)) in middle.iter_mut().zip(bottom.iter().zip(top)) {
        *m = m.wrapping_sub(*l).wrapping_sub(*h);
    }
    for (r, m) in r[n / 2..].iter_mut().zip(middle) {
        *r = r.wrapping_add(*m);
    }
}

/// r = a * b.
pub(crate) fn product(r: &mut [u8; 2 * BASE], a: &[u8; BASE], b: &[u8; BASE]) {
    *r = [0; 2 * BASE];
    for (i, a) in a.iter().enumerate() {
        for (r, b) in r[i..].iter_mut().zip(b) {
            *r = r.wrapping_add(a.wrapping_mul(*b));
        }
    }
}

/// The message nearest to `v`.
pub(crate) fn decode_message(m: &mut [u8; 32], v: &[u8; N]) {
    e8::decode_message(|k| v[k], m);
}

/// v = L - x^256 L for the product L of the low halves.
pub(crate) fn fold_low(v: &mut [u8; N], p: &[u8; N]) {
    for_each(v, p, |low, high, bottom, top| {
        *low = bottom.wrapping_add(top);
        *high = top.wrapping_sub(bottom);
    });
}

/// v = v - H - x^256 H for the product H of the high halves.
pub(crate) fn fold_high(v: &mut [u8; N], p: &[u8; N]) {
    for_each(v, p, |low, high, bottom, top| {
        *low = low.wrapping_add(top).wrapping_sub(bottom);
        *high = high.wrapping_sub(top).wrapping_sub(bottom);
    });
}

/// v = 2 (v + x^256 S) + ct for the product S of the sums.
pub(crate) fn fold_both(v: &mut [u8; N], p: &[u8; N], ct: &[u8; N]) {
    for_each(v, p, |low, high, bottom, top| {
        *low = low.wrapping_sub(top);
        *high = high.wrapping_add(bottom);
    });
    for (v, ct) in v.iter_mut().zip(ct) {
        *v = v.wrapping_mul(2).wrapping_add(*ct);
    }
}

/// Calls `update` with coefficients i and i + 256 of `v` and of `p`. x^512 = -1.
#[inline(always)]
fn for_each(v: &mut [u8; N], p: &[u8; N], update: impl Fn(&mut u8, &mut u8, u8, u8)) {
    let (low, high) = v.split_at_mut(N / 2);
    let (bottom, top) = p.split_at(N / 2);
    for ((low, high), (&bottom, &top)) in low.iter_mut().zip(high).zip(bottom.iter().zip(top)) {
        update(low, high, bottom, top);
    }
}
