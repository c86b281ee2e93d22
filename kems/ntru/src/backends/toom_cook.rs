use super::pairs::Product;
use super::{ToomCook, sealed};
use crate::params::Params;

impl sealed::Multiply for ToomCook {
    type Scratch<P: Params> = P::ToomCook;

    fn scratch<P: Params>() -> P::ToomCook {
        P::ToomCook::NEW
    }

    fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::ToomCook) {
        scratch.multiply(a.as_mut(), b.as_ref());
    }
}
