//! Polynomials of Z_769\[x\]/(x^512 + 1) and the parameters of their transform (specification section 4).

use kem_core::modular::Zq;
use kem_core::ntt::twiddles;

/// Coefficients of a polynomial.
pub(crate) const N: usize = 512;
/// The modulus q.
pub(crate) const Q: i16 = 769;
/// The transform stops at blocks of this many coefficients.
pub(crate) const BLOCK: usize = 8;

/// zeta_k = 5^brv6(k) in the Montgomery domain. Blocks 2i and 2i + 1 of the transform live modulo x^8 - zeta_(32 + i) and
/// x^8 + zeta_(32 + i).
pub(crate) static ZETAS: [i16; N / BLOCK] = twiddles::<Q, { N / BLOCK }>(5);

/// 512 coefficients, lowest first; each function says in which range. Wiped on drop: most polynomials here are secret.
///
/// Aligned so that a backend may take coefficients in pairs.
#[cfg_attr(not(target_arch = "avr"), derive(zeroize::Zeroize, zeroize::ZeroizeOnDrop))]
#[repr(align(4))]
pub(crate) struct Poly(pub(crate) [i16; N]);

impl Poly {
    pub(crate) const ZERO: Self = Self([0; N]);

    /// The same, filled in place where that is cheaper than a copy.
    #[cfg(not(target_arch = "avr"))]
    #[inline(always)]
    pub(crate) const fn zeroed() -> Self {
        Self::ZERO
    }
}

/// R^2 / 64 modulo Q: undoes the doubling of six layers and the 1 / R of a block product, as factor of a Montgomery product.
pub(crate) const fn unscale<const Q: i16>() -> i16 {
    let doubled = Zq::<Q>::to_montgomery((N / BLOCK) as i16);
    Zq::<Q>::to_montgomery(Zq::<Q>::pow(doubled, Q as u16 - 2))
}
