//! SHA-256 against the portable crate, for test firmware.

use sha2::Digest;

use super::{super::portable, Sha256, sha256_compress};

/// The chaining value after one more block.
pub fn sha256_block(state: &mut [u32; 8], block: &[u8; 64]) {
    sha256_compress(state, block);
}

/// Whether [`sha256_block`] gives the same as its twin.
pub fn sha256_block_agrees(state: &[u32; 8], block: &[u8; 64]) -> bool {
    let (mut ours, mut theirs) = (*state, *state);
    sha256_compress(&mut ours, block);
    sha2::block_api::compress256(&mut theirs, core::slice::from_ref(block));
    ours == theirs
}

/// Whether the digests of the same message in two pieces agree.
pub fn sha256_agrees(head: &[u8], tail: &[u8]) -> bool {
    let ours = Sha256::new().chain_update(head).chain_update(tail).finalize();
    let theirs = portable::Sha256::new().chain_update(head).chain_update(tail).finalize();
    ours == theirs
}
