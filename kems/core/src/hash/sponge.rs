use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::permutation::Permutation;

/// Sponge with a rate of `RATE` bytes, a multiple of 8. First absorbs, then squeezes; [`Sponge::pad`] lies between.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct Sponge<P: Permutation, const RATE: usize> {
    state: P,
    /// Next byte of the rate. Below `RATE` while absorbing; `RATE` while squeezing means that no byte is left.
    position: usize,
}

impl<P: Permutation, const RATE: usize> Sponge<P, RATE> {
    pub(super) const fn new(state: P) -> Self {
        const { assert!(RATE.is_multiple_of(8) && RATE / 8 < P::LANES) };
        Self { state, position: 0 }
    }

    pub(super) fn absorb(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let offset = self.position % 8;
            let lane = self.position / 8;
            if offset == 0
                && let Some((word, rest)) = bytes.split_first_chunk()
            {
                self.state.xor(lane, u64::from_le_bytes(*word));
                self.position += 8;
                bytes = rest;
            } else {
                let (now, rest) = bytes.split_at(bytes.len().min(8 - offset));
                // Not a copy of so many bytes: that would be a call, with a frame larger than this one on small machines.
                let word = now.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                self.state.xor(lane, (0..offset).fold(word, |word, _| word << 8));
                self.position += now.len();
                bytes = rest;
            }
            if self.position == RATE {
                self.state.permute();
                self.position = 0;
            }
        }
    }

    /// Ends the message: `suffix` goes to the next byte, `last` to the last byte of the block.
    pub(super) fn pad(&mut self, suffix: u8, last: u8) {
        let first = u64::from(suffix) << (8 * (self.position % 8));
        self.state.xor(self.position / 8, first);
        self.state.xor(RATE / 8 - 1, u64::from(last) << 56);
        self.position = RATE;
    }

    pub(super) fn squeeze(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.position == RATE {
                self.state.permute();
                self.position = 0;
            }
            let offset = self.position % 8;
            let word = self.state.lane(self.position / 8).to_le_bytes();
            if offset == 0 && out.len() >= 8 {
                let (now, rest) = out.split_at_mut(8);
                now.copy_from_slice(&word);
                self.position += 8;
                out = rest;
            } else {
                let count = out.len().min(8 - offset);
                let (now, rest) = out.split_at_mut(count);
                now.copy_from_slice(&word[offset..][..count]);
                self.position += count;
                out = rest;
            }
        }
    }
}
