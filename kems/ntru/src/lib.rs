//! NTRU-HPS and NTRU-HRSS, the key encapsulation mechanisms by Chen, Danba, Hoffstein, Hülsing, Rijneveld, Schanck, Schwabe,
//! Whyte, Zhang, Saito, Yamakawa and Xagawa, as specified for round 3 of the NIST process.
//!
//! **Status**: round-3 finalist, not selected by NIST and not standardised; no attack on it is known. ML-KEM is the
//! standard. Decryption is perfectly correct: there are no failures. Rejection is implicit: a forged ciphertext gives an
//! unrelated secret and never an error.
//!
//! ```
//! use kem_core::{Ek, Kem, SharedSecret};
//! use ntru::NtruHps2048677;
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
//! let (mut ek, mut dk) = ([0; NtruHps2048677::EK_LEN], [0; NtruHps2048677::DK_LEN]);
//! NtruHps2048677::keygen(&mut rng, &mut ek, &mut dk).expect("NTRU key generation never fails");
//!
//! // The other side: `ek` came over the wire.
//! let (mut ct, mut ss) = ([0; NtruHps2048677::CT_LEN], SharedSecret::zeroed());
//! NtruHps2048677::encaps(&mut rng, &Ek::parse(&ek).expect("right length"), &mut ct, &mut ss);
//!
//! let mut same = SharedSecret::zeroed();
//! NtruHps2048677::decaps(&dk, &ct, &mut same).expect("rejection is implicit");
//! assert_eq!(same.expose(), ss.expose());
//! ```
//!
//! Buffers and randomness are the caller's; there is no allocation. Nothing depends on a secret but values: no branch, no
//! index, no division. Section numbers are those of the round-3 submission (September 2020).
#![no_std]
#![deny(unsafe_code)]
#[cfg(test)]
extern crate std;

mod backends;
mod encoding;
mod invert;
mod kem;
mod params;
mod pke;
mod ring;
mod sample;
mod sort;
mod variant;

#[cfg(feature = "self-check")]
pub use backends::self_check;
pub use backends::{Karatsuba, Multiply, Ntt, Tmvp, ToomCook};
pub use kem::Ntru;
pub use params::{Hps509, Hps677, Hps821, Hrss701, Params};

/// ntruhps2048509, NIST level 1. Bytes: encapsulation key 699, decapsulation key 935, ciphertext 699.
pub type NtruHps2048509 = Ntru<Hps509>;
/// ntruhps2048677, NIST level 3. Bytes: encapsulation key 930, decapsulation key 1234, ciphertext 930.
pub type NtruHps2048677 = Ntru<Hps677>;
/// ntruhps4096821, NIST level 5. Bytes: encapsulation key 1230, decapsulation key 1590, ciphertext 1230.
pub type NtruHps4096821 = Ntru<Hps821>;
/// ntruhrss701, NIST level 3. Bytes: encapsulation key 1138, decapsulation key 1450, ciphertext 1138.
pub type NtruHrss701 = Ntru<Hrss701>;
