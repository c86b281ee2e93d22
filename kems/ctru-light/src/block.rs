//! The 64 blocks of a transformed polynomial: arithmetic modulo x^8 - z.

use kem_core::modular::Zq;
use subtle::{Choice, ConstantTimeEq};

use crate::ring::{BLOCK, Poly, Q, ZETAS};

/// Coefficient j of `L` blocks at a time: the inner loops run over the blocks, which is how they become vector code.
type Lanes<const L: usize> = [i16; L];

/// r = r * a / R in each block. `zeta` is that of the transform, for `2 * r.len() / 8` nodes of its last layer.
///
/// In: |r| < 5639 (Q = 769) or 2374 (Q = 257), any a. Out: |r| < Q.
#[cfg(any(feature = "self-check", kemqtt_portable, not(cortex_m4)))]
#[inline(always)]
pub(crate) fn multiply_all<const Q: i16>(r: &mut [i16], a: &[i16], zeta: impl Fn(usize) -> i16) {
    let pairs = r.len() / (2 * BLOCK);
    let blocks = r.as_chunks_mut::<BLOCK>().0.iter_mut().zip(a.as_chunks::<BLOCK>().0);
    for (i, (r, a)) in blocks.enumerate() {
        let z = zeta(pairs + i / 2);
        let z = if i % 2 == 0 { z } else { -z };
        let (mut b, mut out) = ([[0]; BLOCK], [[0]; BLOCK]);
        for j in 0..BLOCK {
            out[j] = [r[j]];
            b[j] = [Zq::<Q>::barrett(a[j])];
        }
        product::<Q, BLOCK, 1>(&mut out, &b, &[z]);
        for j in 0..BLOCK {
            [r[j]] = out[j];
        }
    }
}

/// p = factor / p in each block, by norms: a(x) a(-x) is a polynomial in x^2, so three of them lead to a scalar, and the
/// scalar's inverse leads back. In: any p, factor in 1..769. Out: |p| < 769. 0 if a block has no inverse.
#[inline(never)]
pub(crate) fn invert_all(p: &mut Poly, factor: i16) -> Choice {
    // A Montgomery product by factor / R takes the R^2 of `invert` along.
    let factor = Zq::<Q>::mul(factor, 1);
    let mut invertible = Choice::from(1);
    for (i, blocks) in p.0.as_chunks_mut::<{ LANES * BLOCK }>().0.iter_mut().enumerate() {
        let (mut a, mut z) = ([[0; LANES]; BLOCK], [0; LANES]);
        for lane in 0..LANES {
            let block = LANES * i + lane;
            z[lane] = ZETAS[(ZETAS.len() + block) / 2];
            if block % 2 == 1 {
                z[lane] = -z[lane];
            }
            for j in 0..BLOCK {
                a[j][lane] = Zq::<Q>::barrett(blocks[BLOCK * lane + j]);
            }
        }
        invertible &= invert(&mut a, &z, factor);
        for lane in 0..LANES {
            for j in 0..BLOCK {
                blocks[BLOCK * lane + j] = a[j][lane];
            }
        }
    }
    invertible
}

/// How many blocks are inverted at a time: a vector's worth where there are vectors.
const LANES: usize = if cfg!(target_pointer_width = "64") { 8 } else { 1 };

/// a = factor R / a. 0 if a lane has no inverse. Powers of R: each product divides by R, so the norms of a are N1 / R,
/// N2 / R^3 and N3 / R^7; their scalar inverse is R^9 / N3, and without factor / R the way back leads over R^5 / N2 and
/// R^3 / N1 to R^2 / a.
#[inline(always)]
fn invert<const L: usize>(a: &mut [Lanes<L>; 8], z: &Lanes<L>, factor: i16) -> Choice {
    let n1: [_; 4] = norm(a, z);
    let n2: [_; 2] = norm(&n1, z);
    let [n3]: [_; 1] = norm(&n2, z);
    let (mut inverse, mut invertible) = ([[0; L]], Choice::from(1));
    for lane in 0..L {
        invertible &= !Zq::<Q>::freeze(n3[lane]).ct_eq(&0);
        inverse[0][lane] = Zq::<Q>::mul(fermat(n3[lane]), factor);
    }
    let inverse = lift(&n2, &inverse, z);
    let inverse = lift(&n1, &inverse, z);
    *a = lift(a, &inverse, z);
    invertible
}

