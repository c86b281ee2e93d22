#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(all(target_arch = "avr", not(kemqtt_portable)), feature(asm_experimental_arch))]

mod backends;
mod compress;
// Its twin in assembly replaces most of it.
#[cfg_attr(target_arch = "avr", allow(dead_code))]
mod convert;
mod kem;
mod params;
mod pke;
mod poly;
mod sample;
mod shell;

#[cfg(feature = "self-check")]
pub use backends::self_check;
pub use kem::{Kyber, Kyber512, Kyber768, Kyber1024, MlKem512, MlKem768, MlKem1024};
pub use params::{P512, P768, P1024, Params};
pub use shell::{Fips203, Round3, Shell};
