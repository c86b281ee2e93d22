//! Arithmetic on polynomials of n coefficients.
//!
//! Modulo q they are kept in 16 bits, of which the low ones count. Modulo 3 they are 0, 1 or 2, which stands for -1.

use zeroize::Zeroizing;

use crate::backends::Multiply;
use crate::invert::{F2, invert};
use crate::params::{Params, Set};

/// A secret polynomial, wiped on drop.
pub(crate) type Poly<P> = Zeroizing<<P as crate::params::sealed::Widths>::Poly>;

/// All zero.
pub(crate) fn zero<P: Params>() -> Poly<P> {
    Zeroizing::new(P::POLY)
}

/// Products modulo x^n - 1, and the memory they need.
pub(crate) struct Ring<P: Params, M: Multiply> {
    scratch: Zeroizing<M::Scratch<P>>,
}

impl<P: Params, M: Multiply> Ring<P, M> {
    pub(crate) fn new() -> Self {
        Self {
            scratch: Zeroizing::new(M::scratch::<P>()),
        }
    }

    /// `a` becomes `a` * `b` modulo x^n - 1 and q.
    pub(crate) fn mul(&mut self, a: &mut P::Poly, b: &P::Poly) {
        M::multiply::<P>(a, b, &mut self.scratch);
    }

    /// The same where all coefficients of `a` are -1, 0 or 1.
    pub(crate) fn mul_ternary(&mut self, a: &mut P::Poly, b: &P::Poly) {
        M::multiply_ternary::<P>(a, b, &mut self.scratch);
    }

    /// `a` becomes `a` * `b` modulo 3 and Phi, `b` is lifted to modulo q.
    pub(crate) fn mul_mod_3(&mut self, a: &mut P::Poly, b: &mut P::Poly) {
        // Sums of n products -1, 0 or 1 are their own remainders modulo q.
        const { assert!(2 * P::N < 1 << P::LOG_Q) };
        lift(a.as_mut());
        lift(b.as_mut());
        self.mul_ternary(a, b);
        centred_mod_3::<P>(a.as_mut());
    }

    /// `out` = 1 / `a` modulo Phi and q, not reduced modulo Phi. In: not zero modulo 2 and Phi.
    pub(crate) fn invert(&mut self, a: &P::Poly, out: &mut P::Poly) {
        let mut p = Zeroizing::new(*a);
        reduce_phi((*p).as_mut());
        (*p).as_mut().iter_mut().for_each(|c| *c &= 1);
        invert::<P, F2>((*p).as_ref(), out.as_mut());
        // Newton's iteration doubles the bits that are right: 1, 2, 4, 8, 16.
        for _ in 0..4 {
            *p = *a;
            self.mul(&mut p, out);
            (*p).as_mut().iter_mut().for_each(|c| *c = c.wrapping_neg());
            let constant = &mut (*p).as_mut()[0];
            *constant = constant.wrapping_add(2);
            self.mul(out, &p);
        }
    }
}

/// Reduces modulo Phi, which x^(n-1) = -(1 + x + .. + x^(n-2)) is: the last coefficient becomes zero.
pub(crate) fn reduce_phi(p: &mut [u16]) {
    let last = p[p.len() - 1];
    p.iter_mut().for_each(|c| *c = c.wrapping_sub(last));
}

/// The same modulo 3. In and out: 0, 1 or 2.
pub(crate) fn reduce_phi_mod_3(p: &mut [u16]) {
    let last = p[p.len() - 1];
    p.iter_mut().for_each(|c| *c = mod_3(*c + 3 - last));
}

/// From modulo q, coefficients taken from -q/2 to q/2 - 1, to modulo 3 and Phi.
pub(crate) fn centred_mod_3<P: Params>(p: &mut [u16]) {
    const { assert!(3 * CENTRE >= 1 << (P::LOG_Q - 1)) };
    let unused = 16 - P::LOG_Q;
    for c in p.iter_mut() {
        let centred = (*c << unused) as i16 >> unused;
        *c = mod_3((centred + 3 * CENTRE) as u16);
    }
    reduce_phi_mod_3(p);
}

/// From modulo 3 to modulo q: 2 becomes -1.
pub(crate) fn lift(p: &mut [u16]) {
    p.iter_mut().for_each(|c| *c = centre(*c));
}

/// From modulo q to modulo 3 if all coefficients are 0, 1 or -1; bit 15 of the result tells that one is not. What the
/// coefficients become then has no meaning.
pub(crate) fn ternary<P: Params>(p: &mut [u16]) -> u16 {
    let mut outside = 0;
    for c in p {
        let reduced = *c & Set::<P>::Q_MASK;
        outside |= 2u16.wrapping_sub(c.wrapping_add(1) & Set::<P>::Q_MASK);
        *c = (reduced & 1) + (reduced >> (P::LOG_Q - 1) & reduced & 1);
    }
    outside
}

/// 0, 1, -1 for 0, 1, 2.
pub(crate) fn centre(trit: u16) -> u16 {
    trit.wrapping_sub(3 * (trit >> 1))
}

/// Remainder without a division, whose time may depend on its operands.
pub(crate) fn mod_3(c: u16) -> u16 {
    c - 3 * div_3(c)
}

/// Quotient without a division.
pub(crate) fn div_3(c: u16) -> u16 {
    // 0xaaab / 2^17 exceeds 1/3 by less than 2^-18: right for every 16-bit c.
    ((u32::from(c) * 0xaaab) >> 17) as u16
}

/// Times 3 not below q/2 for any q here.
const CENTRE: i16 = 1366;

#[cfg(test)]
mod tests;