/// a(x) a(-x) / R as a polynomial in y = x^2: even(y)^2 - y odd(y)^2. In: |a| < 2 * 769. Out: |norm| < 2 * 769.
#[inline(always)]
fn norm<const D: usize, const H: usize, const L: usize>(a: &[Lanes<L>; D], z: &Lanes<L>) -> [Lanes<L>; H] {
    let [mut even, mut odd] = halves(a);
    let (a_even, a_odd) = (even, odd);
    product::<Q, H, L>(&mut even, &a_even, z);
    product::<Q, H, L>(&mut odd, &a_odd, z);
    for lane in 0..L {
        even[0][lane] -= Zq::<Q>::mul(odd[H - 1][lane], z[lane]);
        for k in 1..H {
            even[k][lane] -= odd[k - 1][lane];
        }
    }
    even
}

/// a(-x) inverse(x^2) / R: from an inverse of the norm of a to one of a. In: |a|, |inverse| < 2 * 769. Out: < 769.
#[inline(always)]
fn lift<const D: usize, const H: usize, const L: usize>(
    a: &[Lanes<L>; D],
    inverse: &[Lanes<L>; H],
    z: &Lanes<L>,
) -> [Lanes<L>; D] {
    let [mut even, mut odd] = halves(a);
    product::<Q, H, L>(&mut even, inverse, z);
    product::<Q, H, L>(&mut odd, inverse, z);
    let mut out = [[0; L]; D];
    for k in 0..H {
        for lane in 0..L {
            out[2 * k][lane] = even[k][lane];
            out[2 * k + 1][lane] = -odd[k][lane];
        }
    }
    out
}

#[inline(always)]
fn halves<const D: usize, const H: usize, const L: usize>(a: &[Lanes<L>; D]) -> [[Lanes<L>; H]; 2] {
    let (mut even, mut odd) = ([[0; L]; H], [[0; L]; H]);
    for k in 0..H {
        (even[k], odd[k]) = (a[2 * k], a[2 * k + 1]);
    }
    [even, odd]
}

/// a = a b / R modulo x^D - z in each lane, z in the Montgomery domain. In: D |a| max(|b|, Q) < 2^15 Q. Out: |a| < Q.
#[inline(always)]
fn product<const Q: i16, const D: usize, const L: usize>(a: &mut [Lanes<L>; D], b: &[Lanes<L>; D], z: &Lanes<L>) {
    // z b below b: coefficient k of the product is the sum of a_i wound_(D + k - i).
    let mut wound = [[0; L]; 2 * BLOCK];
    for j in 0..D {
        for lane in 0..L {
            wound[j][lane] = Zq::<Q>::mul(b[j][lane], z[lane]);
            wound[D + j][lane] = b[j][lane];
        }
    }
    let mut out = [[0; L]; D];
    for k in 0..D {
        let mut sum = [0i32; L];
        for i in 0..D {
            for lane in 0..L {
                sum[lane] += i32::from(a[i][lane]) * i32::from(wound[D + k - i][lane]);
            }
        }
        for lane in 0..L {
            out[k][lane] = Zq::<Q>::reduce(sum[lane]);
        }
    }
    *a = out;
}

/// x^767 / R^766. R^768 = 1, so this is R^2 / x, and 0 for 0.
#[inline(always)]
fn fermat(x: i16) -> i16 {
    // 767 = 1011111111 in binary.
    let square = |x| Zq::<Q>::mul(x, x);
    let x2 = square(x);
    let x5 = Zq::<Q>::mul(square(x2), x);
    (0..7).fold(x5, |power, _| Zq::<Q>::mul(square(power), x))
}

#[cfg(test)]
mod tests {
    use core::array::from_fn;
    use std::vec::Vec;

    use super::*;
    use crate::components::{Draw, wide};
    use crate::reference;
    use crate::ring::N;

