//! Who is who: device ids, credentials, the broker key and its fingerprint, and their text form in files.

mod key;
mod secret;
mod text;

use core::fmt;

use hkdf::HkdfExtract;
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use key::{BrokerKey, Fingerprint, KID_LEN, Kid, PublicKey};
pub use secret::{BrokerKeyPair, BrokerSecret, DeviceSecret, generate_key};
pub use text::{BrokerLine, DeviceLine, MAX_KEY_LEN, PskLine};

use crate::{
    Malformed,
    backends::{Digest, Sha256},
    mqtt::text,
    suite::Mode,
};

/// The name of a device (id_P): 1 to 32 bytes of 0x21..0x7E without `/`, `+` and `#`, so that it can stand in a topic.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId {
    padded: [u8; Self::MAX_LEN],
}

impl DeviceId {
    /// Length of the longest id in bytes; shorter ones are padded to it with zero bytes.
    pub const MAX_LEN: usize = 32;

    /// Checks an id.
    ///
    /// # Errors
    /// [`Malformed::Value`] if it is empty, too long or has other bytes.
    pub fn new(id: &str) -> Result<Self, Malformed> {
        let mut padded = [0; Self::MAX_LEN];
        padded
            .get_mut(..id.len())
            .ok_or(Malformed::Value)?
            .copy_from_slice(id.as_bytes());
        // A zero byte within the id would read as its end.
        Self::from_padded(&padded)
            .ok()
            .filter(|parsed| parsed.as_str() == id)
            .ok_or(Malformed::Value)
    }

    /// An id as box1 and tickets carry it.
    ///
    /// # Errors
    /// [`Malformed::Value`] as [`DeviceId::new`], also for bytes behind the padding's start.
    pub fn from_padded(padded: &[u8; Self::MAX_LEN]) -> Result<Self, Malformed> {
        let len = padded.iter().take_while(|&&byte| byte != 0).count();
        let (id, padding) = padded.split_at(len);
        let allowed = |byte: &u8| matches!(byte, 0x21..=0x7e) && !matches!(byte, b'/' | b'+' | b'#');
        if len > 0 && id.iter().all(allowed) && padding.iter().all(|&byte| byte == 0) {
            Ok(Self { padded: *padded })
        } else {
            Err(Malformed::Value)
        }
    }

    /// The id with zero bytes behind it.
    pub const fn padded(&self) -> &[u8; Self::MAX_LEN] {
        &self.padded
    }

    /// What stands for an id, or for none, in box1 and in tickets.
    pub(crate) fn padded_or_zeros(id: Option<&Self>) -> &[u8; Self::MAX_LEN] {
        id.map_or(&[0; Self::MAX_LEN], Self::padded)
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        let len = self.padded.iter().take_while(|&&byte| byte != 0).count();
        self.padded.get(..len).and_then(text).unwrap_or_default()
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceId({self})")
    }
}

/// A pre-shared key: 32 random bytes. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Psk([u8; Self::LEN]);

impl Psk {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// A stored key.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The secret bytes.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

/// A realm's secret (D) for answers to devices that do not exist: 32 random bytes. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct DecoySecret([u8; Self::LEN]);

impl DecoySecret {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// A stored secret.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The secret bytes, for storage.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// s = HMAC-SHA-256(D, "HKM1 decoy" | id_P padded) of an unknown id: the same at every try, as a real one would be.
    pub(crate) fn answer(&self, id: &DeviceId) -> Psk {
        // HKDF-Extract is HMAC with the salt as key (RFC 5869 section 2.2), and cannot fail.
        let mut mac = HkdfExtract::<Sha256>::new(Some(&self.0));
        mac.input_ikm(b"HKM1 decoy");
        mac.input_ikm(id.padded());
        Psk(mac.finalize().0.into())
    }
}

/// H(cred): mode, id and, in mode 1, the device's public key.
pub(crate) fn credential_hash(mode: Mode, id: Option<&DeviceId>, key: Option<&PublicKey<'_>>) -> [u8; 32] {
    let id = id.map_or("", DeviceId::as_str);
    let mut hash = Sha256::new()
        .chain_update([mode.code(), id.len() as u8])
        .chain_update(id);
    if let Some(key) = key {
        hash.update([key.kem().code()]);
        hash.update(key.ek());
        hash.update(key.share());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
