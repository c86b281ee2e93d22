//! SHA-256 (FIPS 180-4) over the compression of an assembly backend, as a digest of RustCrypto, so that HMAC and HKDF stay
//! those of its crates.

use sha2::digest::{
    HashMarker, Output, OutputSizeUser,
    block_api::{Block, BlockSizeUser, Buffer, BufferKindUser, Eager, FixedOutputCore, Reset, UpdateCore},
    buffer_fixed,
    consts::{U32, U64},
};
use zeroize::Zeroize;

use super::native::sha256_compress;

buffer_fixed!(
    /// SHA-256.
    pub(crate) struct Sha256(Sha256Core);
    impl: BaseFixedTraits Default Clone HashMarker Reset FixedOutputReset;
);

/// The chaining value and how many blocks it has taken. Wiped on drop.
#[derive(Clone)]
pub(crate) struct Sha256Core {
    state: [u32; 8],
    blocks: u32,
}

impl Default for Sha256Core {
    fn default() -> Self {
        Self { state: IV, blocks: 0 }
    }
}

impl Reset for Sha256Core {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Drop for Sha256Core {
    fn drop(&mut self) {
        self.state.zeroize();
    }
}

impl HashMarker for Sha256Core {}

impl BlockSizeUser for Sha256Core {
    type BlockSize = U64;
}

impl OutputSizeUser for Sha256Core {
    type OutputSize = U32;
}

impl BufferKindUser for Sha256Core {
    type BufferKind = Eager;
}

impl UpdateCore for Sha256Core {
    fn update_blocks(&mut self, blocks: &[Block<Self>]) {
        for block in blocks {
            sha256_compress(&mut self.state, &block.0);
            self.blocks = self.blocks.wrapping_add(1);
        }
    }
}

impl FixedOutputCore for Sha256Core {
    fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
        let bits = u64::from(self.blocks) << 9 | (buffer.get_pos() as u64) << 3;
        buffer.len64_padding_be(bits, |block| sha256_compress(&mut self.state, &block.0));
        for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(self.state) {
            *bytes = word.to_be_bytes();
        }
    }
}

/// FIPS 180-4 section 5.3.3.
const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
