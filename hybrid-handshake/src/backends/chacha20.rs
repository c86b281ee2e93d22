//! The key stream of ChaCha20 (RFC 8439 section 2.4) on 64-bit hosts, in steps of eight blocks.

#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
mod avx2;

use chacha20::{
    ChaCha20,
    cipher::{KeyIvInit, StreamCipher},
};

#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
pub(crate) use avx2::Avx2;

/// Bytes of a block.
pub(crate) const BLOCK_LEN: usize = 64;
/// Bytes of a step.
pub(crate) const STEP_LEN: usize = 8 * BLOCK_LEN;

/// The key stream from block 0 on. Wiped on drop.
pub(crate) trait KeyStream {
    /// Writes the next step. Calls `meanwhile` with 0 to 9: at each double round, where that work fits in between.
    fn next(&mut self, out: &mut [u8; STEP_LEN], meanwhile: impl FnMut(usize));
}

/// The crate of RustCrypto.
pub(crate) struct Portable(ChaCha20);

impl Portable {
    pub(crate) fn new(key: &[u8; 32], nonce: &[u8; 12]) -> Self {
        Self(ChaCha20::new(key.into(), nonce.into()))
    }
}

impl KeyStream for Portable {
    fn next(&mut self, out: &mut [u8; STEP_LEN], meanwhile: impl FnMut(usize)) {
        (0..10).for_each(meanwhile);
        self.0.write_keystream(out);
    }
}

#[cfg(test)]
mod tests;
