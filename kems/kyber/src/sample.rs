use kem_core::hash::{Shake128, Shake256, XofReader};
use zeroize::Zeroize;

use crate::backends::{Arith, convert};
use crate::poly::{Poly, decode};

/// `acc` += A_(i, j) b in T_q, without A_(i, j) ever being stored.
#[inline(never)]
pub(crate) fn matrix_product(arith: impl Arith, acc: &mut Poly, rho: &[u8; 32], [i, j]: [u8; 2], b: &Poly) {
    matrix_entry(rho, [i, j], |first, a| arith.basemul_acc(acc, a, b, first));
}

/// `acc` += a b in T_q for the 384 bytes of a.
#[inline(never)]
pub(crate) fn packed_product(arith: impl Arith, acc: &mut Poly, a: &[u8], b: &Poly) {
    decode(a, |first, a| arith.basemul_acc(acc, a, b, first));
}

/// Entry (i, j) of the public matrix, in T_q: SampleNTT(rho | j | i), **column first** (FIPS 203 sections 4.2.2 and 5.1), in
/// pieces with the index of their first coefficient, 0 <= c < Q.
#[inline(always)]
fn matrix_entry(rho: &[u8; 32], [i, j]: [u8; 2], take: impl FnMut(usize, &[i16])) {
    Shake128::read_with(&[rho, &[j, i]], |stream| convert::uniform(stream, take));
}

/// A centred binomial law.
pub trait Eta {
    /// SamplePolyCBD(PRF(seed, nonce)) (FIPS 203 sections 4.1 and 4.2.2). Out: |c| <= eta.
    fn sample(seed: &[u8; 32], nonce: u8, out: &mut Poly) {
        out.0.fill(0);
        Self::add(seed, nonce, out);
    }

    /// Adds such a polynomial.
    fn add(seed: &[u8; 32], nonce: u8, out: &mut Poly);
}

/// The law with parameter eta = `ETA`.
pub enum Cbd<const ETA: usize> {}

impl<const ETA: usize> Eta for Cbd<ETA> {
    #[inline(never)]
    fn add(seed: &[u8; 32], nonce: u8, out: &mut Poly) {
        Shake256::read_with(&[seed, &[nonce]], |stream| {
            // Whole lanes of the sponge at a time.
            let mut bytes = [[0; ETA]; 8];
            for block in out.0.as_chunks_mut().0 {
                stream.read(bytes.as_flattened_mut());
                convert::add_noise(block, &bytes);
            }
            bytes.zeroize();
        });
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
    use crate::backends::Native;
    use crate::poly::Q;

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
            matrix_entry(Bytes::from_slice(&rho).expect("32 bytes"), [i, j], |first, a| {
                p.0[first..][..a.len()].copy_from_slice(a);
            });
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
