//! Multiplication by number-theoretic transforms modulo 7681 and 10753, in 16-bit words for every target.
//!
//! Both primes are 1 modulo 512, so that x^256 + 1 splits into linear factors, and a product of residues fits in 32 bits.
//! A sum of four products is below 4 * 256 * 4096 * 8 = 2^25 in absolute value; 7681 * 10753 = 82 593 793 is more than twice
//! as much, so the sum itself comes back from its two residues, and only then is reduced modulo 2^16.
//!
//! A polynomial is sixteen rows of sixteen coefficients. The first four layers of butterflies pair whole rows; the square is
//! transposed, and the other four pair whole rows again, now with one twiddle per lane: every inner loop runs over sixteen
//! adjacent coefficients, which compilers turn into vector code.

use core::array;

use kem_core::modular::Zq;
use kem_core::ntt::twiddles;
use zeroize::{Zeroize, Zeroizing};

use super::Arith;
use crate::poly::{N, Poly};

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
        secret::<QA>(s, &mut out.a);
        secret::<QB>(s, &mut out.b);
    }

    fn mul_acc(self, sum: &mut Residues, a: &Poly, s: &Residues) {
        let mut hat = Zeroizing::new([[0; ROW]; ROW]);
        mul_acc::<QA>(&mut sum.a, a, &s.a, &mut hat);
        mul_acc::<QB>(&mut sum.b, a, &s.b, &mut hat);
    }

    fn finish(self, sum: &mut Residues, out: &mut Poly) {
        inverse::<QA>(&mut sum.a);
        inverse::<QB>(&mut sum.b);
        for (out, (a, b)) in out.iter_mut().zip(sum.a.as_flattened().iter().zip(sum.b.as_flattened())) {
            *out = recombine(*a, *b);
        }
        *sum = ZERO;
    }
}

const ROW: usize = 16;
type Row = [i16; ROW];
type Square = [Row; ROW];

const ZERO: Residues = Residues { a: [[0; ROW]; ROW], b: [[0; ROW]; ROW] };

const QA: i16 = 7681;
const QB: i16 = 10753;

/// In: |c| <= 4096. Out: |c| <= [`Bounds::REDUCED`].
fn secret<const Q: i16>(s: &Poly, out: &mut Square) {
    out.as_flattened_mut().copy_from_slice(s);
    forward::<Q>(out);
    reduce::<Q>(out);
}

/// In: |a| <= 4096, |s| <= [`Bounds::REDUCED`], at most three products in `sum`. `hat` is scratch.
fn mul_acc<const Q: i16>(sum: &mut Square, a: &Poly, s: &Square, hat: &mut Square) {
    hat.as_flattened_mut().copy_from_slice(a);
    forward::<Q>(hat);
    for (sum, (a, s)) in sum.as_flattened_mut().iter_mut().zip(hat.as_flattened().iter().zip(s.as_flattened())) {
        *sum += Zq::<Q>::mul(*a, *s);
    }
}

/// The transform: bit-reversed order, transposed. In: |c| <= 4096. Out: |c| <= [`Bounds::FORWARD`].
fn forward<const Q: i16>(p: &mut Square) {
    let mut k = 1;
    for len in [8, 4, 2, 1] {
        for rows in p.chunks_exact_mut(2 * len) {
            let (low, high) = rows.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                butterfly::<Q>(a, b, &[Twiddles::<Q>::ROOTS[k]; ROW]);
            }
            k += 1;
        }
    }
    transpose(p);
    reduce::<Q>(p);
    for len in [8, 4, 2, 1] {
        let nodes = ROW / 2 / len;
        for (node, rows) in p.chunks_exact_mut(2 * len).enumerate() {
            let roots = array::from_fn(|lane| Twiddles::<Q>::ROOTS[(ROW + lane) * nodes + node]);
            let (low, high) = rows.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                butterfly::<Q>(a, b, &roots);
            }
        }
    }
}

/// Undoes [`forward`] and a Montgomery factor 1 / R. In: |c| <= 4 [`Bounds::PRODUCT`]. Out: |c| < Q.
fn inverse<const Q: i16>(p: &mut Square) {
    reduce::<Q>(p);
    for len in [1, 2, 4, 8] {
        let nodes = ROW / 2 / len;
        for (node, rows) in p.chunks_exact_mut(2 * len).enumerate() {
            // As psi^256 = -1, the negative inverse of a root is the mirrored one of its layer.
            let roots = array::from_fn(|lane| Twiddles::<Q>::ROOTS[(2 * ROW - lane) * nodes - 1 - node]);
            let (low, high) = rows.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                inverse_butterfly::<Q>(a, b, &roots, len == 2 || len == 8);
            }
        }
    }
    transpose(p);
    for len in [1, 2, 4, 8] {
        let nodes = ROW / 2 / len;
        for (node, rows) in p.chunks_exact_mut(2 * len).enumerate() {
            let (low, high) = rows.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                inverse_butterfly::<Q>(a, b, &[Twiddles::<Q>::ROOTS[2 * nodes - 1 - node]; ROW], len == 2);
            }
        }
    }
    for c in p.as_flattened_mut() {
        *c = Zq::<Q>::mul(*c, Twiddles::<Q>::SCALE);
    }
}

