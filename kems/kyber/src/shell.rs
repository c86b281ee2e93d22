use kem_core::hash::{Sha3_256, Sha3_512, Shake256};
use kem_core::rand_core::CryptoRng;
use kem_core::{InvalidKey, SharedSecret};
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

use crate::backends::Backend;
use crate::params::Params;
use crate::poly::POLY_LEN;

/// The KEM around K-PKE: the only place where FIPS 203 and round 3 differ. [`Fips203`] and [`Round3`] are the only ones.
pub trait Shell: Steps {}

/// ML-KEM as standardised.
pub enum Fips203 {}

/// CRYSTALS-Kyber as submitted to round 3 of the NIST process.
pub enum Round3 {}

impl Shell for Fips203 {}
impl Shell for Round3 {}

/// The steps behind [`Shell`]; not exported, so that nobody makes another shell.
pub trait Steps {
    /// Draws d | z.
    fn draw(rng: &mut impl CryptoRng, coins: &mut [u8; 64]);
    /// rho | sigma from d.
    fn expand<P: Params>(d: &[u8; 32], seeds: &mut [u8; 64]);
    /// The message from the random bytes of an encapsulation.
    fn message(coins: &[u8; 32]) -> Zeroizing<[u8; 32]>;
    /// The shared secret of the sender from the first half of G.
    fn accept(k: &[u8; 32], ct: &[u8], ss: &mut SharedSecret);
    /// The shared secret of the receiver: of `k` if the re-encryption `matched`, else of `z`.
    fn settle(k: &[u8; 32], z: &[u8], ct: &[u8], matched: Choice, ss: &mut SharedSecret);
    /// Checks t_hat | rho.
    fn check_ek<P: Params>(backend: impl Backend, ek: &[u8]) -> Result<(), InvalidKey>;
    /// Checks ek and its stored hash.
    fn check_dk(ek: &[u8], h: &[u8]) -> Result<(), InvalidKey>;
}

impl Steps for Fips203 {
    fn draw(rng: &mut impl CryptoRng, coins: &mut [u8; 64]) {
        rng.fill_bytes(coins);
    }

    /// Algorithm 13 line 1: k goes in as one byte, so that a seed cannot serve two parameter sets.
    fn expand<P: Params>(d: &[u8; 32], seeds: &mut [u8; 64]) {
        hash_g(&[d, &[P::K as u8]], seeds);
    }

    fn message(coins: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*coins)
    }

    fn accept(k: &[u8; 32], _ct: &[u8], ss: &mut SharedSecret) {
        *ss.expose_mut() = *k;
    }

    /// Algorithm 18 lines 7 to 11.
    fn settle(k: &[u8; 32], z: &[u8], ct: &[u8], matched: Choice, ss: &mut SharedSecret) {
        derive(&[z, ct], ss);
        ss.conditional_assign(k, matched);
    }

    /// Section 7.2.
    fn check_ek<P: Params>(backend: impl Backend, ek: &[u8]) -> Result<(), InvalidKey> {
        if backend.is_canonical(&ek[..P::K * POLY_LEN]) {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    /// Section 7.3.
    fn check_dk(ek: &[u8], h: &[u8]) -> Result<(), InvalidKey> {
        let mut expected = [0; 32];
        hash_h(ek, &mut expected);
        if expected == *h { Ok(()) } else { Err(InvalidKey) }
    }
}

impl Steps for Round3 {
    /// Two requests, which is not the same as one for a generator that reseeds itself after each.
    fn draw(rng: &mut impl CryptoRng, coins: &mut [u8; 64]) {
        coins
            .as_chunks_mut::<32>()
            .0
            .iter_mut()
            .for_each(|half| rng.fill_bytes(half));
    }

    fn expand<P: Params>(d: &[u8; 32], seeds: &mut [u8; 64]) {
        hash_g(&[d], seeds);
    }

    /// Hashed, so that the generator's own bytes never go out.
    fn message(coins: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        let mut m = Zeroizing::new([0; 32]);
        hash_h(coins, &mut *m);
        m
    }

    fn accept(k: &[u8; 32], ct: &[u8], ss: &mut SharedSecret) {
        let mut h = [0; 32];
        hash_h(ct, &mut h);
        derive(&[k, &h], ss);
    }

    fn settle(k: &[u8; 32], z: &[u8], ct: &[u8], matched: Choice, ss: &mut SharedSecret) {
        let mut key = Zeroizing::new([0; 32]);
        for ((key, k), z) in key.iter_mut().zip(k).zip(z) {
            *key = u8::conditional_select(z, k, matched);
        }
        Self::accept(&key, ct, ss);
    }

    fn check_ek<P: Params>(_backend: impl Backend, _ek: &[u8]) -> Result<(), InvalidKey> {
        Ok(())
    }

    fn check_dk(_ek: &[u8], _h: &[u8]) -> Result<(), InvalidKey> {
        Ok(())
    }
}

/// G. Not inlined, like the other two, so that the state is on the stack for no longer than the hash runs.
#[inline(never)]
pub(crate) fn hash_g(parts: &[&[u8]], out: &mut [u8; 64]) {
    Sha3_512::digest(parts, out);
}

/// H; 32 bytes.
#[inline(never)]
pub(crate) fn hash_h(bytes: &[u8], out: &mut [u8]) {
    Sha3_256::digest(&[bytes], out);
}

/// J of FIPS 203, KDF of round 3.
#[inline(never)]
fn derive(parts: &[&[u8]], ss: &mut SharedSecret) {
    Shake256::digest(parts, ss.expose_mut());
}
