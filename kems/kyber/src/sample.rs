use kem_core::hash::{Shake128, Shake256};
use kem_core::sample::{cbd, uniform_12bit};

use crate::poly::{Poly, Q};

/// Entry (i, j) of the public matrix, in T_q: SampleNTT(rho | j | i), **column first** (FIPS 203 sections 4.2.2 and 5.1).
/// Out: 0 <= c < Q.
pub(crate) fn matrix_entry(rho: &[u8; 32], i: u8, j: u8, out: &mut Poly) {
    uniform_12bit::<Q>(&mut Shake128::absorb_all(&[rho, &[j, i]]), &mut out.0);
}

/// A centred binomial law.
pub trait Eta {
    /// SamplePolyCBD(PRF(seed, nonce)) (FIPS 203 sections 4.1 and 4.2.2). Out: |c| <= eta.
    fn sample(seed: &[u8; 32], nonce: u8, out: &mut Poly);
}

/// The law with parameter eta = `ETA`.
pub enum Cbd<const ETA: usize> {}

impl<const ETA: usize> Eta for Cbd<ETA> {
    fn sample(seed: &[u8; 32], nonce: u8, out: &mut Poly) {
        cbd::<ETA>(&mut Shake256::absorb_all(&[seed, &[nonce]]), &mut out.0);
    }
}
