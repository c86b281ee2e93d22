//! OAEP-NTRU (kem-28 of round 1 of the Chinese NGCC process), sets 648, 1296 and 2592: **research only**.
//!
//! **Status: broken as submitted.** The submitted decapsulation reads coefficients without a range check, and neither tag nor
//! key depends on the bytes of the ciphertext. Whoever adds q to one field of a challenge ciphertext and has the result
//! decapsulated gets the challenge key: one query, no computation, every time. This crate always runs a hardened
//! decapsulation instead, which leaves all honest bytes as they were and refuses such ciphertexts. That is our repair of
//! somebody else's scheme, reviewed by nobody; the hash functions are placeholders without a security claim; no protocol has
//! a code point for it and none will get one.
//!
//! The crate is therefore **empty unless the feature `lab` is on**. Who needs it, for benchmarks and comparisons, has to ask
//! for it by that name.
#![cfg_attr(
    feature = "lab",
    doc = r#"
```
use oaep_ntru::{EncapsulationKey, N2592, OaepNtru2592, Secret};
# struct Rng(u64);
# impl kem_core::rand_core::TryRng for Rng {
#     type Error = core::convert::Infallible;
#     fn try_next_u32(&mut self) -> Result<u32, Self::Error> { Ok(self.try_next_u64()? as u32) }
#     fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
#         self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
#         Ok(self.0)
#     }
#     fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
#         for byte in out { *byte = (self.try_next_u64()? >> 56) as u8; }
#         Ok(())
#     }
# }
# impl kem_core::rand_core::TryCryptoRng for Rng {}
# let mut rng = Rng(1); // any generator that implements `CryptoRng`
let (mut ek, mut dk) = ([0; OaepNtru2592::EK_LEN], [0; OaepNtru2592::DK_LEN]);
OaepNtru2592::generate(&mut rng, &mut ek, &mut dk).expect("the generator works");

let (mut ct, mut ss) = ([0; OaepNtru2592::CT_LEN], Secret::zeroed());
let parsed = EncapsulationKey::<N2592>::parse(&ek).expect("canonical");
OaepNtru2592::encapsulate(&mut rng, &parsed, &mut ct, &mut ss);

let mut same = Secret::zeroed();
OaepNtru2592::decapsulate(&dk, &ct, &mut same);
assert_eq!(same.expose(), ss.expose());
```

The two smaller sets have secrets of 32 bytes and also implement [`kem_core::Kem`].
"#
)]
#![no_std]
#![forbid(unsafe_code)]
#[cfg(test)]
extern crate std;

#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "lab")]
pub use lab::{
    EncapsulationKey, Iccs, IccsReader, N648, N1296, N2592, OaepNtru, OaepNtru648, OaepNtru1296, OaepNtru2592, Params,
    Secret, Shake256, Symmetric,
};
