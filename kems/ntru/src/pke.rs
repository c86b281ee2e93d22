//! The deterministic public-key encryption under the KEM (section 1.11): no message but r and m.

use kem_core::ct::Emit;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::backends::Multiply;
use crate::encoding::{pack_q, pack_trits, padding_is_zero, unpack_q, unpack_sum_zero, unpack_trits};
use crate::invert::{F3, invert};
use crate::params::{Params, trits_len};
use crate::ring::{self, Ring, centred_mod_3, lift, reduce_phi, zero};
use crate::variant::Variant;

/// The parts of a decapsulation key that decrypt.
pub(crate) struct Secret<'a> {
    /// f and 1 / f modulo 3, packed.
    pub(crate) f: &'a [u8],
    pub(crate) f_inverse: &'a [u8],
    /// 1 / h modulo q and Phi, packed.
    pub(crate) h_inverse: &'a [u8],
}

/// Writes h to `ek` and the three parts of the secret to `secret`. There is nothing to draw again: only zero
/// lacks an inverse.
pub(crate) fn keygen<P: Params, M: Multiply>(coins: &[u8], ek: &mut P::Ek, secret: &mut [u8]) {
    let (f_coins, g_coins) = coins.split_at(P::N - 1);
    let (f_bytes, rest) = secret.split_at_mut(trits_len::<P>());
    let (f_inverse_bytes, h_inverse_bytes) = rest.split_at_mut(trits_len::<P>());
    let (mut f, mut g, mut p, mut t) = (zero::<P>(), zero::<P>(), zero::<P>(), zero::<P>());
    let mut ring = Ring::<P, M>::new();

    P::Variant::sample_f(f_coins, (*f).as_mut());
    P::Variant::sample_g::<P>(g_coins, (*g).as_mut());
    invert::<P, F3>((*f).as_ref(), (*t).as_mut());
    pack_trits((*f).as_ref(), &mut Emit::new(f_bytes));
    pack_trits((*t).as_ref(), &mut Emit::new(f_inverse_bytes));
    lift((*f).as_mut());
    P::Variant::lift_g((*g).as_mut());

    // One inversion for both: t = 1 / (G f), h = t G^2, 1 / h = t f^2.
    *p = *f;
    ring.mul_ternary(&mut p, &g);
    ring.invert(&p, &mut t);
    *p = *t;
    ring.mul(&mut p, &g);
    ring.mul(&mut p, &g);
    pack_q::<P>((*p).as_ref(), &mut Emit::new(ek.as_mut()));
    ring.mul(&mut t, &f);
    ring.mul(&mut t, &f);
    reduce_phi((*t).as_mut());
    pack_q::<P>((*t).as_ref(), &mut Emit::new(h_inverse_bytes));
}

/// Writes c = r h + Lift(m) to `ct`, and r and m as they are hashed to `packed`.
pub(crate) fn encrypt<P: Params, M: Multiply>(coins: &[u8], ek: &P::Ek, ct: &mut P::Ct, packed: &mut [u8]) {
    let (r_coins, m_coins) = coins.split_at(P::N - 1);
    let (r_bytes, m_bytes) = packed.split_at_mut(trits_len::<P>());
    let (mut r, mut m, mut h) = (zero::<P>(), zero::<P>(), zero::<P>());

    crate::sample::ternary(r_coins, (*r).as_mut());
    P::Variant::sample_m::<P>(m_coins, (*m).as_mut());
    pack_trits((*r).as_ref(), &mut Emit::new(r_bytes));
    pack_trits((*m).as_ref(), &mut Emit::new(m_bytes));

    lift((*r).as_mut());
    unpack_sum_zero::<P>(ek.as_ref(), (*h).as_mut());
    Ring::<P, M>::new().mul_ternary(&mut r, &h);
    P::Variant::lift_m((*m).as_mut());
    for (c, m) in (*r).as_mut().iter_mut().zip((*m).as_ref()) {
        *c = c.wrapping_add(*m);
    }
    pack_q::<P>((*r).as_ref(), &mut Emit::new(ct.as_mut()));
}

/// Writes r and m to `packed`. 1 if an encryption of them is `ct`: m lies in the message space and r is ternary, so that no
/// second encryption is needed. Otherwise `packed` has no meaning.
pub(crate) fn decrypt<P: Params, M: Multiply>(secret: &Secret<'_>, ct: &P::Ct, packed: &mut [u8]) -> Choice {
    let (r_bytes, m_bytes) = packed.split_at_mut(trits_len::<P>());
    let (mut c, mut m, mut p) = (zero::<P>(), zero::<P>(), zero::<P>());
    let mut ring = Ring::<P, M>::new();

    unpack_sum_zero::<P>(ct.as_ref(), (*c).as_mut());
    unpack_trits(secret.f, (*m).as_mut());
    lift((*m).as_mut());
    ring.mul_ternary(&mut m, &c);
    centred_mod_3::<P>((*m).as_mut());
    unpack_trits(secret.f_inverse, (*p).as_mut());
    ring.mul_mod_3(&mut m, &mut p);
    pack_trits((*m).as_ref(), &mut Emit::new(m_bytes));
    let valid = padding_is_zero::<P>(ct.as_ref()) & P::Variant::is_message::<P>((*m).as_ref());

    P::Variant::lift_m((*m).as_mut());
    for (c, m) in (*c).as_mut().iter_mut().zip((*m).as_ref()) {
        *c = c.wrapping_sub(*m);
    }
    unpack_q::<P>(secret.h_inverse, (*p).as_mut());
    ring.mul(&mut c, &p);
    reduce_phi((*c).as_mut());
    let outside = ring::ternary::<P>((*c).as_mut());
    pack_trits((*c).as_ref(), &mut Emit::new(r_bytes));
    valid & (outside >> 15).ct_eq(&0)
}

/// 1 if f and its inverse modulo 3 are encoded as key generation encodes them and belong together.
pub(crate) fn is_consistent<P: Params, M: Multiply>(secret: &Secret<'_>) -> Choice {
    let (mut f, mut f_inverse) = (zero::<P>(), zero::<P>());
    let mut canonical = Choice::from(1);
    for (bytes, p) in [(secret.f, &mut f), (secret.f_inverse, &mut f_inverse)] {
        unpack_trits(bytes, (**p).as_mut());
        let mut again = Zeroizing::new(P::PACKED);
        let again = &mut (*again).as_mut()[..bytes.len()];
        pack_trits((**p).as_ref(), &mut Emit::new(again));
        canonical &= (*again).ct_eq(bytes);
    }
    Ring::<P, M>::new().mul_mod_3(&mut f, &mut f_inverse);
    let others = (*f).as_ref().iter().skip(1).fold(0, |any, c| any | c);
    canonical & others.ct_eq(&0) & (*f).as_ref()[0].ct_eq(&1)
}

#[cfg(test)]
mod tests;
