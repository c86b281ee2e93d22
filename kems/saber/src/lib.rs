//! LightSaber, Saber and FireSaber, the key encapsulation mechanism by D'Anvers, Karmakar, Roy and Vercauteren, as specified
//! for round 3 of the NIST process: module learning with rounding over Z\[x\]/(x^256 + 1), moduli 2^13 and 2^10.
//!
//! **Status**: round-3 finalist, not selected by NIST and not standardised; no attack on it is known. ML-KEM is the
//! standard. Decryption failures occur with probability below 2^-120 (LightSaber), 2^-136 (Saber) and 2^-165 (FireSaber).
//! Rejection is implicit: a forged ciphertext gives an unrelated secret and never an error.
//!
//! ```
//! use kem_core::{Ek, Kem, SharedSecret};
//! use saber::Saber;
//! # struct Rng(u64);
//! # impl kem_core::rand_core::TryRng for Rng {
//! #     type Error = core::convert::Infallible;
//! #     fn try_next_u32(&mut self) -> Result<u32, Self::Error> { Ok(self.try_next_u64()? as u32) }
//! #     fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
//! #         self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
//! #         Ok(self.0)
//! #     }
//! #     fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
//! #         for byte in out { *byte = (self.try_next_u64()? >> 56) as u8; }
//! #         Ok(())
//! #     }
//! # }
//! # impl kem_core::rand_core::TryCryptoRng for Rng {}
//! # let mut rng = Rng(1); // any generator that implements `CryptoRng`
//! let (mut ek, mut dk) = ([0; Saber::EK_LEN], [0; Saber::DK_LEN]);
//! Saber::keygen(&mut rng, &mut ek, &mut dk).expect("Saber key generation never fails");
//!
//! // The other side: `ek` came over the wire.
//! let (mut ct, mut ss) = ([0; Saber::CT_LEN], SharedSecret::zeroed());
//! Saber::encaps(&mut rng, &Ek::parse(&ek).expect("right length"), &mut ct, &mut ss);
//!
//! let mut same = SharedSecret::zeroed();
//! Saber::decaps(&dk, &ct, &mut same).expect("rejection is implicit");
//! assert_eq!(same.expose(), ss.expose());
//! ```
//!
//! Buffers and randomness are the caller's; there is no allocation. Nothing depends on a secret but values: no branch, no
//! index, no division. Section numbers are those of the round-3 submission (October 2020).
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]
#[cfg(test)]
extern crate std;

mod backends;
mod kem;
mod params;
mod pke;
#[cfg_attr(all(target_arch = "avr", not(kemqtt_portable)), allow(dead_code))]
mod poly;
mod sample;

#[cfg(feature = "self-check")]
pub use backends::self_check;
pub use kem::SaberKem;
pub use params::{Params, Rank2, Rank3, Rank4};

/// NIST level 1. Bytes: encapsulation key 672, decapsulation key 1568, ciphertext 736.
pub type LightSaber = SaberKem<Rank2>;
/// NIST level 3. Bytes: encapsulation key 992, decapsulation key 2304, ciphertext 1088.
pub type Saber = SaberKem<Rank3>;
/// NIST level 5. Bytes: encapsulation key 1312, decapsulation key 3040, ciphertext 1472.
pub type FireSaber = SaberKem<Rank4>;
