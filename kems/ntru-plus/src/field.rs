//! Arithmetic modulo q = 3457.

use kem_core::modular::Zq;

/// The modulus.
pub(crate) const Q: i16 = 3457;

/// The field.
pub(crate) type F = Zq<Q>;

/// 1 / a, and 0 for 0, by Fermat: the same work for every a. In: |a| < q in the Montgomery domain. Out: the same.
pub(crate) const fn invert(a: i16) -> i16 {
    F::pow(a, Q as u16 - 2)
}

/// The class modulo 3, in -1..=1. In: |a| <= q / 2, and a stands for the centred residue that it is.
#[inline(always)]
pub(crate) const fn mod3(a: i16) -> i16 {
    // a / 3 to the nearest is (a + 1) / 3 rounded down; 3 * 577 more keep it positive. 21846 = ceil(2^16 / 3).
    let quotient = (((a as i32 + 1 + 3 * 577) * 21846) >> 16) as i16 - 577;
    a - 3 * quotient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mod3_of_every_centred_residue() {
        for a in -Q / 2..=Q / 2 {
            let class = mod3(a);
            assert!((-1..=1).contains(&class), "mod3({a}) = {class}");
            assert_eq!((a - class) % 3, 0, "mod3({a}) = {class}");
        }
    }

    #[test]
    fn inverse_of_every_residue() {
        for a in 0..Q {
            let lifted = F::to_montgomery(a);
            let product = F::freeze(F::mul(F::mul(lifted, invert(lifted)), 1));
            assert_eq!(product, i16::from(a != 0), "inverse of {a}");
        }
    }
}
