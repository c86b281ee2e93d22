//! Plain Rust for every target, in a form that compilers turn into vector code where there is any.

use kem_core::modular::Zq;
use kem_core::ntt::{forward, inverse, scale};
use subtle::Choice;

use super::Arith;
use crate::block;
use crate::ring::{BLOCK, Poly, Q, ZETAS, unscale};

/// The backend that is always there.
///
/// Transform domain: bit-reversed order, no factor, |c| < 1025 + 6 * 769 = 5639. `basemul` leaves a factor 1 / R, which
/// the scaling in `invntt` removes.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Arith for Portable {
    fn ntt(self, p: &mut Poly) {
        forward::<Q>(&mut p.0, BLOCK, |k| ZETAS[k]);
    }

    fn basemul(self, r: &mut Poly, a: &Poly) {
        block::multiply_all::<Q>(&mut r.0, &a.0, |k| ZETAS[k]);
    }

    fn baseinv(self, p: &mut Poly) -> Choice {
        block::invert_all(p, 1)
    }

    fn invntt(self, p: &mut Poly) {
        inverse::<Q>(&mut p.0, BLOCK, |k| ZETAS[k]);
        scale::<Q>(&mut p.0, unscale::<Q>());
        p.0.iter_mut().for_each(|c| *c = Zq::<Q>::add_q_if_negative(*c));
    }
}
