//! What every KEM family of KEMQTT shares: the [`Kem`] trait, hash suites, and lattice building blocks.
//!
//! No allocation, no `std`, no generator of its own: buffers and randomness come from the caller.
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]
// A constant product is computed by the compiler, any other one in assembly.
#![cfg_attr(
    target_arch = "avr",
    feature(const_eval_select, core_intrinsics),
    allow(internal_features)
)]
#[cfg(feature = "testkit")]
extern crate std;

mod backends;
pub mod ct;
pub mod hash;
mod kem;
pub mod modular;
pub mod ntt;
pub mod pack;
pub mod permutation;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;
pub mod sample;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(feature = "testkit")]
pub mod testkit;

/// For the backends of the families.
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
pub use backends::avx2::Avx2;
/// Coefficient pairs in registers of a Cortex-M4, for the backends of the families.
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub use backends::cortex_m4::packed;
pub use kem::{Bytes, Ek, InvalidKey, Kem, NotInvertible, Rejected, SharedSecret};
/// The generator traits that `Kem` takes, so that callers need no second copy of the crate.
pub use rand_core;
