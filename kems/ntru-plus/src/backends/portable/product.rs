//! Products of residues modulo x^d - c.

use super::rows::{LANES, Row, constants, dot, load, store};
use crate::{field::F, params::Params};

pub(super) fn multiply<P: Params>(a: &mut [i16], b: &[i16], start: usize, scale: i16) {
    if P::LEAF == 3 {
        row_by_row::<P, 3>(a, b, start, |a, b, c| cubics(a, b, c, scale));
    } else {
        row_by_row::<P, 4>(a, b, start, |a, b, c| quartics(a, b, c, scale));
    }
}

#[inline(always)]
fn row_by_row<P: Params, const D: usize>(
    a: &mut [i16],
    b: &[i16],
    start: usize,
    multiply: impl Fn(&mut [Row; D], &[Row; D], &Row),
) {
    let residues = a.chunks_exact_mut(D * LANES).zip(b.chunks_exact(D * LANES));
    for ((a, b), c) in residues.zip(constants::<P>(start)) {
        let mut rows = load(a);
        multiply(&mut rows, &load(b), &c);
        store(&rows, a);
    }
}

/// Modulo x^3 - c. In: |a| < 2q, |b| < 4096, c times 2^16. Out: below q.
#[inline(always)]
fn cubics([a0, a1, a2]: &mut [Row; 3], [b0, b1, b2]: &[Row; 3], c: &Row, scale: i16) {
    for i in 0..LANES {
        let ([x0, x1, x2], [y0, y1, y2], c) = ([a0[i], a1[i], a2[i]], [b0[i], b1[i], b2[i]], c[i]);
        let wrap0 = dot([(x1, y2), (x2, y1)]);
        let wrap1 = dot([(x2, y2)]);
        a0[i] = F::mul(dot([(x0, y0), (wrap0, c)]), scale);
        a1[i] = F::mul(dot([(x0, y1), (x1, y0), (wrap1, c)]), scale);
        a2[i] = F::mul(dot([(x0, y2), (x1, y1), (x2, y0)]), scale);
    }
}

/// Modulo x^4 - c. In: |a| < 2q, |b| < 4096, c times 2^16. Out: below q.
#[inline(always)]
fn quartics([a0, a1, a2, a3]: &mut [Row; 4], [b0, b1, b2, b3]: &[Row; 4], c: &Row, scale: i16) {
    for i in 0..LANES {
        let ([x0, x1, x2, x3], [y0, y1, y2, y3]) = ([a0[i], a1[i], a2[i], a3[i]], [b0[i], b1[i], b2[i], b3[i]]);
        let wrap0 = dot([(x1, y3), (x2, y2), (x3, y1)]);
        let wrap1 = dot([(x2, y3), (x3, y2)]);
        let wrap2 = dot([(x3, y3)]);
        a0[i] = F::mul(dot([(x0, y0), (wrap0, c[i])]), scale);
        a1[i] = F::mul(dot([(x0, y1), (x1, y0), (wrap1, c[i])]), scale);
        a2[i] = F::mul(dot([(x0, y2), (x1, y1), (x2, y0), (wrap2, c[i])]), scale);
        a3[i] = F::mul(dot([(x0, y3), (x1, y2), (x2, y1), (x3, y0)]), scale);
    }
}