/// (a, b) -> (a + z b, a - z b), lane by lane.
#[inline(always)]
fn butterfly<const Q: i16>(a: &mut Row, b: &mut Row, z: &Row) {
    for ((a, b), z) in a.iter_mut().zip(b).zip(z) {
        let t = Zq::<Q>::mul(*b, *z);
        *b = *a - t;
        *a += t;
    }
}

/// (a, b) -> (a + b, z (b - a)), lane by lane, with a Barrett reduction of the sum if so wanted.
#[inline(always)]
fn inverse_butterfly<const Q: i16>(a: &mut Row, b: &mut Row, z: &Row, reduced: bool) {
    for ((a, b), z) in a.iter_mut().zip(b).zip(z) {
        let difference = *b - *a;
        *a += *b;
        if reduced {
            *a = Zq::<Q>::barrett(*a);
        }
        *b = Zq::<Q>::mul(difference, *z);
    }
}

/// In: any. Out: |c| <= [`Bounds::REDUCED`].
fn reduce<const Q: i16>(p: &mut Square) {
    for c in p.as_flattened_mut() {
        *c = Zq::<Q>::barrett(*c);
    }
}

fn transpose(p: &mut Square) {
    for i in 1..ROW {
        for j in 0..i {
            let c = p[i][j];
            p[i][j] = p[j][i];
            p[j][i] = c;
        }
    }
}

/// Twiddles, all of them in the Montgomery domain and centred.
enum Twiddles<const Q: i16> {}

impl<const Q: i16> Twiddles<Q> {
    /// psi^brv(k), psi of order 512.
    const ROOTS: [i16; N] = {
        let psi = match Q {
            7681 => 62,
            10753 => 10,
            _ => panic!("no root for this modulus"),
        };
        let mut roots = twiddles::<Q, N>(psi);
        let mut k = 0;
        while k < N {
            roots[k] = Zq::<Q>::barrett(roots[k]);
            k += 1;
        }
        roots
    };

    /// R^2 / 256: undoes the growth of eight layers, and the factor 1 / R of a product.
    const SCALE: i16 = {
        let inverse = Zq::<Q>::pow(Zq::<Q>::to_montgomery(N as i16), Q as u16 - 2);
        Zq::<Q>::barrett(Zq::<Q>::to_montgomery(inverse))
    };
}

/// What the absolute values stay below, evaluated by the compiler: where a sum might leave an `i16`, it refuses to build.
enum Bounds<const Q: i16> {}

impl<const Q: i16> Bounds<Q> {
    /// A Barrett-reduced coefficient, or a twiddle.
    const REDUCED: i32 = (Q as i32 + 1) / 2;

    /// A coefficient after [`forward`].
    const FORWARD: i32 = {
        let mut c = 1 << 12;
        let mut layer = 0;
        while layer < 8 {
            if layer == 4 {
                c = Self::REDUCED;
            }
            c = fits(c + Self::product(c, Self::REDUCED));
            layer += 1;
        }
        c
    };

    /// One term of a sum of products.
    const PRODUCT: i32 = Self::product(Self::FORWARD, Self::REDUCED);

    /// A coefficient before the scaling in [`inverse`].
    const INVERSE: i32 = {
        fits(4 * Self::PRODUCT);
        let mut c = Self::REDUCED;
        let mut layer = 0;
        while layer < 8 {
            let sum = fits(2 * c);
            let product = Self::product(sum, Self::REDUCED);
            let reduced = layer % 2 == 1 && layer < 7;
            c = if reduced && product > Self::REDUCED {
                product
            } else if reduced {
                Self::REDUCED
            } else {
                sum
            };
            layer += 1;
        }
        c
    };

    /// The Montgomery product of factors up to `a` and `b`: the exact quotient (a b - l Q) / 2^16 with |l| <= 2^15.
    const fn product(a: i32, b: i32) -> i32 {
        (a * b + (1 << 15) * Q as i32) >> 16
    }
}

const fn fits(bound: i32) -> i32 {
    assert!(bound <= i16::MAX as i32);
    bound
}

const _: () = assert!(Bounds::<QA>::product(Bounds::<QA>::INVERSE, Bounds::<QA>::REDUCED) < QA as i32);
const _: () = assert!(Bounds::<QB>::product(Bounds::<QB>::INVERSE, Bounds::<QB>::REDUCED) < QB as i32);

/// The integer x, |x| <= 2^25, with x = a mod 7681, x = b mod 10753, modulo 2^16. In: |a| < 7681, |b| < 10753.
///
/// x = a + 7681 t with t = (b - a) / 7681 mod 10753. The Montgomery product gives |t| <= 6889, hence a number of absolute
/// value below 52.93 million, and any other one in its class that is as close to 0 would be 82.59 million away from x.
fn recombine(a: i16, b: i16) -> i16 {
    const INVERSE: i16 = Zq::<QB>::pow(Zq::<QB>::to_montgomery(QA), QB as u16 - 2);
    a.wrapping_add(QA.wrapping_mul(Zq::<QB>::mul(b - a, Zq::<QB>::barrett(INVERSE))))
}
