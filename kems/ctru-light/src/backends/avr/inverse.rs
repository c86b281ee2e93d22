//! Inverses of all blocks in assembly.

use core::arch::asm;

use subtle::Choice;

use crate::ring::{N, Poly};

unsafe extern "C" {
    fn ctru_light_baseinv(p: *mut [i16; N]) -> u8;
}

/// p = 9 / p in each block. In: 206..=1020. Out: 210..=990. 0 if a block has no inverse.
#[inline(never)]
pub(super) fn invert_all(p: &mut Poly) -> Choice {
    // SAFETY: what is assembled lies in other sections. The routine reads and writes 512 words at its argument and 512 bytes of
    // roots in flash.
    let found = unsafe {
        asm!(
            ".ifndef ctru_light_baseinv",
            ".pushsection .text",
            include_str!("inverse.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
        ctru_light_baseinv(&raw mut p.0)
    };
    Choice::from(found & 1)
}
