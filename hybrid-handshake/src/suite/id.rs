use crate::Error;

/// Makes `KemId` and its properties from one table, one line per KEM.
macro_rules! kems {
    ($($code:literal $variant:ident $name:literal $category:literal $ek:literal $ct:literal $status:expr;)*) => {
        /// A KEM that has a code in HKM1: the first byte of a suite id, and the first byte of a broker or device key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum KemId {
            $(#[doc = concat!("`", $name, "`")] $variant = $code,)*
        }

        impl KemId {
            /// Every KEM with a code, in the order of the codes.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The KEM with this code.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name within a suite name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Security category 1, 3 or 5; for the order of suites only, not a claim.
            pub const fn category(self) -> u8 {
                match self { $(Self::$variant => $category,)* }
            }

            /// Length of an encapsulation key in bytes.
            pub const fn ek_len(self) -> usize {
                match self { $(Self::$variant => $ek,)* }
            }

            /// Length of a ciphertext in bytes.
            pub const fn ct_len(self) -> usize {
                match self { $(Self::$variant => $ct,)* }
            }

            /// How far the world trusts it; what a user interface has to show.
            pub const fn status(self) -> KemStatus {
                use KemStatus::{Research, Standard};
                match self { $(Self::$variant => $status,)* }
            }
        }
    };
}

kems! {
    // code, variant, name, category, ek, ct, status
    0x01 MlKem512        "mlkem512"        1  800  768 Standard;
    0x02 MlKem768        "mlkem768"        3 1184 1088 Standard;
    0x03 MlKem1024       "mlkem1024"       5 1568 1568 Standard;
    0x10 CtruLight       "ctrulight"       1  640  512 Research("CTRU-Light is a research KEM; an honest decapsulation fails with probability about 2^-100");
    0x11 LightSaber      "lightsaber"      1  672  736 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-120");
    0x12 NtruPlus768     "ntruplus768"     1 1152 1152 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x13 NtruPlus864     "ntruplus864"     3 1296 1296 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x14 NtruPlus1152    "ntruplus1152"    5 1728 1728 Research("NTRU+ is a candidate of the Korean KpqC standardization, not a NIST standard; rejects explicitly");
    0x15 NtruHps2048509  "ntruhps2048509"  1  699  699 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x16 NtruHrss701     "ntruhrss701"     3 1138 1138 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x17 NtruHps2048677  "ntruhps2048677"  3  930  930 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x18 NtruHps4096821  "ntruhps4096821"  5 1230 1230 Research("NTRU was a finalist of NIST round 3 and is no standard");
    0x19 CtruLightSha3   "ctrulightsha3"   1  640  512 Research("CTRU-Light is a research KEM; an honest decapsulation fails with probability about 2^-100");
    0x1a Saber           "saber"           3  992 1088 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-136");
    0x1b FireSaber       "firesaber"       5 1312 1472 Research("Saber was a finalist of NIST round 3 and is no standard; an honest decapsulation fails with probability about 2^-165");
}

impl KemId {
    /// The code in suite ids and keys.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// ML-KEM: the only family that a broker key may have and that a floor of ML-KEM accepts.
    pub const fn is_ml_kem(self) -> bool {
        matches!(self, Self::MlKem512 | Self::MlKem768 | Self::MlKem1024)
    }
}

/// Whether a KEM is a published standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KemStatus {
    /// FIPS 203.
    Standard,
    /// No standard. The text is one line that a user has to see before such a suite is used.
    Research(&'static str),
}

impl KemStatus {
    /// The line to show, if there is one.
    pub const fn warning(self) -> Option<&'static str> {
        match self {
            Self::Standard => None,
            Self::Research(warning) => Some(warning),
        }
    }
}

/// A Diffie-Hellman group, by its code in broker and device keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Group {
    /// No Diffie-Hellman (profile P0, feature `lab`).
    None = 0,
    /// X25519 (RFC 7748).
    X25519 = 1,
    /// NIST P-256, points in SEC1 uncompressed form.
    P256 = 2,
}

impl Group {
    /// The group with this code; 00 only with the feature `lab`.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 if cfg!(feature = "lab") => Some(Self::None),
            1 => Some(Self::X25519),
            2 => Some(Self::P256),
            _ => None,
        }
    }

    /// The code in keys.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Length of a share in bytes: 32, 65 or 0.
    pub const fn share_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::X25519 => 32,
            Self::P256 => 65,
        }
    }

    /// Its name within a suite name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::X25519 => "x25519",
            Self::P256 => "p256",
        }
    }
}

/// Which Diffie-Hellman results a suite mixes in. Later is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// None; for measurements only (feature `lab`).
    P0,
    /// Ephemeral-ephemeral.
    P1,
    /// Ephemeral-static and ephemeral-ephemeral.
    P2,
}

/// An AEAD, by its code: the low nibble of a suite id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AeadId {
    /// Ascon-AEAD128.
    Ascon = 1,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305 = 2,
}

impl AeadId {
    /// Its name within a suite name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ascon => "ascon",
            Self::ChaCha20Poly1305 => "chacha20poly1305",
        }
    }

    /// The profile that a suite name means when it names none.
    pub(super) const fn usual_profile(self) -> Profile {
        match self {
            Self::Ascon => Profile::P1,
            Self::ChaCha20Poly1305 => Profile::P2,
        }
    }
}

/// How the client proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// A static KEM and Diffie-Hellman key.
    Kem = 1,
    /// A pre-shared key of 32 random bytes.
    Psk = 2,
    /// Not at all; the login, if any, stands in the inner CONNECT.
    Anonymous = 3,
    /// A ticket of an earlier session.
    Resume = 4,
}

impl Mode {
    /// The mode with this code.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Kem),
            2 => Some(Self::Psk),
            3 => Some(Self::Anonymous),
            4 => Some(Self::Resume),
            _ => None,
        }
    }

    /// The code in M1 and in tickets.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Anonymous clients need the ephemeral-static result: nothing else of theirs ties M1 to the broker key classically.
    pub const fn allowed_in(self, profile: Profile) -> bool {
        !matches!((self, profile), (Self::Anonymous, Profile::P0 | Profile::P1))
    }

    /// Whether the profile's ephemeral-static result (`es`) goes into this mode's first key.
    pub(crate) const fn has_es(self, profile: Profile) -> bool {
        matches!(profile, Profile::P2) && !matches!(self, Self::Resume)
    }
}

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

    #[test]
    fn only_ml_kem_needs_no_warning() {
        for kem in KemId::ALL {
            assert_eq!(kem.status().warning().is_none(), kem.is_ml_kem(), "{kem:?}");
        }
    }
}
