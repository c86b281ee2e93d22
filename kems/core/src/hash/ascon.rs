//! Ascon-XOF128 (NIST SP 800-232).

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{HashSuite, XofReader};
use crate::backends::ascon_p12;

/// Ascon-XOF128 in both roles.
pub enum AsconXof {}

impl HashSuite for AsconXof {
    type Reader = AsconReader;

    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]) {
        Self::xof(parts).read(out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        let mut sponge = AsconXof128::new();
        parts.iter().for_each(|part| sponge.update(part));
        sponge.finalize()
    }
}

/// The absorbing side of Ascon-XOF128.
pub struct AsconXof128(State);

impl AsconXof128 {
    /// The empty message.
    pub fn new() -> Self {
        let mut words = [IV, 0, 0, 0, 0];
        ascon_p12(&mut words);
        Self(State { words, position: 0 })
    }

    /// Appends to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0.xor(byte);
            if self.0.advance() {
                ascon_p12(&mut self.0.words);
            }
        }
    }

    /// Ends the message.
    pub fn finalize(mut self) -> AsconReader {
        self.0.xor(0x01);
        // The reader permutes before its first byte.
        self.0.position = 0;
        AsconReader(self.0.clone())
    }
}

impl Default for AsconXof128 {
    fn default() -> Self {
        Self::new()
    }
}

/// The squeezing side of Ascon-XOF128.
pub struct AsconReader(State);

impl XofReader for AsconReader {
    fn read(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.0.position == 0 {
                ascon_p12(&mut self.0.words);
            }
            *byte = (self.0.words[0] >> (8 * self.0.position)) as u8;
            self.0.advance();
        }
    }
}

#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct State {
    words: [u64; 5],
    /// Next byte of the rate, which is word 0.
    position: usize,
}

impl State {
    fn xor(&mut self, byte: u8) {
        self.words[0] ^= u64::from(byte) << (8 * self.position);
    }

    /// True at the end of a block.
    fn advance(&mut self) -> bool {
        self.position = (self.position + 1) % 8;
        self.position == 0
    }
}

/// SP 800-232 section 5.2: variant, rounds, output length and rate of Ascon-XOF128.
const IV: u64 = 0x0000_0800_00cc_0003;
