use super::{AeadId, AnyKem, Group, Suite, SuiteId};
use crate::aead::AnyAead;

/// A suite chosen at run time, among those compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnySuite {
    id: SuiteId,
    kem: AnyKem,
}

impl AnySuite {
    /// `None` if the KEM or the group is not compiled in.
    pub const fn new(id: SuiteId) -> Option<Self> {
        match (AnyKem::new(id.kem()), id.group()) {
            (Some(_), Group::P256) if !cfg!(feature = "p256") => None,
            (Some(kem), _) => Some(Self { id, kem }),
            (None, _) => None,
        }
    }

    /// Every suite compiled in, in the order of the ids.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u16::MAX).filter_map(|code| SuiteId::from_code(code).and_then(Self::new))
    }
}

impl Suite for AnySuite {
    type Kem = AnyKem;
    type Dh = Group;
    type Aead = AnyAead;

    fn id(self) -> SuiteId {
        self.id
    }

    fn kem(self) -> AnyKem {
        self.kem
    }

    fn dh(self) -> Group {
        self.id.group()
    }

    fn aead(self) -> AnyAead {
        match self.id.aead() {
            AeadId::Ascon => AnyAead::AsconAead128,
            AeadId::ChaCha20Poly1305 => AnyAead::ChaCha20Poly1305,
        }
    }
}
