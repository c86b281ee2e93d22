//! Inverses of the residues modulo x^4 - c by norms, and of the norms by Montgomery's trick, `BATCH` at a time.
//!
//! Sums of products are reduced once, so that everything stays below q: a sum of at most five of them is below 2^15 q.

use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::{
    field::{F, Q},
    params::Params,
};

/// See [`Arith::invert`](crate::backends::Arith::invert).
#[inline(always)]
pub(super) fn quartics<P: Params>(a: &mut [i16], scale: i16) -> Choice {
    let mut invertible = Choice::from(1);
    let leaves = &P::ZETAS[P::N / 8..];
    for (leaves, zetas) in a.chunks_exact_mut(4 * BATCH).zip(leaves.chunks_exact(BATCH / 2)) {
        let mut norms = Zeroizing::new([0; BATCH]);
        for ((leaf, norm), k) in leaves.as_chunks_mut().0.iter_mut().zip(norms.iter_mut()).zip(0..) {
            let c = zetas[k / 2];
            *norm = adjoint(leaf, if k % 2 == 0 { c } else { -c });
        }
        invertible &= invert_all(&mut norms, scale);
        for (leaf, norm) in leaves.as_chunks_mut::<4>().0.iter_mut().zip(*norms) {
            *leaf = leaf.map(|c| F::mul(c, norm));
        }
    }
    invertible
}

/// Residues whose norms share an inversion: a divisor of 192 and 288, and small enough for the stack.
const BATCH: usize = 24;

/// Turns a modulo x^4 - c into its adjoint b and returns its norm n: b / n = 1 / a, up to the factor 2^16 of the product b / n
/// in Montgomery form. By the tower over z = x^2: a = (x0 + x2 z) + x (x1 + x3 z) times its conjugate is m0 + m1 z, and that
/// times its own conjugate is the norm. In: |a| < q, c times 2^16. Out: below q.
#[inline(always)]
fn adjoint(a: &mut [i16; 4], c: i16) -> i16 {
    let c = i32::from(c);
    let [x0, x1, x2, x3] = a.map(i32::from);
    let odd = reduce(x2 * x2 - 2 * x1 * x3);
    let m0 = reduce(x0 * x0 + odd * c);
    let m1 = reduce(2 * x0 * x2 - x1 * x1 - reduce(x3 * x3) * c);
    let cm1 = reduce(m1 * c);
    let b = [
        reduce(x0 * m0 - x2 * cm1),
        reduce(x3 * cm1 - x1 * m0),
        reduce(x2 * m0 - x0 * m1),
        reduce(x1 * m1 - x3 * m0),
    ];
    *a = b.map(|b| b as i16);
    reduce(m0 * m0 - m1 * cm1) as i16
}

/// Montgomery reduction, sign-extended.
#[inline(always)]
fn reduce(sum: i32) -> i32 {
    i32::from(F::reduce(sum))
}

/// `scale / n` for every norm n. 0 if any n is 0, and then the norms mean nothing.
#[inline(always)]
fn invert_all(norms: &mut [i16; BATCH], scale: i16) -> Choice {
    let mut products_before = Zeroizing::new([0; BATCH]);
    let mut product = F::R;
    for (norm, before) in norms.iter().zip(products_before.iter_mut()) {
        *before = product;
        product = F::mul(product, *norm);
    }
    let invertible = !F::freeze(product).ct_eq(&0);
    // 2^16 / product, by Fermat.
    let reciprocal = F::pow(F::mul(product, F::R2), Q as u16 - 2);
    let mut inverse = F::mul(reciprocal, scale);
    for (norm, before) in norms.iter_mut().zip(products_before.iter()).rev() {
        let next = F::mul(inverse, *norm);
        *norm = F::mul(inverse, *before);
        inverse = next;
    }
    invertible
}
