//! The crate of RustCrypto, which is smaller.

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305 as Cipher, KeyInit};

use super::{NONCE_LEN, Tag};
use crate::Error;

pub(super) fn seal(key: &[u8; 32], nonce: &[u8; NONCE_LEN], ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
    Cipher::new(key.into())
        .encrypt_inout_detached(nonce.into(), ad, text.into())
        .map(Into::into)
        .map_err(|_| Error::Misuse)
}

pub(super) fn open(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    ad: &[u8],
    text: &mut [u8],
    tag: &Tag,
) -> Result<(), Error> {
    Cipher::new(key.into())
        .decrypt_inout_detached(nonce.into(), ad, text.into(), tag.into())
        .map_err(|_| Error::Rejected)
}
