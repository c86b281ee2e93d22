//! The choice between two forms of the same product.

use super::{Tmvp, sealed};
use crate::params::Params;

/// On the words of `pairs`, with assembly.
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
impl sealed::Multiply for Tmvp {
    type Scratch<P: Params> = P::Toeplitz;

    fn scratch<P: Params>() -> P::Toeplitz {
        super::pairs::Product::NEW
    }

    fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::Toeplitz) {
        super::pairs::Product::multiply(scratch, a.as_mut(), b.as_ref());
    }
}

/// In a form that compilers find vectors in.
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
impl sealed::Multiply for Tmvp {
    type Scratch<P: Params> = P::Scratch;

    fn scratch<P: Params>() -> P::Scratch {
        P::SCRATCH
    }

    fn multiply<P: Params>(a: &mut P::Poly, b: &P::Poly, scratch: &mut P::Scratch) {
        halves::multiply(a.as_mut(), b.as_ref(), scratch.as_mut());
    }
}

#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod halves;
