//! ChaCha20-Poly1305 (RFC 8439).

#[cfg(target_pointer_width = "64")]
mod poly1305;
#[cfg(not(target_pointer_width = "64"))]
mod small;
#[cfg(all(test, target_pointer_width = "64"))]
mod tests;
#[cfg(target_pointer_width = "64")]
mod wide;

#[cfg(not(target_pointer_width = "64"))]
use small as native;
#[cfg(target_pointer_width = "64")]
use wide as native;

use super::{Aead, Key, Nonce, Tag};
use crate::Error;

/// ChaCha20-Poly1305 (RFC 8439 section 2.8): key 32, nonce 12 bytes.
#[derive(Clone, Copy, Debug)]
pub struct ChaCha20Poly1305;

impl Aead for ChaCha20Poly1305 {
    fn key_len(self) -> usize {
        Key::MAX_LEN
    }

    fn nonce_len(self) -> usize {
        NONCE_LEN
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        native::seal(key.as_bytes(), &prefix(nonce), ad, text)
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        native::open(key.as_bytes(), &prefix(nonce), ad, text, tag)
    }
}

fn prefix(nonce: &Nonce) -> [u8; NONCE_LEN] {
    let [n @ .., _, _, _, _] = nonce.as_bytes();
    *n
}

const NONCE_LEN: usize = 12;
