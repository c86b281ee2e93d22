//! ChaCha20-Poly1305 (RFC 8439).

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305 as Cipher, KeyInit};

use super::{Aead, Key, Nonce, Tag};
use crate::Error;

/// ChaCha20-Poly1305 (RFC 8439 section 2.8): key 32, nonce 12 bytes.
#[derive(Clone, Copy, Debug)]
pub struct ChaCha20Poly1305;

const NONCE_LEN: usize = 12;

impl Aead for ChaCha20Poly1305 {
    fn key_len(self) -> usize {
        Key::MAX_LEN
    }

    fn nonce_len(self) -> usize {
        NONCE_LEN
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        Cipher::new(key.as_bytes().into())
            .encrypt_inout_detached(&prefix(nonce).into(), ad, text.into())
            .map(Into::into)
            .map_err(|_| Error::Misuse)
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        Cipher::new(key.as_bytes().into())
            .decrypt_inout_detached(&prefix(nonce).into(), ad, text.into(), tag.into())
            .map_err(|_| Error::Rejected)
    }
}

fn prefix(nonce: &Nonce) -> [u8; NONCE_LEN] {
    let [n @ .., _, _, _, _] = nonce.as_bytes();
    *n
}
