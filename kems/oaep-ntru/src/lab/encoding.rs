//! Polynomials as bytes: CB bits per coefficient, or two bits for coefficients -1, 0, 1.

use kem_core::ct::Emit;
use subtle::{Choice, ConstantTimeLess};

use crate::lab::params::Params;

/// Bytes of an encoded polynomial.
pub(crate) const fn poly_len<P: Params>() -> usize {
    P::N * P::CB / 8
}

/// Writes canonical coefficients. In: centred.
pub(crate) fn encode<P: Params>(p: &[i16], bytes: &mut [u8]) {
    P::pack(p.iter().map(|&c| P::freeze(c) as u16), &mut Emit::new(bytes));
}

/// Reads coefficients, centred.
pub(crate) fn decode<P: Params>(bytes: &[u8]) -> impl Iterator<Item = i16> {
    P::unpack(bytes).map(|field| P::centre(field as i16))
}

/// 1 if every field is below q. Looks at all of them.
pub(crate) fn is_canonical<P: Params>(bytes: &[u8]) -> Choice {
    P::unpack(bytes).fold(Choice::from(1), |all, field| all & field.ct_lt(&(P::Q as u16)))
}

/// Writes coefficient `at` of a short polynomial. `bytes` was zero there.
pub(crate) fn put_short(bytes: &mut [u8], at: usize, c: i16) {
    bytes[at / 4] |= ((c + 1) as u8) << (2 * (at % 4));
}
