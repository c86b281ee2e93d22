//! Two coefficients modulo 2^16 in a word, the first one in the low half: what the DSP instructions of a Cortex-M4 work on, with
//! the same in plain Rust elsewhere.

pub(crate) mod toeplitz;

use zeroize::Zeroize;

/// One instruction each.
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use kem_core::packed::{add, sub};
#[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
pub(crate) use portable::{add, sub};

/// A multiplication and its memory, in which secrets stay.
pub trait Product: Zeroize {
    const NEW: Self;

    /// `a` becomes `a` * `b` modulo x^n - 1 and q. In: n coefficients in both.
    fn multiply(&mut self, a: &mut [u16], b: &[u16]);
}

/// Both halves times `factor`.
#[inline(always)]
pub(crate) fn scale(a: u32, factor: u16) -> u32 {
    #[cfg(all(cortex_m4, not(kemqtt_portable)))]
    {
        use kem_core::packed::{mul_bb, mul_tb, pack_bb};
        let factor = factor.into();
        pack_bb(mul_bb(a, factor) as u32, mul_tb(a, factor) as u32)
    }
    #[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
    portable::halves(a, join([factor; 2]), u16::wrapping_mul)
}

#[inline(always)]
pub(crate) fn twice(a: u32) -> u32 {
    add(a, a)
}

#[inline(always)]
pub(crate) fn four_times(a: u32) -> u32 {
    twice(twice(a))
}

/// `p` in pairs, followed by zeros.
pub(crate) fn load(words: &mut [u32], p: &[u16]) {
    let (pairs, rest) = p.as_chunks();
    let (full, padding) = words.split_at_mut(pairs.len());
    for (word, pair) in full.iter_mut().zip(pairs) {
        *word = join(*pair);
    }
    padding.fill(0);
    if let (Some(word), Some(&last)) = (padding.first_mut(), rest.first()) {
        *word = last.into();
    }
}

/// The first coefficients of `words`, as many as `p` has.
pub(crate) fn store(p: &mut [u16], words: impl Iterator<Item = u32>) {
    for (pair, word) in p.chunks_mut(2).zip(words) {
        pair[0] = word as u16;
        if let Some(second) = pair.get_mut(1) {
            *second = (word >> 16) as u16;
        }
    }
}

#[inline(always)]
pub(crate) fn join([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

#[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
mod portable {
    pub(crate) fn add(a: u32, b: u32) -> u32 {
        halves(a, b, u16::wrapping_add)
    }

    pub(crate) fn sub(a: u32, b: u32) -> u32 {
        halves(a, b, u16::wrapping_sub)
    }

    pub(crate) fn halves(a: u32, b: u32, operation: fn(u16, u16) -> u16) -> u32 {
        super::join([
            operation(a as u16, b as u16),
            operation((a >> 16) as u16, (b >> 16) as u16),
        ])
    }
}
