//! CTRU-Light, the lattice KEM of IACR ePrint 2026/248: small keys and ciphertexts (640 and 512 bytes) over
//! Z_769\[x\]/(x^512 + 1) with an E8 code.
//!
//! **Status: research.** Not a standard, little public analysis, about NIST category 1 with little margin. A shared secret
//! is wrong with a probability of about 2^-100 (published figures go down to 2^-157, see the README), less often than
//! hardware fails but short of the 2^-128 that chosen-ciphertext security wants: replace long-lived keys from time to
//! time. Rejection is implicit. Use it only together with a second key agreement.
//!
//! The hash suite is a type. [`CtruLight<Sha3>`](CtruLight) has the bytes of the public C sources;
//! [`CtruLight<AsconXof>`](CtruLight) is our proposal for the Ascon build of the paper, whose bytes are not published, and
//! claims no interoperability with it.
//!
//! ```
//! use ctru_light::{AsconXof, CtruLight, Ek, Kem, SharedSecret};
//! # use kem_core::testkit::KatDrbg;
//!
//! type Light = CtruLight<AsconXof>;
//!
//! # let mut rng = KatDrbg::master();
//! let (mut ek, mut dk) = ([0; Light::EK_LEN], [0; Light::DK_LEN]);
//! Light::keygen(&mut rng, &mut ek, &mut dk)?;
//!
//! // The other side checks the key it receives.
//! let peer = Ek::<Light>::parse(&ek)?;
//! let (mut ct, mut ss) = ([0; Light::CT_LEN], SharedSecret::zeroed());
//! Light::encaps(&mut rng, &peer, &mut ct, &mut ss);
//!
//! let mut same = SharedSecret::zeroed();
//! Light::decaps(&dk, &ct, &mut same)?;
//! assert_eq!(ss.expose(), same.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![deny(unsafe_code)]
#[cfg(test)]
#[macro_use]
extern crate std;

mod backends;
mod block;
#[cfg(test)]
mod components;
mod e8;
mod encoding;
mod kem;
mod pke;
mod product;
#[cfg(test)]
#[path = "../tests/slow/reference.rs"]
mod reference;
mod ring;

pub use kem::CtruLight;
pub use kem_core::hash::{AsconXof, Sha3};
pub use kem_core::{Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
