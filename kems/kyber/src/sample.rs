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

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use kem_core::modular::Zq;
    use kem_core::testkit::File;
    use kem_core::{Bytes, testkit::Hex};

    use super::*;
    use crate::backends::{Arith, Native};

    fn intermediates(json: &str) -> serde_json::Value {
        let file: File = serde_json::from_str(json).expect("vector file parses");
        file.vectors[0].extra["intermediates"].clone()
    }

    fn starts_with(p: &Poly, expected: &serde_json::Value) {
        let expected: Vec<i16> = serde_json::from_value(expected.clone()).expect("numbers");
        let canonical: Vec<i16> = p.0[..expected.len()].iter().map(|&c| Zq::<Q>::freeze(c)).collect();
        assert_eq!(canonical, expected);
    }

    fn check<E: Eta>(json: &str) {
        let values = intermediates(json);
        let seed = |name: &str| serde_json::from_value::<Hex>(values[name].clone()).expect("hex");
        let (rho, sigma) = (seed("rho"), seed("sigma"));
        let mut p = Poly::ZERO;
        for (i, j) in [(0, 0), (0, 1), (1, 0)] {
            matrix_entry(Bytes::from_slice(&rho).expect("32 bytes"), i, j, &mut p);
            starts_with(&p, &values[std::format!("A_hat_{i}_{j}_first8")]);
        }
        E::sample(Bytes::from_slice(&sigma).expect("32 bytes"), 0, &mut p);
        starts_with(&p, &values["s0_first16_mod_q"]);
        Native.ntt(&mut p);
        starts_with(&p, &values["s0_hat_first8"]);
    }

    /// The matrix is not transposed, noise has the right bit order, and T_q the standard order.
    #[test]
    fn intermediate_values_of_the_vectors() {
        check::<Cbd<3>>(include_str!("../tests/vectors/ml-kem-512.json"));
        check::<Cbd<2>>(include_str!("../tests/vectors/ml-kem-768.json"));
        check::<Cbd<2>>(include_str!("../tests/vectors/ml-kem-1024.json"));
        check::<Cbd<3>>(include_str!("../tests/vectors/kyber512.json"));
    }
}
