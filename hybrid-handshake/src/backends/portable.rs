//! The crates of RustCrypto and dalek.

pub(crate) use sha2::Sha256;
#[cfg(target_os = "none")]
use x25519_dalek::X25519_BASEPOINT_BYTES;
#[cfg(not(target_os = "none"))]
use x25519_dalek::{PublicKey, StaticSecret};

/// X25519 (RFC 7748 section 5).
pub(crate) fn x25519(out: &mut [u8; 32], scalar: &[u8; 32], u: &[u8; 32]) {
    *out = x25519_dalek::x25519(*scalar, *u);
}

/// X25519 with the base point.
pub(crate) fn x25519_base(out: &mut [u8; 32], scalar: &[u8; 32]) {
    #[cfg(target_os = "none")]
    {
        *out = x25519_dalek::x25519(*scalar, X25519_BASEPOINT_BYTES);
    }
    #[cfg(not(target_os = "none"))]
    {
        // By a table of its multiples: a third of the time.
        *out = PublicKey::from(&StaticSecret::from(*scalar)).to_bytes();
    }
}