    /// z of block i, by definition.
    fn z(i: usize) -> i64 {
        let zeta = (0..(32 + i as u32 / 2).reverse_bits() >> 26).fold(1, |z, _| z * 5 % 769);
        if i.is_multiple_of(2) { zeta } else { -zeta }
    }

    fn canonical(p: &[i16], factor: i64) -> Vec<i64> {
        p.iter().map(|&c| (i64::from(c) * factor).rem_euclid(769)).collect()
    }

    fn check_product(r: &Poly, a: &Poly) {
        let mut out = Poly(r.0);
        multiply_all::<Q>(&mut out.0, &a.0, |k| ZETAS[k]);
        assert!(out.0.iter().all(|c| c.abs() < Q));
        for i in 0..N / 8 {
            let at = 8 * i..8 * i + 8;
            let expected = reference::wrap(&wide(&r.0[at.clone()]), &wide(&a.0[at.clone()]), z(i), 769);
            // R = 65536.
            assert_eq!(canonical(&out.0[at], 65536), expected, "block {i}");
        }
    }

    #[test]
    fn products_modulo_x8_minus_z_up_to_the_bounds() {
        for (x, y) in [
            (5638, 384),
            (-5638, 384),
            (5638, -384),
            (5638, 385),
            (5638, i16::MAX),
            (-5638, i16::MIN),
            (0, 5638),
        ] {
            check_product(&Poly([x; N]), &Poly([y; N]));
        }
        let mut draw = Draw(1);
        for _ in 0..20 {
            let mut r = Poly(from_fn(|_| draw.below(11_277) as i16 - 5638));
            check_product(&r, &Poly(from_fn(|_| draw.below(65_536) as i16)));
            r.0.iter_mut().for_each(|c| *c = if *c < 0 { -5638 } else { 5638 });
            check_product(&r, &Poly(from_fn(|_| if draw.below(2) == 0 { 384 } else { -384 })));
        }
    }

    #[test]
    fn inverses_times_their_block_are_the_factor() {
        let mut draw = Draw(2);
        for factor in [1, 9, 768] {
            let a = Poly(from_fn(|_| draw.below(65_536) as i16));
            let mut inverse = Poly(a.0);
            assert!(
                bool::from(invert_all(&mut inverse, factor)),
                "these blocks have inverses"
            );
            assert!(inverse.0.iter().all(|c| c.abs() < Q));
            for i in 0..N / 8 {
                let at = 8 * i..8 * i + 8;
                let product = reference::wrap(&wide(&a.0[at.clone()]), &wide(&inverse.0[at]), z(i), 769);
                assert_eq!(product, [i64::from(factor), 0, 0, 0, 0, 0, 0, 0], "block {i}");
            }
        }
    }

    /// x^8 - z = (x^4 - w) (x^4 + w): a multiple of either factor has no inverse.
    #[test]
    fn one_bad_block_is_enough() {
        for i in 0..N / 8 {
            let w = (0..769)
                .find(|w| (w * w - z(i)).rem_euclid(769) == 0)
                .expect("z is a square");
            for bad in [
                [0; 8],
                [-w as i16, 0, 0, 0, 1, 0, 0, 0],
                [0, w as i16, 0, 0, 0, 1, 0, 0],
            ] {
                let mut p = Poly([0; N]);
                p.0.as_chunks_mut().0.fill([1, 0, 0, 0, 0, 0, 0, 0]);
                assert!(bool::from(invert_all(&mut Poly(p.0), 1)));
                p.0[8 * i..8 * i + 8].copy_from_slice(&bad);
                assert!(!bool::from(invert_all(&mut p, 1)), "{bad:?} in block {i}");
            }
        }
    }

    #[test]
    fn fermat_inverts_every_residue() {
        assert_eq!(fermat(0), 0);
        for x in (-2 * Q..2 * Q).filter(|x| x % Q != 0) {
            let r2 = 19;
            assert_eq!((i64::from(fermat(x)) * i64::from(x) - r2).rem_euclid(769), 0, "{x}");
        }
    }
}
