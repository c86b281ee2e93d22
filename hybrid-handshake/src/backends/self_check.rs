//! The target's routines against the crates of RustCrypto and dalek: for test firmware, which is where both can run.

use super::{native, portable};

#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
pub use super::cortex_m4::self_check::{sha256_agrees, sha256_block, sha256_block_agrees};

/// Whether X25519 gives the same, also with the base point.
pub fn x25519_agrees(scalar: &[u8; 32], u: &[u8; 32]) -> bool {
    let (mut ours, mut theirs) = ([[0; 32]; 2], [[0; 32]; 2]);
    native::x25519(&mut ours[0], scalar, u);
    native::x25519_base(&mut ours[1], scalar);
    portable::x25519(&mut theirs[0], scalar, u);
    portable::x25519_base(&mut theirs[1], scalar);
    ours == theirs
}
