//! By Karatsuba's rule on bytes, which wrap modulo 256 as the ring wants it.

use zeroize::Zeroize;

use crate::backends::bytes;
use crate::encoding::{CT_LEN, F_LEN};
use crate::ring::N;

/// See [`Arith::decrypt`](crate::backends::Arith::decrypt).
#[inline(never)]
pub(crate) fn decrypt(f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
    let mut v = [0; N];
    multiply(ct, f, &mut v);
    bytes::decode_message(m, &v);
    v.zeroize();
}

/// v = ct * f. With products L of the low halves, H of the high ones and S of the sums, the ring product is
/// L - H + x^256 (S - L - H).
#[inline(never)]
pub(super) fn multiply(ct: &[u8; CT_LEN], f: &[u8; F_LEN], v: &mut [u8; N]) {
    let (mut f_low, mut f_high) = ([0; N / 2], [0; N / 2]);
    if let [low, high] = f.as_chunks().0 {
        bytes::unpack_f_prime(&mut f_low, low);
        bytes::unpack_f_prime(&mut f_high, high);
    }
    multiply_halves(ct, &mut f_low, &f_high, v);
    f_low.zeroize();
    f_high.zeroize();
}

fn multiply_halves(ct: &[u8; CT_LEN], f_low: &mut [u8; N / 2], f_high: &[u8; N / 2], v: &mut [u8; N]) {
    let (mut product, mut scratch) = ([0; N], [0; N]);
    let (ct_low, ct_high) = ct.split_at(N / 2);
    karatsuba(&mut product, ct_low, f_low, &mut scratch);
    bytes::fold_low(v, &product);
    karatsuba(&mut product, ct_high, f_high, &mut scratch);
    bytes::fold_high(v, &product);
    add(f_low, f_high);
    let mut ct_sum = [0; N / 2];
    ct_sum.copy_from_slice(ct_low);
    add(&mut ct_sum, ct_high);
    karatsuba(&mut product, &ct_sum, f_low, &mut scratch);
    bytes::fold_both(v, &product, ct);
    product.zeroize();
    scratch.zeroize();
}

fn add(a: &mut [u8], b: &[u8]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(*b));
}

/// r = a * b, coefficients modulo 256. n = `a.len()` = `b.len()` is 32 times a power of two; `r` and `scratch` have 2 n.
fn karatsuba(r: &mut [u8], a: &[u8], b: &[u8], scratch: &mut [u8]) {
    if let (Some(r), Some(a), Some(b)) = (r.as_mut_array(), a.as_array(), b.as_array()) {
        return bytes::product(r, a, b);
    }
    let n = a.len();
    let (a_low, a_high) = a.split_at(n / 2);
    let (b_low, b_high) = b.split_at(n / 2);
    let (middle, scratch) = scratch.split_at_mut(n);
    {
        let (a_sum, b_sum) = r[..n].split_at_mut(n / 2);
        bytes::sum(a_sum, a_low, a_high);
        bytes::sum(b_sum, b_low, b_high);
        karatsuba(middle, a_sum, b_sum, scratch);
    }
    let (bottom, top) = r.split_at_mut(n);
    karatsuba(bottom, a_low, b_low, scratch);
    karatsuba(top, a_high, b_high, scratch);
    bytes::join(r, middle);
}
