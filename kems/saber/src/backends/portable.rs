//! Multiplication by transforms modulo 7681 and 10753, in 16-bit words for every target.
//!
//! Both primes are 1 modulo 512, so that x^256 + 1 splits into linear factors. A sum of four products is at most
//! 4 * 256 * 4096 * 8 = 2^25 in absolute value; 7681 * 10753 = 82 593 793 is more than twice as much, so the sum itself comes
//! back from its two residues, and only then is reduced modulo 2^16.

mod ntt;

use kem_core::modular::Zq;
use ntt::{Bounds, ROW, Square, fits};
use zeroize::{Zeroize, Zeroizing};

use super::Arith;
use crate::poly::Poly;

/// No instructions beyond the target's baseline.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// A transformed polynomial modulo both primes.
#[derive(Clone, Copy, Zeroize)]
pub(crate) struct Residues {
    a: Square,
    b: Square,
}

impl Arith for Portable {
    type Secret = Residues;
    type Sum = Residues;

    const SECRET: Residues = ZERO;
    const SUM: Residues = ZERO;

    fn secret(self, s: &Poly, out: &mut Residues) {
        let mut scratch = Zeroizing::new([[0; ROW]; ROW]);
        secret::<QA>(s, &mut out.a, &mut scratch);
        secret::<QB>(s, &mut out.b, &mut scratch);
    }

    fn mul_acc(self, sum: &mut Residues, a: &Poly, s: &Residues) {
        // Not secret, therefore not wiped: the sum is, but it does not pass through here.
        let mut scratch = [[[0; ROW]; ROW]; 2];
        mul_acc::<QA>(&mut sum.a, a, &s.a, &mut scratch);
        mul_acc::<QB>(&mut sum.b, a, &s.b, &mut scratch);
    }

    fn finish(self, sum: &mut Residues, out: &mut Poly) {
        let mut scratch = Zeroizing::new([[0; ROW]; ROW]);
        ntt::inverse::<QA>(&mut sum.a, &mut scratch);
        ntt::inverse::<QB>(&mut sum.b, &mut scratch);
        for (out, (a, b)) in out
            .iter_mut()
            .zip(sum.a.as_flattened().iter().zip(sum.b.as_flattened()))
        {
            *out = recombine(*a, *b);
        }
        *sum = ZERO;
    }
}

const ZERO: Residues = Residues {
    a: [[0; ROW]; ROW],
    b: [[0; ROW]; ROW],
};

const QA: i16 = 7681;
const QB: i16 = 10753;

/// In: |c| <= 4096. Out: |c| <= [`Bounds::REDUCED`].
fn secret<const Q: i16>(s: &Poly, out: &mut Square, scratch: &mut Square) {
    out.as_flattened_mut().copy_from_slice(s);
    ntt::forward::<Q>(out, scratch);
    ntt::reduce::<Q>(out);
}

/// In: |a| <= 4096, |s| <= [`Bounds::REDUCED`], at most three products in `sum`.
fn mul_acc<const Q: i16>(sum: &mut Square, a: &Poly, s: &Square, [hat, scratch]: &mut [Square; 2]) {
    // Four products fit.
    const { fits(4 * Bounds::<Q>::product(Bounds::<Q>::FORWARD, Bounds::<Q>::REDUCED)) };
    hat.as_flattened_mut().copy_from_slice(a);
    ntt::forward::<Q>(hat, scratch);
    for (sum, (a, s)) in sum
        .as_flattened_mut()
        .iter_mut()
        .zip(hat.as_flattened().iter().zip(s.as_flattened()))
    {
        *sum += Zq::<Q>::mul(*a, *s);
    }
}

/// The x with x = a mod 7681, x = b mod 10753 and |x| <= 2^25, modulo 2^16. In: |a| < 7681, |b| < 10753.
///
/// x = a + 7681 t, t = (b - a) / 7681 mod 10753. With |t| <= 5377 this is at most 41.4 million in absolute value, and the
/// numbers that share both residues with x are beyond 82 593 793 - 2^25, which is 49.0 million.
fn recombine(a: i16, b: i16) -> i16 {
    let t = Zq::<QB>::barrett(Zq::<QB>::mul(b - a, INVERSE));
    a.wrapping_add(t.wrapping_mul(QA))
}

/// 1 / 7681 mod 10753, in the Montgomery domain.
const INVERSE: i16 = Zq::<QB>::barrett(Zq::<QB>::pow(Zq::<QB>::to_montgomery(QA), QB as u16 - 2));
