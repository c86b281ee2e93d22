//! Authenticated encryption in place over the caller's slices.

mod ascon;
mod chacha20poly1305;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Error;

pub use ascon::AsconAead128;
pub use chacha20poly1305::ChaCha20Poly1305;

/// Length of every tag, in bytes.
pub const TAG_LEN: usize = 16;

/// A tag; it stands behind the ciphertext on the wire.
pub type Tag = [u8; TAG_LEN];

/// An AEAD algorithm as a value: zero-sized when it is fixed at build time, [`AnyAead`] when the suite is chosen at run
/// time.
///
/// Nonces never repeat under a key; that is the caller's duty (box keys are used once, records count).
pub trait Aead: Copy {
    /// Bytes of a [`Key`] that count: 16 or 32.
    fn key_len(self) -> usize;

    /// Bytes of a [`Nonce`] that count: 12 or 16.
    fn nonce_len(self) -> usize;

    /// Encrypts `text` in place and returns the tag over it and `ad`.
    ///
    /// # Errors
    /// [`Error::Misuse`] if `text` is longer than the algorithm allows (hundreds of gigabytes).
    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error>;

    /// Checks `tag` over `text` and `ad` in constant time and decrypts `text` in place.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the tag does not fit; `text` then holds nothing of the plaintext.
    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error>;
}

/// An AEAD chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyAead {
    /// Ascon-AEAD128 (NIST SP 800-232).
    AsconAead128,
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305,
}

impl Aead for AnyAead {
    fn key_len(self) -> usize {
        match self {
            Self::AsconAead128 => AsconAead128.key_len(),
            Self::ChaCha20Poly1305 => ChaCha20Poly1305.key_len(),
        }
    }

    fn nonce_len(self) -> usize {
        match self {
            Self::AsconAead128 => AsconAead128.nonce_len(),
            Self::ChaCha20Poly1305 => ChaCha20Poly1305.nonce_len(),
        }
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        match self {
            Self::AsconAead128 => AsconAead128.seal(key, nonce, ad, text),
            Self::ChaCha20Poly1305 => ChaCha20Poly1305.seal(key, nonce, ad, text),
        }
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        match self {
            Self::AsconAead128 => AsconAead128.open(key, nonce, ad, text, tag),
            Self::ChaCha20Poly1305 => ChaCha20Poly1305.open(key, nonce, ad, text, tag),
        }
    }
}

/// A key of any [`Aead`]: its first `key_len` bytes count. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Key([u8; Self::MAX_LEN]);

impl Key {
    /// Length of the longest key, in bytes.
    pub const MAX_LEN: usize = 32;

    /// A key to be filled in.
    pub const fn zeroed() -> Self {
        Self([0; Self::MAX_LEN])
    }

    /// The bytes, to be read by an algorithm.
    pub const fn as_bytes(&self) -> &[u8; Self::MAX_LEN] {
        &self.0
    }

    /// The bytes, to be derived into.
    pub const fn as_mut_bytes(&mut self) -> &mut [u8; Self::MAX_LEN] {
        &mut self.0
    }
}

/// A nonce of any [`Aead`]: its first `nonce_len` bytes count. Wiped on drop, because a direction's iv is secret.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Nonce([u8; Self::MAX_LEN]);

impl Nonce {
    /// Length of the longest nonce, in bytes.
    pub const MAX_LEN: usize = 16;

    /// The nonce of a key that is used once (box1, box2, box3, tickets), or one to be filled in.
    pub const fn zeroed() -> Self {
        Self([0; Self::MAX_LEN])
    }

    /// The bytes, to be read by an algorithm.
    pub const fn as_bytes(&self) -> &[u8; Self::MAX_LEN] {
        &self.0
    }

    /// The bytes, to be derived into.
    pub const fn as_mut_bytes(&mut self) -> &mut [u8; Self::MAX_LEN] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests;
