use core::fmt;

use crate::{
    Error, Malformed,
    backends::{Digest, Sha256},
    message::Fields,
    suite::{Group, KemId},
};

/// A static public key: `kem | group | encapsulation key | share`, as files, the registry and control messages hold it.
///
/// Checked for its shape. Whether the encapsulation key is canonical and the share a point is checked where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey<'a> {
    kem: KemId,
    group: Group,
    ek: &'a [u8],
    share: &'a [u8],
}

impl<'a> PublicKey<'a> {
    /// Takes the encoding apart.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an unknown code, [`Error::Malformed`] for a wrong length.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut fields = Fields(bytes);
        let [kem, group] = fields.array()?;
        let kem = KemId::from_code(kem).ok_or(Error::Unsupported)?;
        let group = Group::from_code(group).ok_or(Error::Unsupported)?;
        let (ek, share) = (fields.take(kem.ek_len())?, fields.take(group.share_len())?);
        fields.finish()?;
        Ok(Self { kem, group, ek, share })
    }

    /// The key of these parts.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a wrong length.
    pub fn new(kem: KemId, group: Group, ek: &'a [u8], share: &'a [u8]) -> Result<Self, Error> {
        if ek.len() == kem.ek_len() && share.len() == group.share_len() {
            Ok(Self { kem, group, ek, share })
        } else {
            Err(Malformed::Length.into())
        }
    }

    /// The KEM.
    pub const fn kem(&self) -> KemId {
        self.kem
    }

    /// The group.
    pub const fn group(&self) -> Group {
        self.group
    }

    /// The encapsulation key (pk).
    pub const fn ek(&self) -> &'a [u8] {
        self.ek
    }

    /// The Diffie-Hellman share (gx).
    pub const fn share(&self) -> &'a [u8] {
        self.share
    }

    /// Bytes of the encoding.
    pub const fn encoded_len(&self) -> usize {
        2 + self.ek.len() + self.share.len()
    }

    /// The two codes that start the encoding.
    pub const fn codes(&self) -> [u8; 2] {
        [self.kem.code(), self.group.code()]
    }

    /// Writes the encoding to the start of `out`; gives its length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, Error> {
        let len = self.encoded_len();
        let out = out.get_mut(..len).ok_or(Error::Buffer { needed: len as u16 })?;
        let codes = self.codes();
        let parts = codes.iter().chain(self.ek).chain(self.share);
        out.iter_mut().zip(parts).for_each(|(place, byte)| *place = *byte);
        Ok(len)
    }
}

/// A broker's public key: what a client pins. One key is one realm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerKey<'a> {
    key: PublicKey<'a>,
    fingerprint: Fingerprint,
}

impl<'a> BrokerKey<'a> {
    /// Takes the encoding apart and computes the fingerprint.
    ///
    /// # Errors
    /// As [`PublicKey::parse`]; [`Error::Unsupported`] also for a KEM that is not ML-KEM.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        PublicKey::parse(bytes)?.try_into()
    }

    /// A key whose fingerprint has been computed before.
    pub(super) const fn with_fingerprint(key: PublicKey<'a>, fingerprint: Fingerprint) -> Self {
        Self { key, fingerprint }
    }

    /// The fingerprint h0.
    pub const fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The id that M1 names the key by.
    pub fn kid(&self) -> Kid {
        self.fingerprint.kid()
    }

    /// The key itself.
    pub const fn public(&self) -> &PublicKey<'a> {
        &self.key
    }
}

impl<'a> TryFrom<PublicKey<'a>> for BrokerKey<'a> {
    type Error = Error;

    fn try_from(key: PublicKey<'a>) -> Result<Self, Error> {
        if !key.kem.is_ml_kem() {
            return Err(Error::Unsupported);
        }
        let hash = Sha256::new().chain_update("HKM1 broker key").chain_update(key.codes());
        let hash = hash.chain_update(key.ek).chain_update(key.share).finalize();
        Ok(Self::with_fingerprint(key, Fingerprint(hash.into())))
    }
}

/// The fingerprint of a broker key: h0 = H("HKM1 broker key" | kem | group | pk_B | gx_B).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; Self::LEN]);

impl Fingerprint {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// A stored one, or one from a control message.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Its first bytes (kid_B).
    pub const fn kid(&self) -> Kid {
        match self.0.first_chunk() {
            Some(kid) => *kid,
            None => [0; KID_LEN],
        }
    }
}

/// Lower-case hex, as it is shown to people.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The short id of a broker key: the first 8 bytes of its fingerprint.
pub type Kid = [u8; KID_LEN];

/// Length of a [`Kid`] in bytes.
pub const KID_LEN: usize = 8;
