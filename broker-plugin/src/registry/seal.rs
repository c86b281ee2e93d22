//! ChaCha20-Poly1305 under a key file: what the registry keeps secret is worth nothing without that file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use chacha20poly1305::{AeadInOut as _, ChaCha20Poly1305, KeyInit as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The key that seals every secret of a registry.
#[derive(ZeroizeOnDrop)]
pub struct SealKey([u8; KEY_LEN]);

impl SealKey {
    /// A fresh key from the operating system.
    ///
    /// # Errors
    /// [`SealError::Random`] if the operating system has no randomness.
    pub fn generate() -> Result<Self, SealError> {
        let mut key = [0; KEY_LEN];
        getrandom::fill(&mut key).map_err(|_| SealError::Random)?;
        Ok(Self(key))
    }

    /// Makes a fresh key and writes it to a new file of mode 0600 as 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`SealError::File`], also if the file is there already.
    pub fn create(path: &Path) -> Result<Self, SealError> {
        let key = Self::generate()?;
        let text = Zeroizing::new(hex::encode(key.0) + "\n");
        write_private(path, &text).map_err(|error| SealError::File(path.to_owned(), error))?;
        Ok(key)
    }

    /// Reads a key file and checks that nobody but its owner can read it.
    ///
    /// # Errors
    /// [`SealError`] for a missing, open or damaged file.
    pub fn load(path: &Path) -> Result<Self, SealError> {
        let at = |error| SealError::File(path.to_owned(), error);
        let file = File::open(path).map_err(at)?;
        let mode = file.metadata().map_err(at)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SealError::Permissions {
                path: path.to_owned(),
                mode,
            });
        }
        let mut text = Zeroizing::new(String::new());
        file.take(256).read_to_string(&mut text).map_err(at)?;
        let mut key = Self([0; KEY_LEN]);
        hex::decode_to_slice(text.trim(), &mut key.0).map_err(|_| SealError::Format(path.to_owned()))?;
        Ok(key)
    }

    /// nonce(12) | ciphertext | tag(16), bound to `place`.
    pub(crate) fn seal(&self, place: &[&[u8]], secret: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Random)?;
        let mut sealed = Vec::with_capacity(NONCE_LEN + secret.len() + TAG_LEN);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(secret);
        let (_, text) = sealed.split_at_mut(NONCE_LEN);
        let cipher = ChaCha20Poly1305::new(&self.0.into());
        let tag = cipher
            .encrypt_inout_detached(&nonce.into(), &associated(place), text.into())
            .map_err(|_| SealError::TooLong)?;
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// Undoes [`SealKey::seal`].
    pub(crate) fn open(&self, place: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(SealError::Sealed)?;
        let (text, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or(SealError::Sealed)?;
        let mut text = Zeroizing::new(text.to_vec());
        ChaCha20Poly1305::new(&self.0.into())
            .decrypt_inout_detached(
                &(*nonce).into(),
                &associated(place),
                text.as_mut_slice().into(),
                &(*tag).into(),
            )
            .map_err(|_| SealError::Sealed)?;
        Ok(text)
    }

    /// A hash of `secret` that only holders of the key can compute: finds equal secrets without keeping them open.
    pub(super) fn fingerprint(&self, secret: &[u8]) -> [u8; 32] {
        // HMAC pads a short key with zero bytes to the block of its hash.
        let mut block = Zeroizing::new([0; HMAC_BLOCK_LEN]);
        block.iter_mut().zip(self.0).for_each(|(place, byte)| *place = byte);
        let mut mac = Hmac::<Sha256>::new(&(*block).into());
        mac.update(b"kemqtt credential");
        mac.update(secret);
        mac.finalize().into_bytes().into()
    }
}

/// What went wrong with the key file or a sealed value.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Random,
    /// The key file cannot be read or written.
    #[error("key file {}: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
    /// Others can read the key file.
    #[error("key file {} has mode {mode:03o}; run `chmod 600 {}`", path.display(), path.display())]
    Permissions {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file is not 64 hexadecimal digits.
    #[error("key file {} must hold 64 hexadecimal digits", .0.display())]
    Format(PathBuf),
    /// Wrong key file for this registry, or the value was changed.
    #[error("a sealed value does not open: wrong key file for this registry, or the registry was changed")]
    Sealed,
    /// The secret is longer than the cipher takes.
    #[error("secret too long to seal")]
    TooLong,
}

/// Writes a new file of mode 0600, whole or not at all: no part of a secret is left where the disk is full.
///
/// # Errors
/// The file system's, also if the file is there already.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_private(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.inspect_err(|_| {
        // Nobody else can have made it.
        let _ = fs::remove_file(path);
    })
}

/// A new, empty file of mode 0600; fails if there is one.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Length-prefixed parts, so that two places never share their bytes.
fn associated(place: &[&[u8]]) -> Vec<u8> {
    let mut out = b"kemqtt registry".to_vec();
    for part in place {
        out.extend_from_slice(&(part.len() as u64).to_be_bytes());
        out.extend_from_slice(part);
    }
    out
}

const KEY_LEN: usize = 32;
const HMAC_BLOCK_LEN: usize = 64;
const NONCE_LEN: usize = 12;
const TAG_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_only_at_its_place_and_unchanged() {
        let key = SealKey([7; 32]);
        let mut sealed = key.seal(&[b"devices", b"a"], b"secret").unwrap();
        assert_eq!(*key.open(&[b"devices", b"a"], &sealed).unwrap(), b"secret");
        assert!(key.open(&[b"devices", b"b"], &sealed).is_err());
        assert!(key.open(&[b"devicesa", b""], &sealed).is_err());
        assert!(SealKey([8; 32]).open(&[b"devices", b"a"], &sealed).is_err());
        assert!(key.open(&[b"devices", b"a"], &sealed[..27]).is_err());
        *sealed.last_mut().unwrap() ^= 1;
        assert!(key.open(&[b"devices", b"a"], &sealed).is_err());
    }

    #[test]
    fn sealing_twice_never_repeats_a_nonce() {
        let key = SealKey([7; 32]);
        assert_ne!(key.seal(&[], b"x").unwrap(), key.seal(&[], b"x").unwrap());
    }
}
