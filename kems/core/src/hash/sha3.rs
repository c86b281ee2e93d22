//! SHA-3 and SHAKE (FIPS 202), byte-oriented.

use super::sponge::Sponge;
use super::{HashSuite, XofReader};
use crate::permutation::{Keccak, Permutation};

/// SHA3-512 and SHAKE256.
pub enum Sha3 {}

impl HashSuite for Sha3 {
    type Reader = KeccakReader<136>;

    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]) {
        Sha3_512::digest(parts, out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        Shake256::absorb_all(parts)
    }
}

/// SHA3-256.
pub type Sha3_256 = KeccakSponge<136, 0x06>;
/// SHA3-512.
pub type Sha3_512 = KeccakSponge<72, 0x06>;
/// SHAKE128.
pub type Shake128 = KeccakSponge<168, 0x1f>;
/// SHAKE256.
pub type Shake256 = KeccakSponge<136, 0x1f>;

/// The absorbing side of a Keccak\[1600\] sponge: rate in bytes, and the domain bits with the first padding bit.
#[derive(Clone)]
pub struct KeccakSponge<const RATE: usize, const SUFFIX: u8>(Sponge<Keccak, RATE>);

impl<const RATE: usize, const SUFFIX: u8> KeccakSponge<RATE, SUFFIX> {
    /// The empty message.
    pub const fn new() -> Self {
        Self(Sponge::new(Keccak::ZERO))
    }

    /// Appends to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.absorb(bytes);
    }

    /// Ends the message.
    pub fn finalize(mut self) -> KeccakReader<RATE> {
        self.0.pad(SUFFIX, 0x80);
        KeccakReader(self.0)
    }

    /// Ends the message and reads where the state stands; as [`KeccakSponge::finalize`], without a copy.
    #[inline(always)]
    pub fn finalize_in_place(&mut self) -> KeccakBorrowed<'_, RATE> {
        self.0.pad(SUFFIX, 0x80);
        KeccakBorrowed(&mut self.0)
    }

    /// Ends the message and takes `out.len()` bytes.
    pub fn digest(parts: &[&[u8]], out: &mut [u8]) {
        Self::read_with(parts, |reader| reader.read(out));
    }

    /// Absorbs the concatenation of `parts` and reads where the state stands: small machines copy what a function returns.
    #[inline(always)]
    pub fn read_with<T>(parts: &[&[u8]], read: impl FnOnce(&mut KeccakReader<RATE>) -> T) -> T {
        let mut reader = KeccakReader(Sponge::new(Keccak::ZERO));
        parts.iter().for_each(|part| reader.0.absorb(part));
        reader.0.pad(SUFFIX, 0x80);
        read(&mut reader)
    }

    /// Absorbs the concatenation of `parts`.
    pub fn absorb_all(parts: &[&[u8]]) -> KeccakReader<RATE> {
        // One state from start to end: a sponge that becomes a reader is a copy of 200 bytes on small machines.
        let mut reader = KeccakReader(Sponge::new(Keccak::ZERO));
        parts.iter().for_each(|part| reader.0.absorb(part));
        reader.0.pad(SUFFIX, 0x80);
        reader
    }
}

impl<const RATE: usize, const SUFFIX: u8> Default for KeccakSponge<RATE, SUFFIX> {
    fn default() -> Self {
        Self::new()
    }
}

/// The squeezing side of a Keccak sponge.
pub struct KeccakReader<const RATE: usize>(Sponge<Keccak, RATE>);

/// The squeezing side of a Keccak sponge that somebody else owns.
pub struct KeccakBorrowed<'a, const RATE: usize>(&'a mut Sponge<Keccak, RATE>);

impl<const RATE: usize> XofReader for KeccakBorrowed<'_, RATE> {
    fn read(&mut self, out: &mut [u8]) {
        self.0.squeeze(out);
    }
}

impl<const RATE: usize> XofReader for KeccakReader<RATE> {
    fn read(&mut self, out: &mut [u8]) {
        self.0.squeeze(out);
    }
}
