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
