//! Wire formats. A profile says how bits and coefficients are laid out in bytes and how the key is hashed; the scheme
//! around it is the same.

use kem_core::hash::Shake256;
use sha2::{Digest, Sha256};

use crate::{field::F, params::sealed::Sealed};

/// A wire format of NTRU+. Keys and ciphertexts of one profile are noise to the other.
///
/// Sealed: [`Final`] and [`V2_2`] are all there are.
pub trait Profile: Sealed {
    /// How many 16-bit lanes the layout of bits and coefficients was made for; 1 is the plain order.
    const LANES: usize;
    /// Factor on h and 1/h wherever they are stored, centred modulo q.
    const KEY_FACTOR: i16;

    /// F(pk): the hash of an encapsulation key that decapsulation keys hold and messages are hashed with.
    fn hash_ek(ek: &[u8]) -> [u8; 32];
}

/// The final submission to the Korean Post-Quantum Cryptography competition (document of January 2026).
pub enum Final {}

impl Sealed for Final {}

impl Profile for Final {
    const LANES: usize = 1;
    const KEY_FACTOR: i16 = 1;

    fn hash_ek(ek: &[u8]) -> [u8; 32] {
        let mut hash = [0; 32];
        Shake256::digest(&[&[0], ek], &mut hash);
        hash
    }
}

/// Versions 2.2 and 2.2.1 of September 2025: a layout for vectors of sixteen 16-bit lanes, SHA-256, and keys in
/// Montgomery form.
pub enum V2_2 {}

impl Sealed for V2_2 {}

impl Profile for V2_2 {
    const LANES: usize = 16;
    const KEY_FACTOR: i16 = F::R;

    fn hash_ek(ek: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update([0]).chain_update(ek).finalize().into()
    }
}
