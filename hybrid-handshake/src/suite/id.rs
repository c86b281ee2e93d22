use super::{AeadId, Group, KemId, Profile};
use crate::Error;

/// A suite: ephemeral KEM, group, profile and AEAD. Every value is one that this crate knows; whether it is compiled in
/// is the question of [`super::AnySuite::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SuiteId {
    kem: KemId,
    group: Group,
    profile: Profile,
    aead: AeadId,
}

impl SuiteId {
    /// The default of desktops and gateways: `x25519-mlkem768-chacha20poly1305`, 0222.
    pub const HOST_DEFAULT: Self = Self {
        kem: KemId::MlKem768,
        group: Group::X25519,
        profile: Profile::P2,
        aead: AeadId::ChaCha20Poly1305,
    };
    /// The default of sensors: `x25519-ctrulight-ascon`, 1011.
    pub const SENSOR_DEFAULT: Self = Self {
        kem: KemId::CtruLight,
        group: Group::X25519,
        profile: Profile::P1,
        aead: AeadId::Ascon,
    };

    /// The suite of these parts. `None` if they do not go together: no group means P0 and the reverse.
    pub const fn new(kem: KemId, group: Group, profile: Profile, aead: AeadId) -> Option<Self> {
        match (group, profile) {
            (Group::None, Profile::P0) if !cfg!(feature = "lab") => None,
            (Group::None, Profile::P0) | (Group::X25519 | Group::P256, Profile::P1 | Profile::P2) => Some(Self {
                kem,
                group,
                profile,
                aead,
            }),
            _ => None,
        }
    }

    /// The suite with this id. P0 exists only with the feature `lab`.
    pub const fn from_code(code: u16) -> Option<Self> {
        let [kem, low] = code.to_be_bytes();
        let Some(kem) = KemId::from_code(kem) else { return None };
        let (group, profile) = match low >> 4 {
            0 => (Group::None, Profile::P0),
            1 => (Group::X25519, Profile::P1),
            2 => (Group::X25519, Profile::P2),
            5 => (Group::P256, Profile::P1),
            6 => (Group::P256, Profile::P2),
            _ => return None,
        };
        let aead = match low & 0xf {
            1 => AeadId::Ascon,
            2 => AeadId::ChaCha20Poly1305,
            _ => return None,
        };
        Self::new(kem, group, profile, aead)
    }

    /// The id on the wire.
    pub const fn code(self) -> u16 {
        let group = match (self.group, self.profile) {
            (Group::X25519, Profile::P1) => 0x10,
            (Group::X25519, _) => 0x20,
            (Group::P256, Profile::P1) => 0x50,
            (Group::P256, _) => 0x60,
            (Group::None, _) => 0,
        };
        u16::from_be_bytes([self.kem.code(), group | self.aead as u8])
    }

    /// The ephemeral KEM.
    pub const fn kem(self) -> KemId {
        self.kem
    }

    /// The Diffie-Hellman group.
    pub const fn group(self) -> Group {
        self.group
    }

    /// The profile.
    pub const fn profile(self) -> Profile {
        self.profile
    }

    /// The AEAD.
    pub const fn aead(self) -> AeadId {
        self.aead
    }

    /// Whether this suite may be used where `floor` is the lowest one: category and profile at least those of the floor,
    /// and ML-KEM if the floor is ML-KEM.
    pub const fn meets(self, floor: Self) -> bool {
        self.kem.category() >= floor.kem.category()
            && self.profile as u8 >= floor.profile as u8
            && (self.kem.is_ml_kem() || !floor.kem.is_ml_kem())
    }

    /// [`SuiteId::from_code`] for bytes from a peer.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(crate) fn from_wire(code: [u8; 2]) -> Result<Self, Error> {
        Self::from_code(u16::from_be_bytes(code)).ok_or(Error::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_document() {
        assert_eq!(SuiteId::HOST_DEFAULT.code(), 0x0222);
        assert_eq!(SuiteId::SENSOR_DEFAULT.code(), 0x1011);
        for code in [
            0x0000, 0x0021, 0x0421, 0x0f11, 0x1c11, 0x1031, 0x1041, 0x1071, 0x10f1, 0x1010, 0x1013, 0x1023,
        ] {
            assert_eq!(SuiteId::from_code(code), None, "{code:04x}");
        }
        assert_eq!(SuiteId::from_code(0x1001).is_some(), cfg!(feature = "lab"));
    }

    #[test]
    fn every_id_survives_the_round_trip() {
        let known = (0..=u16::MAX).filter_map(|code| SuiteId::from_code(code).map(|suite| (code, suite)));
        assert!(known.clone().all(|(code, suite)| suite.code() == code));
        assert_eq!(
            known.count(),
            KemId::ALL.len() * if cfg!(feature = "lab") { 10 } else { 8 }
        );
    }

    #[test]
    fn floor_orders_by_category_profile_and_family() {
        let meets = |suite, floor| {
            SuiteId::from_code(suite)
                .unwrap()
                .meets(SuiteId::from_code(floor).unwrap())
        };
        assert!(meets(0x0222, 0x0222) && meets(0x0322, 0x0222) && meets(0x0221, 0x0222));
        assert!(meets(0x0262, 0x0222), "groups are not ordered");
        assert!(!meets(0x0122, 0x0222), "category");
        assert!(!meets(0x0212, 0x0222), "profile");
        assert!(!meets(0x1b22, 0x0222), "a research KEM under a floor of ML-KEM");
        assert!(meets(0x0111, 0x1011) && meets(0x1911, 0x1011) && meets(0x1822, 0x1011));
        assert!(!meets(0x1011, 0x1a11));
    }
}
