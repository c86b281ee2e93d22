//! The hash functions as a type parameter.

mod iccs;

use kem_core::hash::{KeccakReader, Shake256 as Sponge, XofReader};

pub use iccs::{Iccs, IccsReader};

/// The two functions that the scheme hashes with.
pub trait Symmetric {
    /// Output of [`Symmetric::xof`].
    type Reader: XofReader;

    /// Digest of the concatenation of `parts`; `out` has 32, 64 or 128 bytes.
    fn digest(parts: &[&[u8]], out: &mut [u8]);

    /// Extendable output of the concatenation of `parts`.
    fn xof(parts: &[&[u8]]) -> Self::Reader;
}

/// SHAKE256 in both roles. Not part of the submission, and what there is instead of placeholders.
pub enum Shake256 {}

impl Symmetric for Shake256 {
    type Reader = KeccakReader<136>;

    fn digest(parts: &[&[u8]], out: &mut [u8]) {
        Sponge::digest(parts, out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        Sponge::absorb_all(parts)
    }
}
