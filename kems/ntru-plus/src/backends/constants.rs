use crate::{
    field::{F, invert},
    params::Params,
};

/// Of the layers that are not of radix 2.
pub(super) struct Constants<P>(core::marker::PhantomData<P>);

/// All times 2^16, centred, from z = zeta^(order/6), a primitive sixth root of unity.
impl<P: Params> Constants<P> {
    /// omega = z^2.
    pub(super) const OMEGA: i16 = F::barrett(F::mul(P::ZETAS[1], P::ZETAS[1]));
    /// 1 / (z - z^5), where z^5 = 1 - z.
    pub(super) const SPECIAL: i16 = F::barrett(invert(F::barrett(2 * P::ZETAS[1] - F::R)));
    /// 1 / (n/d): what the layers gather.
    pub(super) const SCALE: i16 = F::barrett(invert(F::to_montgomery((P::N / P::LEAF) as i16)));
}
