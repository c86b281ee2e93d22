//! By Karatsuba's rule on bytes, which wrap modulo 256 as the ring wants it.

use zeroize::Zeroize;

use crate::backends::{join, product, sum};
use crate::e8;
use crate::encoding::{CT_LEN, F_LEN, f_prime};
use crate::ring::N;

/// See [`Arith::decrypt`](crate::backends::Arith::decrypt).
#[inline(never)]
pub(crate) fn decrypt(f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
    let mut v = [0; N];
    multiply(ct, f, &mut v);
    e8::decode_message(|k| v[k], m);
    v.zeroize();
}

/// v = ct * f. Operands are read in halves, so that no more than 2 KB is ever in use.
#[inline(never)]
pub(super) fn multiply(ct: &[u8; CT_LEN], f: &[u8; F_LEN], v: &mut [u8; N]) {
    let (mut a, mut b) = ([0; N / 2], [0; N / 2]);
    let (mut product, mut scratch) = ([0; N], [0; N]);
    let (ct_low, ct_high) = ct.split_at(N / 2);
    let (f_low, f_high) = f.split_at(F_LEN / 2);
    *v = [0; N];
    // With products L of the low halves, H of the high ones and S of the sums, the ring product is L - H + x^256 (S - L - H).
    for (low, high, direct, shifted) in [(1, 0, 1, MINUS), (0, 1, MINUS, MINUS), (1, 1, 0, 1)] {
        for (a, (&l, &h)) in a.iter_mut().zip(ct_low.iter().zip(ct_high)) {
            *a = (low * l).wrapping_add(high * h);
        }
        for (b, (l, h)) in b.iter_mut().zip(f_prime(f_low).zip(f_prime(f_high))) {
            *b = (i16::from(low) * l + i16::from(high) * h) as u8;
        }
        karatsuba(&mut product, &a, &b, &mut scratch);
        let (bottom, top) = product.split_at(N / 2);
        let (v_low, v_high) = v.split_at_mut(N / 2);
        for (v, p) in v_low.iter_mut().zip(bottom.iter().zip(top)) {
            let sum = direct.wrapping_mul(*p.0).wrapping_sub(shifted.wrapping_mul(*p.1));
            *v = v.wrapping_add(sum);
        }
        for (v, p) in v_high.iter_mut().zip(bottom.iter().zip(top)) {
            let sum = shifted.wrapping_mul(*p.0).wrapping_add(direct.wrapping_mul(*p.1));
            *v = v.wrapping_add(sum);
        }
    }
    for (v, ct) in v.iter_mut().zip(ct) {
        *v = ct.wrapping_add(v.wrapping_mul(2));
    }
    a.zeroize();
    b.zeroize();
    product.zeroize();
    scratch.zeroize();
}

/// r = a * b, coefficients modulo 256. n = `a.len()` = `b.len()` is 16 times a power of two; `r` and `scratch` have 2 n.
fn karatsuba(r: &mut [u8], a: &[u8], b: &[u8], scratch: &mut [u8]) {
    if let (Some(r), Some(a), Some(b)) = (r.as_mut_array(), a.as_array(), b.as_array()) {
        return product(r, a, b);
    }
    let n = a.len();
    let (a_low, a_high) = a.split_at(n / 2);
    let (b_low, b_high) = b.split_at(n / 2);
    let (middle, scratch) = scratch.split_at_mut(n);
    {
        let (a_sum, b_sum) = r[..n].split_at_mut(n / 2);
        sum(a_sum, a_low, a_high);
        sum(b_sum, b_low, b_high);
        karatsuba(middle, a_sum, b_sum, scratch);
    }
    let (bottom, top) = r.split_at_mut(n);
    karatsuba(bottom, a_low, b_low, scratch);
    karatsuba(top, a_high, b_high, scratch);
    join(r, middle);
}

/// -1.
const MINUS: u8 = 0xff;
