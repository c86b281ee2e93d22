use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::permutation::KeccakX4;

/// SHAKE128 of four messages.
pub type Shake128x4 = ShakeX4<168>;
/// SHAKE256 of four messages.
pub type Shake256x4 = ShakeX4<136>;

/// Four streams of SHAKE with a rate of `RATE` bytes, side by side: for the price of one to four, as the target has it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ShakeX4<const RATE: usize>(KeccakX4);

impl<const RATE: usize> ShakeX4<RATE> {
    /// Absorbs messages that are shorter than a block.
    pub fn absorb<const LEN: usize>(messages: &[[u8; LEN]; 4]) -> Self {
        const { assert!(LEN < RATE && RATE.is_multiple_of(8) && RATE < 200) };
        let mut state = KeccakX4::ZERO;
        for (stream, message) in messages.iter().enumerate() {
            let (words, rest) = message.as_chunks();
            for (i, word) in words.iter().enumerate() {
                state.xor(i, stream, u64::from_le_bytes(*word));
            }
            let last = rest
                .iter()
                .rev()
                .fold(SUFFIX, |last, &byte| last << 8 | u64::from(byte));
            state.xor(words.len(), stream, last);
            state.xor(RATE / 8 - 1, stream, 0x80 << 56);
        }
        Self(state)
    }

    /// The next block of every stream.
    pub fn squeeze(&mut self, blocks: [&mut [u8; RATE]; 4]) {
        self.0.permute();
        for (stream, block) in blocks.into_iter().enumerate() {
            for (i, word) in block.as_chunks_mut().0.iter_mut().enumerate() {
                *word = self.0.lane(i, stream).to_le_bytes();
            }
        }
    }
}

/// The domain bits with the first bit of the padding.
const SUFFIX: u64 = 0x1f;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Shake128, Shake256, XofReader};

    /// Against the sponge of one stream, whose answers are compared with another implementation.
    fn agrees<const RATE: usize, const LEN: usize>(single: impl Fn(&[u8], &mut [u8])) {
        let messages = core::array::from_fn(|stream| core::array::from_fn(|i| (37 * i + 101 * stream) as u8));
        let mut four = ShakeX4::<RATE>::absorb::<LEN>(&messages);
        let mut blocks = [[[0; RATE]; 4]; 3];
        for blocks in &mut blocks {
            four.squeeze(blocks.each_mut());
        }
        for (stream, message) in messages.iter().enumerate() {
            let mut expected = [[0; RATE]; 3];
            single(message, expected.as_flattened_mut());
            assert_eq!(
                blocks.map(|blocks| blocks[stream]),
                expected,
                "{LEN} bytes, stream {stream}"
            );
        }
    }

    #[test]
    fn every_stream_is_the_one_of_its_message() {
        agrees::<168, 0>(|message, out| Shake128::absorb_all(&[message]).read(out));
        agrees::<168, 34>(|message, out| Shake128::absorb_all(&[message]).read(out));
        agrees::<168, 160>(|message, out| Shake128::absorb_all(&[message]).read(out));
        agrees::<168, 167>(|message, out| Shake128::absorb_all(&[message]).read(out));
        agrees::<136, 33>(|message, out| Shake256::absorb_all(&[message]).read(out));
        agrees::<136, 135>(|message, out| Shake256::absorb_all(&[message]).read(out));
    }
}
