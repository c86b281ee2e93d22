//! The target's arithmetic against the portable one, for test firmware, which is where both can run.

use super::{Arith, Native, portable::Portable};
use crate::{
    field::{F, Q},
    params::{Params, sealed::Zeroed},
};

/// Whether both transforms agree modulo q and keep their bounds. `coefficient` gives |c| < q by index.
pub fn transforms_agree<P: Params>(mut coefficient: impl FnMut(usize) -> i16) -> bool {
    let (mut ours, mut theirs) = (P::Poly::ZERO, P::Poly::ZERO);
    for (i, (ours, theirs)) in ours.as_mut().iter_mut().zip(theirs.as_mut()).enumerate() {
        *ours = coefficient(i);
        *theirs = *ours;
    }
    Native.inverse_ntt::<P>(&mut ours);
    Portable.inverse_ntt::<P>(&mut theirs);
    let back = small(ours.as_ref()) && congruent(ours.as_ref(), theirs.as_ref());
    for (i, (ours, theirs)) in ours.as_mut().iter_mut().zip(theirs.as_mut()).enumerate() {
        *ours = coefficient(i);
        *theirs = *ours;
    }
    Native.ntt::<P>(&mut ours);
    Portable.ntt::<P>(&mut theirs);
    back && small(ours.as_ref()) && congruent(ours.as_ref(), theirs.as_ref())
}

/// Whether products agree, on a stretch from coefficient 192 on. In: |a| < 2 q, 0 <= b < 4096, |scale| <= q / 2.
pub fn products_agree<P: Params>(a: &[i16; 192], b: &[i16; 192], scale: i16) -> bool {
    let (mut ours, mut theirs) = (*a, *a);
    Native.multiply::<P>(&mut ours, b, 192, scale);
    Portable.multiply::<P>(&mut theirs, b, 192, scale);
    ours.iter().all(|c| c.abs() < Q) && congruent(&ours, &theirs)
}

/// Whether inverses agree, and on whether there is one. In: |c| < q, |scale| <= q / 2.
pub fn inverses_agree<P: Params>(mut coefficient: impl FnMut(usize) -> i16, scale: i16) -> bool {
    let (mut ours, mut theirs) = (P::Poly::ZERO, P::Poly::ZERO);
    for (i, (ours, theirs)) in ours.as_mut().iter_mut().zip(theirs.as_mut()).enumerate() {
        *ours = coefficient(i);
        *theirs = *ours;
    }
    let [we, they] = [
        bool::from(Native.invert::<P>(&mut ours, scale)),
        bool::from(Portable.invert::<P>(&mut theirs, scale)),
    ];
    let bounded = ours.as_ref().iter().all(|c| c.abs() < Q);
    we == they && (!we || bounded && congruent(ours.as_ref(), theirs.as_ref()))
}

fn small(p: &[i16]) -> bool {
    p.iter().all(|c| c.abs() <= Q.div_euclid(2))
}

fn congruent(a: &[i16], b: &[i16]) -> bool {
    a.iter().zip(b).all(|(a, b)| F::freeze(*a) == F::freeze(*b))
}
