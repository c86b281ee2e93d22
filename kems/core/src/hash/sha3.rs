//! SHA-3 and SHAKE (FIPS 202), byte-oriented.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{HashSuite, XofReader};
use crate::backends::keccak_f1600;

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
pub struct KeccakSponge<const RATE: usize, const SUFFIX: u8>(State<RATE>);

impl<const RATE: usize, const SUFFIX: u8> KeccakSponge<RATE, SUFFIX> {
    /// The empty message.
    pub const fn new() -> Self {
        Self(State {
            lanes: [0; 25],
            position: 0,
        })
    }

    /// Appends to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0.xor(byte);
            if self.0.advance() {
                keccak_f1600(&mut self.0.lanes);
            }
        }
    }

    /// Ends the message.
    pub fn finalize(mut self) -> KeccakReader<RATE> {
        self.0.xor(SUFFIX);
        self.0.position = RATE - 1;
        self.0.xor(0x80);
        // The reader permutes before its first byte.
        self.0.position = 0;
        KeccakReader(self.0.clone())
    }

    /// Ends the message and takes `out.len()` bytes.
    pub fn digest(parts: &[&[u8]], out: &mut [u8]) {
        Self::absorb_all(parts).read(out);
    }

    /// Absorbs the concatenation of `parts`.
    pub fn absorb_all(parts: &[&[u8]]) -> KeccakReader<RATE> {
        let mut sponge = Self::new();
        parts.iter().for_each(|part| sponge.update(part));
        sponge.finalize()
    }
}

impl<const RATE: usize, const SUFFIX: u8> Default for KeccakSponge<RATE, SUFFIX> {
    fn default() -> Self {
        Self::new()
    }
}

/// The squeezing side of a Keccak sponge.
pub struct KeccakReader<const RATE: usize>(State<RATE>);

impl<const RATE: usize> XofReader for KeccakReader<RATE> {
    fn read(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.0.position == 0 {
                keccak_f1600(&mut self.0.lanes);
            }
            *byte = self.0.byte();
            self.0.advance();
        }
    }
}

#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct State<const RATE: usize> {
    lanes: [u64; 25],
    /// Next byte of the rate, below `RATE`.
    position: usize,
}

impl<const RATE: usize> State<RATE> {
    fn xor(&mut self, byte: u8) {
        self.lanes[self.position / 8] ^= u64::from(byte) << (8 * (self.position % 8));
    }

    fn byte(&self) -> u8 {
        (self.lanes[self.position / 8] >> (8 * (self.position % 8))) as u8
    }

    /// True at the end of a block.
    fn advance(&mut self) -> bool {
        self.position = (self.position + 1) % RATE;
        self.position == 0
    }
}
