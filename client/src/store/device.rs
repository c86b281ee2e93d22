//! A device's static key pair, for mode 1.

use std::fmt;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::dh::DhSecret;
use hybrid_handshake::drbg::Drbg;
use hybrid_handshake::identity::{DeviceId, DeviceLine, DeviceSecret, PublicKey, generate_key};
use hybrid_handshake::suite::{AnyKem, Group, KemId, KemScheme, SuiteId};
use zeroize::Zeroizing;

use crate::error::{ConfigError, Error, Step};

/// A device's static KEM and Diffie-Hellman key: only its public half leaves the device. Serves suites of one KEM and one
/// group. Wiped on drop.
pub struct DeviceKey {
    encoded: Vec<u8>,
    dk: Zeroizing<Vec<u8>>,
    z: Zeroizing<[u8; 32]>,
    x: DhSecret,
}

impl DeviceKey {
    /// Makes a key for `suite`.
    ///
    /// # Errors
    /// [`Error::Config`] if this build has no such suite, [`Error::Random`].
    pub(super) fn generate(suite: SuiteId) -> Result<Self, Error> {
        let kem = AnyKem::new(suite.kem()).ok_or(ConfigError::Suite)?;
        let mut os_bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *os_bytes).map_err(|_| Error::Random)?;
        let mut drbg = Drbg::broker(&os_bytes);
        let mut encoded = vec![0; 2 + suite.kem().ek_len() + suite.group().share_len()];
        let mut dk = Zeroizing::new(vec![0; kem.dk_len()]);
        let x =
            generate_key(kem, suite.group(), &mut drbg, &mut encoded, &mut dk).map_err(|e| Error::at(Step::M1, e))?;
        let mut z = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *z).map_err(|_| Error::Random)?;
        Ok(Self { encoded, dk, z, x })
    }

    /// Puts a stored key together and checks that its halves belong to each other.
    ///
    /// # Errors
    /// [`Hkm1::Unsupported`] if this build does not have the KEM or the group, others if it is none.
    pub(super) fn load(public: &PublicKey<'_>, secret: &[u8]) -> Result<Self, Hkm1> {
        let kem = AnyKem::new(public.kem()).ok_or(Hkm1::Unsupported)?;
        let mut encoded = vec![0; public.encoded_len()];
        public.write(&mut encoded)?;
        let (dk, rest) = secret.split_at_checked(kem.dk_len()).ok_or(Hkm1::Misuse)?;
        let (z, rest) = rest.split_first_chunk().ok_or(Hkm1::Misuse)?;
        let x = DhSecret::from_bytes(rest.try_into().map_err(|_| Hkm1::Misuse)?);
        let key = Self {
            encoded,
            dk: Zeroizing::new(dk.to_vec()),
            z: Zeroizing::new(*z),
            x,
        };
        key.secret()?.check(kem, public.group())?;
        Ok(key)
    }

    /// What a handshake takes.
    ///
    /// # Errors
    /// None: the encoding was checked before.
    pub(crate) fn secret(&self) -> Result<DeviceSecret<'_>, Hkm1> {
        Ok(DeviceSecret {
            key: PublicKey::parse(&self.encoded)?,
            dk: &self.dk,
            z: &self.z,
            x: &self.x,
        })
    }

    /// The line that is enrolled: `hkm1-device <id> <base64>`.
    pub(super) fn public_line(&self, id: DeviceId) -> Result<String, Hkm1> {
        Ok(DeviceLine {
            id,
            key: PublicKey::parse(&self.encoded)?,
        }
        .to_string())
    }

    /// `dk | z | x`, as they are stored.
    pub(super) fn secret_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.dk.len() + 64));
        bytes.extend_from_slice(&self.dk);
        bytes.extend_from_slice(&*self.z);
        bytes.extend_from_slice(self.x.expose());
        bytes
    }

    /// Which suites it serves.
    pub(crate) fn kind(&self) -> Option<(KemId, Group)> {
        PublicKey::parse(&self.encoded).ok().map(|key| (key.kem(), key.group()))
    }
}

impl fmt::Debug for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceKey({:?})", self.kind())
    }
}
