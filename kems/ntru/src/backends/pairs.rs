//! Two coefficients modulo 2^16 in a word, the first one in the low half: what the DSP instructions of a Cortex-M4 work on, with
//! the same in plain Rust elsewhere.

#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
mod points;
pub(crate) mod toeplitz;
pub(crate) mod toom;

use zeroize::Zeroize;

/// As many words as pairs.
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
pub(crate) use super::cortex_m4::memory::copy;
/// One instruction each.
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use kem_core::packed::add;
#[cfg(all(cortex_m4, not(cortex_m4_fpu), not(kemqtt_portable)))]
pub(crate) use kem_core::packed::sub;
#[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
pub(crate) use portable::{add, sub};

/// Points where factors in four parts are evaluated; see `points`.
const POINTS: usize = 7;

/// A multiplication and its memory, in which secrets stay.
pub trait Product: Zeroize {
    const NEW: Self;

    /// `a` becomes `a` * `b` modulo x^n - 1 and q. In: n coefficients in both.
    fn multiply(&mut self, a: &mut [u16], b: &[u16]);
}

/// `p` in pairs, followed by zeros.
pub(crate) fn load(words: &mut [u32], p: &[u16]) {
    let (pairs, rest) = p.as_chunks();
    let (full, padding) = words.split_at_mut(pairs.len());
    copy(full, pairs);
    padding.fill(0);
    if let (Some(word), Some(&last)) = (padding.first_mut(), rest.first()) {
        *word = last.into();
    }
}

/// The first coefficients of `words`, as many as `p` has.
pub(crate) fn store(p: &mut [u16], mut words: impl Iterator<Item = u32>) {
    let (pairs, rest) = p.as_chunks_mut();
    for (pair, word) in pairs.iter_mut().zip(&mut words) {
        *pair = [word as u16, (word >> 16) as u16];
    }
    for (last, word) in rest.iter_mut().zip(words) {
        *last = word as u16;
    }
}

#[inline(always)]
pub(crate) fn join([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// As many words as pairs.
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
fn copy(words: &mut [u32], pairs: &[[u16; 2]]) {
    for (word, pair) in words.iter_mut().zip(pairs) {
        *word = join(*pair);
    }
}

/// Coefficient `i`.
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
fn half(words: &[u32], i: usize) -> u16 {
    (words[i / 2] >> (16 * (i % 2))) as u16
}

#[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
mod portable {
    pub(crate) fn add(a: u32, b: u32) -> u32 {
        halves(a, b, u16::wrapping_add)
    }

    pub(crate) fn sub(a: u32, b: u32) -> u32 {
        halves(a, b, u16::wrapping_sub)
    }

    pub(super) fn halves(a: u32, b: u32, operation: fn(u16, u16) -> u16) -> u32 {
        super::join([
            operation(a as u16, b as u16),
            operation((a >> 16) as u16, (b >> 16) as u16),
        ])
    }
}
