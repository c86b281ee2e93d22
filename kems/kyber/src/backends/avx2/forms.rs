//! Changes of form: the portable code, which the compiler turns into vector instructions where it may use them.

use kem_core::modular::Zq;
use kem_core::ntt::scale;

use super::Coefficients;
use crate::convert;
use crate::poly::Q;

#[target_feature(enable = "avx2")]
pub(super) fn lift(p: &mut Coefficients) {
    scale::<Q>(p, 1);
}

#[target_feature(enable = "avx2")]
pub(super) fn standard_sum(p: &mut Coefficients) {
    scale::<Q>(p, Zq::<Q>::R2);
    freeze(p);
}

#[target_feature(enable = "avx2")]
pub(super) fn freeze(p: &mut Coefficients) {
    for c in p {
        *c = Zq::<Q>::freeze(*c);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn add_message(p: &mut Coefficients, m: &[u8; 32]) {
    convert::add_message(p, m);
}

#[target_feature(enable = "avx2")]
pub(super) fn message_of(p: &Coefficients, m: &mut [u8; 32]) {
    convert::message_of(p, m);
}
