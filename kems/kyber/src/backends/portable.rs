use core::ops::RangeInclusive;

use kem_core::modular::Zq;
use kem_core::ntt::{forward, inverse, scale, twiddles};

use super::Arith;
use crate::poly::{Poly, Q};

/// Plain Rust, for every target. Products have a factor 1 / R, transforms none.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Arith for Portable {
    const FACTOR: RangeInclusive<i16> = 1 - Q..=Q - 1;
    const SUMMAND: RangeInclusive<i16> = 1 - Q..=Q - 1;

    fn ntt(self, p: &mut Poly) {
        forward::<Q>(&mut p.0, 2, |k| ZETAS[k]);
        reduce(p);
    }

    fn inverse_ntt(self, p: &mut Poly) {
        reduce(p);
        inverse::<Q>(&mut p.0, 2, |k| ZETAS[k]);
        scale::<Q>(&mut p.0, UNSCALE);
    }

    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize) {
        let blocks = acc.0[first..]
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(a.as_chunks().0)
            .zip(b.0[first..].as_chunks().0);
        for (((acc, a), b), &zeta) in blocks.zip(&ZETAS[64 + first / 4..]) {
            block_pair(acc, a, b, zeta);
        }
    }

    fn lift(self, p: &mut Poly) {
        scale::<Q>(&mut p.0, 1);
    }

    fn standard(self, p: &mut Poly) {
        self.freeze(p);
    }

    fn standard_sum(self, p: &mut Poly) {
        scale::<Q>(&mut p.0, Zq::<Q>::R2);
        self.freeze(p);
    }

    fn freeze(self, p: &mut Poly) {
        p.0.iter_mut().for_each(|c| *c = Zq::<Q>::freeze(*c));
    }
}

fn reduce(p: &mut Poly) {
    p.0.iter_mut().for_each(|c| *c = Zq::<Q>::barrett(*c));
}

/// Products modulo x^2 - zeta and x^2 + zeta.
#[inline(always)]
fn block_pair(acc: &mut [i16; 4], a: &[i16; 4], b: &[i16; 4], zeta: i16) {
    let product = |a: i16, b: i16| i32::from(a) * i32::from(b);
    for (at, zeta) in [(0, zeta), (2, -zeta)] {
        let twisted = Zq::<Q>::mul(b[at + 1], zeta);
        acc[at] += Zq::<Q>::reduce(product(a[at], b[at]) + product(a[at + 1], twisted));
        acc[at + 1] += Zq::<Q>::reduce(product(a[at], b[at + 1]) + product(a[at + 1], b[at]));
    }
}

/// 17^BitRev_7(k) R (FIPS 203 appendix A).
static ZETAS: [i16; 128] = twiddles::<Q, 128>(17);

/// R^2 / 128: the product with it multiplies by R / 128.
const UNSCALE: i16 = Zq::<Q>::to_montgomery(Zq::<Q>::to_montgomery(3303));
