//! Residues side by side, coefficient by coefficient: the form that compilers turn into vector instructions.

use crate::{field::F, params::Params};

/// Residues in a row: a vector of the smallest kind on 64-bit machines. Small machines, which have none, take a pair.
pub(super) const LANES: usize = if cfg!(target_pointer_width = "64") { 8 } else { 2 };

/// The same coefficient of each residue in a row.
pub(super) type Row = [i16; LANES];

/// The rows of the coefficients 0, 1, .. of `LANES` residues.
#[inline(always)]
pub(super) fn load<const D: usize>(residues: &[i16]) -> [Row; D] {
    let mut rows = [[0; LANES]; D];
    for (lane, residue) in residues.as_chunks::<D>().0.iter().enumerate().take(LANES) {
        for (row, c) in rows.iter_mut().zip(residue) {
            row[lane] = *c;
        }
    }
    rows
}

/// Undoes [`load`].
#[inline(always)]
pub(super) fn store<const D: usize>(rows: &[Row; D], residues: &mut [i16]) {
    for (lane, residue) in residues.as_chunks_mut::<D>().0.iter_mut().enumerate().take(LANES) {
        for (row, c) in rows.iter().zip(residue) {
            *c = row[lane];
        }
    }
}

/// Rows of the constants c of the residues from coefficient `start` on.
pub(super) fn constants<P: Params>(start: usize) -> impl Iterator<Item = Row> {
    let first_pair = (P::N + start) / P::LEAF / 2;
    let rows = P::ZETAS[first_pair..].chunks_exact(LANES / 2);
    rows.map(|pairs| {
        core::array::from_fn(|lane| {
            if lane % 2 == 0 {
                pairs[lane / 2]
            } else {
                -pairs[lane / 2]
            }
        })
    })
}

/// The sum of products, times 2^-16. In: each |a * b| < 2^13 q. Out: below 4q.
#[inline(always)]
pub(super) fn dot<const N: usize>(products: [(i16, i16); N]) -> i16 {
    if cfg!(target_pointer_width = "64") {
        products.into_iter().map(|(a, b)| F::mul(a, b)).sum()
    } else {
        // Fewer multiplications, but vectors would have to be twice as wide.
        F::reduce(products.into_iter().map(|(a, b)| i32::from(a) * i32::from(b)).sum())
    }
}
