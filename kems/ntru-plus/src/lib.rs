//! NTRU+KEM: a lattice KEM of the NTRU family whose secrets are ternary and whose ring, Z_3457\[x\]/(x^n - x^{n/2} + 1),
//! has a number-theoretic transform.
//!
//! **Status: research.** A finalist of the Korean Post-Quantum Cryptography competition, not a standard; its document
//! may still change. It has not been audited here or, in this implementation, anywhere else.
//!
//! **Explicit rejection.** [`Kem::decaps`](kem_core::Kem::decaps) returns [`Rejected`](kem_core::Rejected) and an
//! all-zero secret for a ciphertext that was not made for the key. What a protocol does with that must look to its peer
//! like any other failed handshake: see the README.
//!
//! A scheme is [`NtruPlus`] over a parameter set, [`P768`], [`P864`] or [`P1152`], and a wire format: [`Final`] is the
//! submission, [`V2_2`] the format of versions 2.2 and 2.2.1, which microcontroller code in circulation still speaks.
//!
//! Feature `rustcrypto`: `kem_core::rustcrypto::Explicit<NtruPlus768>` has the traits of the `kem` crate.
//!
//! Constant time: no branch, index or division depends on a secret. Whether key generation has to draw again is public.
//!
//! ```
//! use kem_core::{Bytes, Ek, Kem, SharedSecret};
//! use ntru_plus::NtruPlus768;
//! # use kem_core::testkit::KatDrbg;
//! # let mut rng = KatDrbg::master(); // a cryptographic generator
//!
//! let (mut ek, mut dk) = ([0; NtruPlus768::EK_LEN], [0; NtruPlus768::DK_LEN]);
//! NtruPlus768::keygen(&mut rng, &mut ek, &mut dk)?;
//!
//! // The peer checks the key once and encapsulates to it.
//! let (mut ct, mut theirs) = ([0; NtruPlus768::CT_LEN], SharedSecret::zeroed());
//! NtruPlus768::encaps(&mut rng, &Ek::parse(&ek)?, &mut ct, &mut theirs);
//!
//! let mut ours = SharedSecret::zeroed();
//! NtruPlus768::decaps(&dk, &ct, &mut ours)?;
//! assert_eq!(ours.expose(), theirs.expose());
//!
//! ct[0] ^= 1;
//! assert!(NtruPlus768::decaps(&dk, &ct, &mut ours).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![deny(unsafe_code)]
#[cfg(test)]
extern crate std;

mod backends;
mod encoding;
mod field;
mod kem;
mod params;
mod profile;
mod sotp;

use core::marker::PhantomData;

#[cfg(feature = "self-check")]
pub use backends::self_check;
pub use params::{P768, P864, P1152, Params};
pub use profile::{Final, Profile, V2_2};

/// NTRU+ with parameter set `P` in the wire format of profile `V`.
///
/// With n the ring degree, encapsulation keys and ciphertexts have 3n/2 bytes and decapsulation keys 3n + 32. Both
/// profiles refuse encapsulation keys, decapsulation keys and ciphertexts with a coefficient that is not below q.
pub struct NtruPlus<P, V>(PhantomData<(P, V)>);

/// n = 768: `ek` and `ct` 1152 bytes, `dk` 2336 bytes.
pub type NtruPlus768 = NtruPlus<P768, Final>;
/// n = 864: `ek` and `ct` 1296 bytes, `dk` 2624 bytes.
pub type NtruPlus864 = NtruPlus<P864, Final>;
/// n = 1152: `ek` and `ct` 1728 bytes, `dk` 3488 bytes.
pub type NtruPlus1152 = NtruPlus<P1152, Final>;
