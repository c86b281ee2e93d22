#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

mod backends;
mod compress;
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
