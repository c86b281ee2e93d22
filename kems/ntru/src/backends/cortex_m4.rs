//! Cortex-M4 with an FPU, whose registers hold what the inner products read again and again.
#![allow(unsafe_code)]

use core::arch::global_asm;

global_asm!(include_str!("cortex_m4/toeplitz.S"), options(raw));

unsafe extern "C" {
    fn kemqtt_ntru_toeplitz_32(vectors: *mut u32, matrices: *const u32);
    fn kemqtt_ntru_toeplitz_44(vectors: *mut u32, matrices: *const u32);
    fn kemqtt_ntru_toeplitz_52(vectors: *mut u32, matrices: *const u32);
}

/// Each vector becomes its product with the matrix. Twin: `pairs::toeplitz::portable::small_products`.
#[inline(always)]
pub(crate) fn toeplitz<const U: usize, const U2: usize>(vectors: &mut [[u32; U]; 9], matrices: &[[u32; U2]; 9]) {
    const { assert!(U2 == 2 * U) };
    let (vectors, matrices) = (vectors.as_mut_ptr().cast(), matrices.as_ptr().cast());
    // SAFETY: each routine reads and writes nine vectors of as many words as its arm says, reads nine matrices of twice as
    // many, and keeps the registers that a C function keeps.
    unsafe {
        match U {
            16 => kemqtt_ntru_toeplitz_32(vectors, matrices),
            22 => kemqtt_ntru_toeplitz_44(vectors, matrices),
            26 => kemqtt_ntru_toeplitz_52(vectors, matrices),
            _ => unreachable!("no parameter set has such a size"),
        }
    }
}
