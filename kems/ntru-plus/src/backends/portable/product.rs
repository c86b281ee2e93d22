//! Products of residues modulo x^d - c.

use crate::{field::F, params::Params};

pub(super) fn multiply<P: Params>(a: &mut [i16], b: &[i16], start: usize, scale: i16) {
    let constants = leaf_constants::<P>(start / P::LEAF);
    let leaves = a.chunks_exact_mut(P::LEAF).zip(b.chunks_exact(P::LEAF)).zip(constants);
    for ((a, b), c) in leaves {
        match (&mut *a, b) {
            (&mut [a0, a1, a2], &[b0, b1, b2]) => {
                a.copy_from_slice(&cubic([a0, a1, a2], [b0, b1, b2], c).map(|x| F::mul(x, scale)));
            }
            (&mut [a0, a1, a2, a3], &[b0, b1, b2, b3]) => {
                a.copy_from_slice(&quartic([a0, a1, a2, a3], [b0, b1, b2, b3], c).map(|x| F::mul(x, scale)));
            }
            _ => {}
        }
    }
}

/// The constants c of the leaves from number `leaf`, which is even, on.
pub(super) fn leaf_constants<P: Params>(leaf: usize) -> impl Iterator<Item = i16> {
    let pairs = P::ZETAS[P::N / P::LEAF / 2..][leaf / 2..].iter();
    pairs.flat_map(|&c| [c, -c])
}

/// `a * b / 2^16` modulo x^3 - c. In: |a| < 2q, |b| < 4096, c times 2^16. Out: below q.
fn cubic([a0, a1, a2]: [i16; 3], [b0, b1, b2]: [i16; 3], c: i16) -> [i16; 3] {
    let wrap0 = F::reduce(product(a1, b2) + product(a2, b1));
    let wrap1 = F::reduce(product(a2, b2));
    [
        F::reduce(product(a0, b0) + product(wrap0, c)),
        F::reduce(product(a0, b1) + product(a1, b0) + product(wrap1, c)),
        F::reduce(product(a0, b2) + product(a1, b1) + product(a2, b0)),
    ]
}

/// `a * b / 2^16` modulo x^4 - c. In: |a| < 2q, |b| < 4096, c times 2^16. Out: below q.
fn quartic([a0, a1, a2, a3]: [i16; 4], [b0, b1, b2, b3]: [i16; 4], c: i16) -> [i16; 4] {
    let wrap0 = F::reduce(product(a1, b3) + product(a2, b2) + product(a3, b1));
    let wrap1 = F::reduce(product(a2, b3) + product(a3, b2));
    let wrap2 = F::reduce(product(a3, b3));
    [
        F::reduce(product(a0, b0) + product(wrap0, c)),
        F::reduce(product(a0, b1) + product(a1, b0) + product(wrap1, c)),
        F::reduce(product(a0, b2) + product(a1, b1) + product(a2, b0) + product(wrap2, c)),
        F::reduce(product(a0, b3) + product(a1, b2) + product(a2, b1) + product(a3, b0)),
    ]
}

fn product(a: i16, b: i16) -> i32 {
    i32::from(a) * i32::from(b)
}
