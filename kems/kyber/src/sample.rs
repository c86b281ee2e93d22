use kem_core::hash::{Shake128, Shake256, XofReader};
use zeroize::Zeroize;

use crate::backends::{Arith, Native, convert};
use crate::poly::Poly;

/// A public matrix, whose entries are asked for row by row.
pub trait Matrix {
    /// `acc` += entry (i, j) times `b` in T_q.
    fn product(&mut self, acc: &mut Poly, place: [u8; 2], b: &Poly);
}

/// Which matrix a seed stands for.
#[derive(Clone, Copy)]
pub enum Orientation {
    /// A, of key generation.
    Plain,
    /// Its transpose, of encryption.
    Transposed,
}

impl Orientation {
    /// What follows rho for entry (i, j): **column first** (FIPS 203 sections 4.2.2 and 5.1).
    #[inline(always)]
    pub(crate) fn index(self, [i, j]: [u8; 2]) -> [u8; 2] {
        match self {
            Self::Plain => [j, i],
            Self::Transposed => [i, j],
        }
    }
}

/// Polynomials of centred binomial laws, whose nonces are asked for in order.
pub trait Noise {
    /// Adds SamplePolyCBD(PRF(seed, nonce)) (sections 4.1 and 4.2.2) for eta = `ETA`: |c| <= eta.
    fn add<const ETA: usize>(&mut self, nonce: u8, out: &mut Poly);
}

/// A matrix of which no entry is ever stored.
pub(crate) struct EntryByEntry<'a> {
    pub(crate) rho: &'a [u8; 32],
    pub(crate) orientation: Orientation,
}

impl Matrix for EntryByEntry<'_> {
    #[inline(always)]
    fn product(&mut self, acc: &mut Poly, place: [u8; 2], b: &Poly) {
        matrix_product(acc, self.rho, self.orientation.index(place), b);
    }
}

#[inline(never)]
fn matrix_product(acc: &mut Poly, rho: &[u8; 32], index: [u8; 2], b: &Poly) {
    matrix_entry(rho, index, |first, a| Native.basemul_acc(acc, a, b, first));
}

/// SampleNTT(rho | index) in pieces with the index of their first coefficient, 0 <= c < Q.
#[inline(always)]
fn matrix_entry(rho: &[u8; 32], index: [u8; 2], take: impl FnMut(usize, &[i16])) {
    Shake128::read_with(&[rho, &index], |stream| convert::uniform(stream, take));
}

/// Noise of one stream after the other.
pub(crate) struct StreamByStream<'a> {
    pub(crate) seed: &'a [u8; 32],
}

impl Noise for StreamByStream<'_> {
    #[inline(always)]
    fn add<const ETA: usize>(&mut self, nonce: u8, out: &mut Poly) {
        add_stream::<ETA>(self.seed, nonce, out);
    }
}

#[inline(never)]
fn add_stream<const ETA: usize>(seed: &[u8; 32], nonce: u8, out: &mut Poly) {
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

/// A centred binomial law.
pub trait Eta {
    /// Its polynomial for this nonce. Out: |c| <= eta.
    fn sample(noise: &mut impl Noise, nonce: u8, out: &mut Poly) {
        out.0.fill(0);
        Self::add(noise, nonce, out);
    }

    /// Adds that polynomial.
    fn add(noise: &mut impl Noise, nonce: u8, out: &mut Poly);
}

/// The law with parameter eta = `ETA`.
pub enum Cbd<const ETA: usize> {}

impl<const ETA: usize> Eta for Cbd<ETA> {
    #[inline(always)]
    fn add(noise: &mut impl Noise, nonce: u8, out: &mut Poly) {
        noise.add::<ETA>(nonce, out);
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
    use crate::backends::Backend;
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
        let rho = Bytes::from_slice(&rho).expect("32 bytes");
        let sigma = Bytes::from_slice(&sigma).expect("32 bytes");
        let mut p = Poly::ZERO;
        for (i, j) in [(0, 0), (0, 1), (1, 0)] {
            matrix_entry(rho, Orientation::Plain.index([i, j]), |first, a| {
                p.0[first..][..a.len()].copy_from_slice(a);
            });
            starts_with(&p, &values[std::format!("A_hat_{i}_{j}_first8")]);
        }
        E::sample(&mut Native.noise(sigma, 0..1), 0, &mut p);
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
