use core::marker::PhantomData;

use super::{AeadId, FixedKem, NamedKem, Profile, Suite, SuiteId};
use crate::{
    aead::{Aead, AsconAead128, ChaCha20Poly1305},
    dh::FixedDh,
};

/// A suite fixed at build time: KEM, group, AEAD and profile as types, no bytes at run time.
pub struct StaticSuite<K, D, A, P>(PhantomData<(K, D, A, P)>);

/// The default suite of sensors, 1011.
#[cfg(feature = "ctru-light")]
pub type X25519CtruLightAscon =
    StaticSuite<ctru_light::CtruLight<ctru_light::AsconXof>, crate::dh::X25519, AsconAead128, P1>;

/// The default suite of desktops and gateways, 0222.
#[cfg(feature = "kyber")]
pub type X25519MlKem768ChaCha20Poly1305 = StaticSuite<kyber::MlKem768, crate::dh::X25519, ChaCha20Poly1305, P2>;

impl<K: NamedKem, D: FixedDh, A: FixedAead, P: FixedProfile> StaticSuite<K, D, A, P> {
    /// Its id. A combination that has none does not build.
    pub const ID: SuiteId = match SuiteId::new(K::ID, D::GROUP, P::PROFILE, A::ID) {
        Some(id) => id,
        None => panic!("no suite has this group with this profile"),
    };

    /// The only value.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<K: NamedKem, D: FixedDh, A: FixedAead, P: FixedProfile> Default for StaticSuite<K, D, A, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, D, A, P> Clone for StaticSuite<K, D, A, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, D, A, P> Copy for StaticSuite<K, D, A, P> {}

impl<K: NamedKem, D: FixedDh, A: FixedAead, P: FixedProfile> Suite for StaticSuite<K, D, A, P> {
    type Kem = FixedKem<K>;
    type Dh = D;
    type Aead = A;

    fn id(self) -> SuiteId {
        Self::ID
    }

    fn kem(self) -> FixedKem<K> {
        FixedKem::new()
    }

    fn dh(self) -> D {
        D::default()
    }

    fn aead(self) -> A {
        A::VALUE
    }
}

/// A profile as a type.
pub trait FixedProfile {
    /// Which one.
    const PROFILE: Profile;
}

/// Profile P1: ephemeral-ephemeral.
pub enum P1 {}

impl FixedProfile for P1 {
    const PROFILE: Profile = Profile::P1;
}

/// Profile P2: ephemeral-static and ephemeral-ephemeral.
pub enum P2 {}

impl FixedProfile for P2 {
    const PROFILE: Profile = Profile::P2;
}

/// Profile P0: no Diffie-Hellman; for measurements only.
#[cfg(feature = "lab")]
pub enum P0 {}

#[cfg(feature = "lab")]
impl FixedProfile for P0 {
    const PROFILE: Profile = Profile::P0;
}

/// An AEAD as a type.
pub trait FixedAead: Aead {
    /// Its code.
    const ID: AeadId;
    /// The algorithm.
    const VALUE: Self;
}

impl FixedAead for AsconAead128 {
    const ID: AeadId = AeadId::Ascon;
    const VALUE: Self = Self;
}

impl FixedAead for ChaCha20Poly1305 {
    const ID: AeadId = AeadId::ChaCha20Poly1305;
    const VALUE: Self = Self;
}
