//! Polynomials of bytes, which wrap modulo 256.

/// Where schoolbook multiplication takes over.
pub(crate) const BASE: usize = 16;

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
