//! Inverses of residues modulo x^d - c: closed forms with one division each, and the divisions of a batch done as one.

use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::product::leaf_constants;
use crate::{
    field::{F, invert as invert_scalar},
    params::Params,
};

/// Leaves whose norms are inverted together. Divides the number of leaves of every set.
const BATCH: usize = 48;
/// Inversions side by side in a batch.
const LANES: usize = 8;

pub(super) fn invert<P: Params>(poly: &mut [i16], scale: i16) -> Choice {
    let mut invertible = Choice::from(1);
    for (batch, leaves) in poly.chunks_exact_mut(BATCH * P::LEAF).enumerate() {
        let mut norms = Zeroizing::new([0; BATCH]);
        let constants = leaf_constants::<P>(batch * BATCH);
        for ((leaf, c), norm) in leaves.chunks_exact_mut(P::LEAF).zip(constants).zip(norms.iter_mut()) {
            *norm = match *leaf {
                [a0, a1, a2] => {
                    let (adjoint, norm) = cubic([a0, a1, a2], c);
                    leaf.copy_from_slice(&adjoint);
                    norm
                }
                [a0, a1, a2, a3] => {
                    let (adjoint, norm) = quartic([a0, a1, a2, a3], c);
                    leaf.copy_from_slice(&adjoint);
                    norm
                }
                _ => 0,
            };
        }
        invertible &= invert_all(&mut norms, scale);
        for (leaf, norm) in leaves.chunks_exact_mut(P::LEAF).zip(norms.iter()) {
            leaf.iter_mut().for_each(|c| *c = F::mul(*c, *norm));
        }
    }
    invertible
}

/// `scale / n` for every norm n. 0 if any n is 0, and then the norms mean nothing.
///
/// Montgomery's trick in each lane: the product of all norms is inverted, and multiplied back down. One lane would
/// need fewer multiplications, but each of them would wait for the last.
fn invert_all(norms: &mut [i16; BATCH], scale: i16) -> Choice {
    let (norms, _) = norms.as_chunks_mut::<LANES>();
    let mut products_before = Zeroizing::new([[0; LANES]; BATCH / LANES]);
    let mut product = [F::R; LANES];
    for (row, before) in norms.iter().zip(products_before.iter_mut()) {
        *before = product;
        product = core::array::from_fn(|lane| F::mul(product[lane], row[lane]));
    }
    let invertible = product.iter().fold(Choice::from(1), |all, lane| all & !lane.ct_eq(&0));

    let mut inverse = product.map(|lane| F::mul(invert_scalar(F::mul(lane, F::R2)), scale));
    for (row, before) in norms.iter_mut().zip(products_before.iter()).rev() {
        let next = core::array::from_fn(|lane| F::mul(inverse[lane], row[lane]));
        *row = core::array::from_fn(|lane| F::mul(inverse[lane], before[lane]));
        inverse = next;
    }
    product.zeroize();
    inverse.zeroize();
    invertible
}

/// The adjoint b and the norm n of a modulo x^3 - c: b / n = 1 / a, up to the factor 2^16 of the product b / n in
/// Montgomery form. In: |a| < q, c times 2^16. Out: |b| < 2q, |n| < q.
fn cubic([a0, a1, a2]: [i16; 3], c: i16) -> ([i16; 3], i16) {
    let b = [
        F::mul(a0, a0) - F::mul(F::mul(a1, a2), c),
        F::mul(F::mul(a2, a2), c) - F::mul(a0, a1),
        F::mul(a1, a1) - F::mul(a0, a2),
    ];
    let wrap = F::mul(a2, b[1]) + F::mul(a1, b[2]);
    (b, F::barrett(F::mul(a0, b[0]) + F::mul(wrap, c)))
}

/// The same modulo x^4 - c, by the tower over z = x^2: a = (a0 + a2 z) + x (a1 + a3 z) times its conjugate is
/// m0 + m1 z, and that times its own conjugate is the norm.
fn quartic([a0, a1, a2, a3]: [i16; 4], c: i16) -> ([i16; 4], i16) {
    let m0 = F::barrett(F::mul(a0, a0) + F::mul(F::barrett(F::mul(a2, a2) - 2 * F::mul(a1, a3)), c));
    let m1 = F::barrett(2 * F::mul(a0, a2) - F::mul(a1, a1) - F::mul(F::mul(a3, a3), c));
    let cm1 = F::mul(m1, c);
    let b = [
        F::mul(a0, m0) - F::mul(a2, cm1),
        F::mul(a3, cm1) - F::mul(a1, m0),
        F::mul(a2, m0) - F::mul(a0, m1),
        F::mul(a1, m1) - F::mul(a3, m0),
    ];
    (b, F::barrett(F::mul(m0, m0) - F::mul(m1, cm1)))
}
