use core::arch::global_asm;

global_asm!(include_str!("sha256_compress.S"), options(raw));

unsafe extern "C" {
    fn kemqtt_sha256_compress(state: *mut u32, block: *const u8);
}

/// The chaining value after one more block (FIPS 180-4 section 6.2.2).
#[inline(always)]
pub(crate) fn sha256_compress(state: &mut [u32; 8], block: &[u8; 64]) {
    // SAFETY: reads and writes the 8 words of `state`, reads 64 bytes of `block`, which need no alignment, and keeps the
    // registers that a C function keeps. Twin: `sha2::block_api::compress256`.
    unsafe { kemqtt_sha256_compress(state.as_mut_ptr(), block.as_ptr()) }
}
