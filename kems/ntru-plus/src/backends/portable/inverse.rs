//! Inverses of residues modulo x^d - c: closed forms with one division each, and the divisions of a batch done as one.

use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::rows::{LANES, Row, constants, load, store};
use crate::{
    field::{F, Q},
    params::Params,
};

/// Rows whose norms are inverted together: 48 residues, or 24 where the stack is small; both divide the number of residues of
/// every set.
const BATCH: usize = if cfg!(target_pointer_width = "64") { 48 } else { 24 } / LANES;

pub(super) fn invert<P: Params>(poly: &mut [i16], scale: i16) -> Choice {
    if P::LEAF == 3 {
        in_batches::<P, 3>(poly, scale, cubics)
    } else {
        in_batches::<P, 4>(poly, scale, quartics)
    }
}

#[inline(always)]
fn in_batches<P: Params, const D: usize>(
    poly: &mut [i16],
    scale: i16,
    adjoin: impl Fn(&mut [Row; D], &Row) -> Row,
) -> Choice {
    let mut constants = constants::<P>(0);
    let mut invertible = Choice::from(1);
    for batch in poly.chunks_exact_mut(BATCH * LANES * D) {
        let mut norms = Zeroizing::new([[0; LANES]; BATCH]);
        for ((residues, norm), c) in batch
            .chunks_exact_mut(LANES * D)
            .zip(norms.iter_mut())
            .zip(&mut constants)
        {
            let mut rows = load(residues);
            *norm = adjoin(&mut rows, &c);
            // The adjoints stay in rows until their norms are inverted.
            residues.copy_from_slice(rows.as_flattened());
        }
        invertible &= invert_all(&mut norms, scale);
        for (residues, norm) in batch.chunks_exact_mut(LANES * D).zip(norms.iter()) {
            let mut rows = [[0; LANES]; D];
            for (row, adjoint) in rows.iter_mut().zip(residues.as_chunks().0) {
                *row = multiply(adjoint, norm);
            }
            store(&rows, residues);
        }
    }
    invertible
}

/// `scale / n` for every norm n. 0 if any n is 0, and then the norms mean nothing.
///
/// Montgomery's trick in each lane: the product of all norms is inverted, and multiplied back down. One lane would
/// need fewer multiplications, but each of them would wait for the last.
fn invert_all(norms: &mut [Row; BATCH], scale: i16) -> Choice {
    let mut products_before = Zeroizing::new([[0; LANES]; BATCH]);
    let mut product = [F::R; LANES];
    for (norm, before) in norms.iter().zip(products_before.iter_mut()) {
        *before = product;
        product = multiply(&product, norm);
    }
    let invertible = product.iter().fold(Choice::from(1), |all, lane| all & !lane.ct_eq(&0));

    let mut inverse = multiply(&reciprocal(&product), &[scale; LANES]);
    for (norm, before) in norms.iter_mut().zip(products_before.iter()).rev() {
        let next = multiply(&inverse, norm);
        *norm = multiply(&inverse, before);
        inverse = next;
    }
    product.zeroize();
    inverse.zeroize();
    invertible
}

/// `2^16 / a`, by Fermat.
fn reciprocal(a: &Row) -> Row {
    let mut square = multiply(a, &[F::R2; LANES]);
    let mut power = [F::R; LANES];
    for bit in 0..Q.ilog2() + 1 {
        if (Q - 2) >> bit & 1 == 1 {
            power = multiply(&power, &square);
        }
        square = multiply(&square, &square);
    }
    square.zeroize();
    power
}

#[inline(always)]
fn multiply(a: &Row, b: &Row) -> Row {
    core::array::from_fn(|lane| F::mul(a[lane], b[lane]))
}

/// Turns a modulo x^3 - c into its adjoint b and returns its norm n: b / n = 1 / a, up to the factor 2^16 of the product
/// b / n in Montgomery form. In: |a| < q, c times 2^16. Out: |b| < 2q, |n| <= q / 2.
#[inline(always)]
fn cubics([a0, a1, a2]: &mut [Row; 3], c: &Row) -> Row {
    let mut norm = [0; LANES];
    for i in 0..LANES {
        let ([x0, x1, x2], c) = ([a0[i], a1[i], a2[i]], c[i]);
        let y0 = F::mul(x0, x0) - F::mul(F::mul(x1, x2), c);
        let y1 = F::mul(F::mul(x2, x2), c) - F::mul(x0, x1);
        let y2 = F::mul(x1, x1) - F::mul(x0, x2);
        let wrap = F::mul(x2, y1) + F::mul(x1, y2);
        norm[i] = F::barrett(F::mul(x0, y0) + F::mul(wrap, c));
        (a0[i], a1[i], a2[i]) = (y0, y1, y2);
    }
    norm
}

/// The same modulo x^4 - c, by the tower over z = x^2: a = (a0 + a2 z) + x (a1 + a3 z) times its conjugate is
/// m0 + m1 z, and that times its own conjugate is the norm.
#[inline(always)]
fn quartics([a0, a1, a2, a3]: &mut [Row; 4], c: &Row) -> Row {
    let mut norm = [0; LANES];
    for i in 0..LANES {
        let ([x0, x1, x2, x3], c) = ([a0[i], a1[i], a2[i], a3[i]], c[i]);
        let odd = F::barrett(F::mul(x2, x2) - 2 * F::mul(x1, x3));
        let m0 = F::barrett(F::mul(x0, x0) + F::mul(odd, c));
        let m1 = F::barrett(2 * F::mul(x0, x2) - F::mul(x1, x1) - F::mul(F::mul(x3, x3), c));
        let cm1 = F::mul(m1, c);
        a0[i] = F::mul(x0, m0) - F::mul(x2, cm1);
        a1[i] = F::mul(x3, cm1) - F::mul(x1, m0);
        a2[i] = F::mul(x2, m0) - F::mul(x0, m1);
        a3[i] = F::mul(x1, m1) - F::mul(x3, m0);
        norm[i] = F::barrett(F::mul(m0, m0) - F::mul(m1, cm1));
    }
    norm
}
