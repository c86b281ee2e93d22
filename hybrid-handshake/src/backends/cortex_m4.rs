//! Cortex-M4 with an FPU: X25519 and the compression of SHA-256 in assembly, which `cortex_m4/*.py` wrote.
#![allow(unsafe_code)]

mod compress;
#[cfg(feature = "self-check")]
pub(super) mod self_check;
mod x25519;

pub(crate) use super::sha256::Sha256;
pub(crate) use x25519::{x25519, x25519_base};

pub(super) use compress::sha256_compress;
