use super::{Karatsuba, add, sealed};
use crate::params::Params;

impl sealed::Multiply for Karatsuba {
    type Scratch<P: Params> = P::Scratch;

    fn scratch<P: Params>() -> P::Scratch {
        P::SCRATCH
    }

    fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::Scratch) {
        let (a, b, scratch) = (a.as_mut(), b.as_ref(), scratch.as_mut());
        let (n, padded) = (b.len(), scratch.len() / 8);
        let (out, rest) = scratch.split_at_mut(2 * padded);
        let (left, rest) = rest.split_at_mut(padded);
        let (right, rest) = rest.split_at_mut(padded);
        for (padded, p) in [(&mut *left, &*a), (&mut *right, b)] {
            padded[..n].copy_from_slice(p);
            padded[n..].fill(0);
        }
        product(out, left, right, rest);
        a.copy_from_slice(&out[..n]);
        add(a, &out[n..]);
    }
}

/// `out` = `a` * `b`, twice as long as they. In: `scratch` four times as long.
fn product(out: &mut [u16], a: &[u16], b: &[u16], scratch: &mut [u16]) {
    match a.len() {
        32 => schoolbook::<32>(out, a, b),
        44 => schoolbook::<44>(out, a, b),
        52 => schoolbook::<52>(out, a, b),
        m => halves(out, a, b, scratch, m / 2),
    }
}

/// (a0 + a1 y)(b0 + b1 y) with y = x^h: the middle is (a0 + a1)(b0 + b1) - a0 b0 - a1 b1.
fn halves(out: &mut [u16], a: &[u16], b: &[u16], scratch: &mut [u16], h: usize) {
    let ((a0, a1), (b0, b1)) = (a.split_at(h), b.split_at(h));
    let (a_sum, rest) = scratch.split_at_mut(h);
    let (b_sum, rest) = rest.split_at_mut(h);
    let (middle, rest) = rest.split_at_mut(2 * h);
    a_sum.copy_from_slice(a0);
    add(a_sum, a1);
    b_sum.copy_from_slice(b0);
    add(b_sum, b1);
    product(middle, a_sum, b_sum, rest);
    let (low, high) = out.split_at_mut(2 * h);
    product(low, a0, b0, rest);
    product(high, a1, b1, rest);
    for (middle, (low, high)) in middle.iter_mut().zip(low.iter().zip(&*high)) {
        *middle = middle.wrapping_sub(*low).wrapping_sub(*high);
    }
    add(&mut out[h..], middle);
}

fn schoolbook<const M: usize>(out: &mut [u16], a: &[u16], b: &[u16]) {
    out.fill(0);
    for (i, &a) in a.iter().enumerate() {
        for (out, b) in out[i..][..M].iter_mut().zip(b) {
            *out = out.wrapping_add(a.wrapping_mul(*b));
        }
    }
}
