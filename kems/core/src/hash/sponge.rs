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

    pub(super) fn absorb(&mut self, bytes: &[u8]) {
        absorb(&mut self.state, &mut self.position, RATE, bytes);
    }

    /// Ends the message: `suffix` goes to the next byte, `last` to the last byte of the block.
    pub(super) fn pad(&mut self, suffix: u8, last: u8) {
        self.state.xor_byte(self.position, suffix);
        self.state.xor_byte(RATE - 1, last);
        self.position = RATE;
    }

    pub(super) fn squeeze(&mut self, out: &mut [u8]) {
        squeeze(&mut self.state, &mut self.position, RATE, out);
    }
}

/// One code for every rate where flash is scarce.
#[cfg_attr(target_arch = "avr", inline(never))]
#[cfg_attr(not(target_arch = "avr"), inline(always))]
fn absorb<P: Permutation>(state: &mut P, position: &mut usize, rate: usize, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (now, rest) = bytes.split_at(bytes.len().min(rate - *position));
        state.xor_bytes(*position, now);
        *position += now.len();
        bytes = rest;
        if *position == rate {
            state.permute();
            *position = 0;
        }
    }
}

/// As [`absorb`].
#[cfg_attr(target_arch = "avr", inline(never))]
#[cfg_attr(not(target_arch = "avr"), inline(always))]
fn squeeze<P: Permutation>(state: &mut P, position: &mut usize, rate: usize, mut out: &mut [u8]) {
    while !out.is_empty() {
        if *position == rate {
            state.permute();
            *position = 0;
        }
        let (now, rest) = out.split_at_mut(out.len().min(rate - *position));
        state.copy_bytes(*position, now);
        *position += now.len();
        out = rest;
    }
}
