//! Cortex-M4 with an FPU: X25519 in assembly, which `cortex_m4/x25519.py` wrote. SHA-256 is the portable one.
#![allow(unsafe_code)]

mod x25519;

pub(crate) use x25519::{x25519, x25519_base};

pub(crate) use super::portable::Sha256;
