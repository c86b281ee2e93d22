#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]
#[cfg(test)]
#[macro_use]
extern crate std;

mod backends;
#[cfg_attr(target_arch = "avr", allow(dead_code))]
mod block;
#[cfg(test)]
mod components;
#[cfg_attr(target_arch = "avr", allow(dead_code))]
mod e8;
mod encoding;
mod kem;
mod pke;
#[cfg(any(feature = "self-check", kemqtt_portable, not(cortex_m4)))]
mod product;
#[cfg(test)]
#[path = "../tests/slow/reference.rs"]
mod reference;
mod ring;
#[cfg(feature = "self-check")]
pub mod self_check;

pub use kem::CtruLight;
pub use kem_core::hash::{AsconXof, Sha3};
pub use kem_core::{Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
