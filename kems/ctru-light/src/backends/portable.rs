//! Plain Rust for every target, in a form that compilers turn into vector code where there is any.

use kem_core::modular::Zq;
use kem_core::ntt::{forward, inverse, scale};
use subtle::Choice;

use super::Arith;
use crate::block;
use crate::encoding::{CT_LEN, F_LEN};
use crate::product;
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

    fn decrypt(self, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
        // 8-bit processors multiply bytes; the others have wider multipliers, which the transform makes better use of.
        if cfg!(target_pointer_width = "16") {
            product::decrypt_by_karatsuba(f, ct, m);
        } else {
            product::decrypt_by_residues(self, f, ct, m);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::array::from_fn;

    use super::*;
    use crate::components::Draw;
    use crate::ring::N;

    /// Every butterfly of either transform multiplies a value below 5639, or a difference of two below 42 * 769, by a
    /// twiddle: all such products are right and below q.
    #[test]
    fn every_butterfly_product_is_exact_and_below_q() {
        for zeta in ZETAS {
            for c in -32_767..=32_767 {
                let product = Zq::<Q>::mul(c, zeta);
                assert!(product.abs() < Q);
                let difference = i32::from(product) * 65_536 - i32::from(c) * i32::from(zeta);
                assert_eq!(difference % 769, 0, "{c} * {zeta}");
            }
        }
    }

    /// zeta_k = 5^brv6(k), in the Montgomery domain.
    #[test]
    fn twiddles_are_those_of_the_specification() {
        for (k, zeta) in ZETAS.into_iter().enumerate() {
            let exponent = (k as u32).reverse_bits() >> 26;
            let power = (0..exponent).fold(1, |power, _| power * 5 % 769);
            assert_eq!((i32::from(zeta) - power * 65_536).rem_euclid(769), 0, "{k}");
        }
    }

    /// Inputs at the ends of the range, in regular and in random patterns.
    #[test]
    fn the_transform_stays_within_its_bound() {
        let mut draw = Draw(1);
        let mut extreme = 0;
        for pattern in 0..2000 {
            let mut p = Poly(from_fn(|i| match pattern {
                0..64 if (pattern >> (i / 8 % 6)) & 1 == 0 => -769,
                0..64 => 1024,
                _ if draw.below(2) == 0 => -769,
                _ => 1024,
            }));
            Portable.ntt(&mut p);
            extreme = p.0.iter().map(|c| c.abs()).fold(extreme, i16::max);
        }
        assert!(extreme < 5639, "{extreme}");
    }

    /// |c| < 769 is all that `invntt` asks for.
    #[test]
    fn the_inverse_takes_its_whole_range() {
        let mut draw = Draw(2);
        for value in [-768, 768] {
            for sign in [1, -1] {
                let mut p = Poly(from_fn(|i| if i % 2 == 0 { value } else { value * sign }));
                Portable.invntt(&mut p);
                assert!(p.0.iter().all(|c| (0..Q).contains(c)));
            }
        }
        for _ in 0..200 {
            let mut p = Poly([0; N]);
            p.0.fill_with(|| if draw.below(2) == 0 { -768 } else { 768 });
            Portable.invntt(&mut p);
            assert!(p.0.iter().all(|c| (0..Q).contains(c)));
        }
    }
}
