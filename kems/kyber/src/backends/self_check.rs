//! The target's arithmetic against the portable one, for test firmware, which is where both can run.

use kem_core::modular::Zq;

use super::{Arith, Native, portable::Portable};
use crate::poly::{N, Poly, Q};

/// Whether the transforms agree modulo Q and keep their bounds. In: |c| < Q.
pub fn ntt_agrees(p: &[i16; N]) -> bool {
    let (mut ours, mut theirs) = (Poly(*p), Poly(*p));
    Native.ntt(&mut ours);
    Portable.ntt(&mut theirs);
    ours.0.iter().all(|c| c.abs() <= (Q + 1) / 2) && congruent(&ours, &theirs)
}

/// The same of the inverse transform. In: |c| < 4 Q.
pub fn inverse_ntt_agrees(p: &[i16; N]) -> bool {
    let (mut ours, mut theirs) = (Poly(*p), Poly(*p));
    Native.inverse_ntt(&mut ours);
    Portable.inverse_ntt(&mut theirs);
    ours.0.iter().all(|c| c.abs() < Q) && congruent(&ours, &theirs)
}

/// The same of the product in T_q. In: 0 <= a < 4096, |b| < Q.
pub fn basemul_agrees(a: &[i16; N], b: &[i16; N]) -> bool {
    let (mut ours, mut theirs) = (Poly([3 * Q; N]), Poly([3 * Q; N]));
    let (low, high) = a.split_at(32);
    Native.basemul_acc(&mut ours, low, &Poly(*b), 0);
    Native.basemul_acc(&mut ours, high, &Poly(*b), 32);
    Portable.basemul_acc(&mut theirs, a, &Poly(*b), 0);
    ours.0.iter().all(|c| (c - 3 * Q).abs() < Q) && congruent(&ours, &theirs)
}

/// Whether scaling and canonical representatives agree. In: any c, |factor| < Q.
pub fn scale_agrees(p: &[i16; N], factor: i16) -> bool {
    let (mut ours, mut theirs) = (Poly(*p), Poly(*p));
    Native.scale(&mut ours, factor);
    Portable.scale(&mut theirs, factor);
    let scaled = ours.0.iter().all(|c| c.abs() < Q) && congruent(&ours, &theirs);
    let (mut ours, mut theirs) = (Poly(*p), Poly(*p));
    Native.freeze(&mut ours);
    Portable.freeze(&mut theirs);
    scaled && ours.0 == theirs.0
}

/// Forward and back, for a cycle counter.
pub fn transform(p: &mut [i16; N]) {
    let mut poly = Poly(*p);
    Native.ntt(&mut poly);
    Native.inverse_ntt(&mut poly);
    *p = poly.0;
}

fn congruent(a: &Poly, b: &Poly) -> bool {
    a.0.iter()
        .zip(&b.0)
        .all(|(a, b)| Zq::<Q>::freeze(*a) == Zq::<Q>::freeze(*b))
}
