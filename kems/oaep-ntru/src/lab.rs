//! What the feature `lab` turns on: the whole crate.

mod encoding;
mod kem;
mod leaf;
mod ntt;
mod params;
mod roots;
mod sample;
mod symmetric;

pub use kem::{EncapsulationKey, OaepNtru, Secret};
pub use params::{N648, N1296, N2592, Params};
pub use symmetric::{Iccs, IccsReader, Shake256, Symmetric};

/// Bytes: encapsulation key 1053, decapsulation key 2170, ciphertext 1085, secret 32.
pub type OaepNtru648 = OaepNtru<N648>;
/// Bytes: encapsulation key 2430, decapsulation key 4956, ciphertext 2494, secret 32.
pub type OaepNtru1296 = OaepNtru<N1296>;
/// Bytes: encapsulation key 4860, decapsulation key 9880, ciphertext 4988, secret 64.
pub type OaepNtru2592 = OaepNtru<N2592>;
