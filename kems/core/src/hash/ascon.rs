//! Ascon-XOF128 (NIST SP 800-232).

use super::sponge::Sponge;
use super::{HashSuite, XofReader};
use crate::permutation::{Ascon, Permutation};

/// Ascon-XOF128 in both roles.
pub enum AsconXof {}

impl HashSuite for AsconXof {
    type Reader = AsconReader;

    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]) {
        Self::xof(parts).read(out);
    }

    fn hash64_head(parts: &[&[u8]], out: &mut [u8; 32]) {
        Self::xof(parts).read(out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        let mut reader = AsconReader(empty());
        parts.iter().for_each(|part| reader.0.absorb(part));
        reader.0.pad(SUFFIX, 0);
        reader
    }
}

/// The absorbing side of Ascon-XOF128.
#[derive(Clone)]
pub struct AsconXof128(Sponge<Ascon, 8>);

impl AsconXof128 {
    /// The empty message.
    pub fn new() -> Self {
        Self(empty())
    }

    /// Appends to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.absorb(bytes);
    }

    /// Ends the message.
    pub fn finalize(mut self) -> AsconReader {
        self.0.pad(SUFFIX, 0);
        AsconReader(self.0)
    }
}

impl Default for AsconXof128 {
    fn default() -> Self {
        Self::new()
    }
}

/// The squeezing side of Ascon-XOF128.
pub struct AsconReader(Sponge<Ascon, 8>);

impl XofReader for AsconReader {
    fn read(&mut self, out: &mut [u8]) {
        self.0.squeeze(out);
    }
}

fn empty() -> Sponge<Ascon, 8> {
    let mut state = Ascon::ZERO;
    for (i, word) in INITIAL.into_iter().enumerate() {
        state.xor(i, word);
    }
    Sponge::new(state)
}

/// The first padding bit.
const SUFFIX: u8 = 0x01;
/// Ascon-p\[12\] of the initial value 0x0000080000cc0003 (SP 800-232 section 5.2: variant, rounds, output length and rate of
/// Ascon-XOF128), which needs no message.
const INITIAL: [u64; 5] = [
    0xda82_ce76_8d94_47eb,
    0xcc7c_e6c7_5f1e_f969,
    0xe750_8fd7_8008_5631,
    0x0ee0_ea53_416b_58cc,
    0xe054_7524_db6f_0bde,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_state_is_the_permuted_initial_value() {
        let mut state = Ascon::ZERO;
        state.xor(0, 0x0000_0800_00cc_0003);
        state.permute();
        assert_eq!(core::array::from_fn(|i| state.lane(i)), INITIAL);
    }
}
