//! Suites: ids, names and order, and the trait through which every state machine uses one.
//!
//! A suite is a value. [`StaticSuite`] is zero-sized, so that firmware links one KEM and folds every length;
//! [`AnySuite`] is chosen by [`SuiteId`] at run time, so that a host has each machine once.

mod any;
mod fixed;
mod id;
mod kem;
mod kem_id;
mod name;
mod parts;

pub use any::AnySuite;
#[cfg(feature = "lab")]
pub use fixed::P0;
#[cfg(feature = "ctru-light")]
pub use fixed::X25519CtruLightAscon;
#[cfg(feature = "kyber")]
pub use fixed::X25519MlKem768ChaCha20Poly1305;
pub use fixed::{FixedAead, FixedProfile, P1, P2, StaticSuite};
pub use id::SuiteId;
pub use kem::{AnyKem, Ephemeral, FixedKem, KemScheme, NamedKem};
pub use kem_id::{KemId, KemStatus};
pub use name::UnknownSuite;
pub use parts::{AeadId, Group, Mode, Profile};

use crate::{aead::Aead, dh::Dh};

/// What a state machine needs from a suite. The three parts are values too, so that `self` decides everything.
pub trait Suite: Copy {
    /// The ephemeral KEM, also that of a device's static key.
    type Kem: KemScheme;
    /// The Diffie-Hellman group.
    type Dh: Dh;
    /// The AEAD of boxes and records.
    type Aead: Aead;

    /// The id that stands in M1.
    fn id(self) -> SuiteId;

    /// The ephemeral KEM.
    fn kem(self) -> Self::Kem;

    /// The Diffie-Hellman group.
    fn dh(self) -> Self::Dh;

    /// The AEAD.
    fn aead(self) -> Self::Aead;
}
