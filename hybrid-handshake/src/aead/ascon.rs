//! Ascon-AEAD128 (NIST SP 800-232).

use ascon_aead::{
    AsconAead128 as Cipher,
    aead::{AeadInOut, KeyInit},
};
use zeroize::Zeroizing;

use super::{Aead, Key, Nonce, Tag};
use crate::Error;

/// Ascon-AEAD128 (NIST SP 800-232 section 4): key 16, nonce 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct AsconAead128;

const KEY_LEN: usize = 16;

impl Aead for AsconAead128 {
    fn key_len(self) -> usize {
        KEY_LEN
    }

    fn nonce_len(self) -> usize {
        Nonce::MAX_LEN
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        cipher(key)
            .encrypt_inout_detached(nonce.as_bytes().into(), ad, text.into())
            .map(Into::into)
            .map_err(|_| Error::Misuse)
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        cipher(key)
            .decrypt_inout_detached(nonce.as_bytes().into(), ad, text.into(), tag.into())
            .map_err(|_| Error::Rejected)
    }
}

fn cipher(key: &Key) -> Cipher {
    let mut short = Zeroizing::new([0; KEY_LEN]);
    short.copy_from_slice(&key.as_bytes()[..KEY_LEN]);
    Cipher::new((&*short).into())
}
