//! What has an assembly twin on small targets: X25519 and the compression function of SHA-256.

#[cfg(target_arch = "avr")]
mod avr;
#[cfg(not(target_arch = "avr"))]
mod portable;

#[cfg(target_arch = "avr")]
pub(crate) use avr::{Sha256, x25519, x25519_base};
#[cfg(not(target_arch = "avr"))]
pub(crate) use portable::{Sha256, x25519, x25519_base};
pub(crate) use sha2::Digest;
