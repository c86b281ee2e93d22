//! Key, iv and counter of one direction.

use zeroize::Zeroizing;

use crate::Error;
use crate::aead::{Aead, Key, Nonce, Tag};
use crate::schedule::{Prk, expand};

/// Never reuses a nonce: the counter moves on with every use, and behind the last one comes another key.
pub(super) struct Direction<A> {
    aead: A,
    secret: Zeroizing<[u8; 32]>,
    key: Key,
    iv: Nonce,
    counter: u16,
}

impl<A: Aead> Direction<A> {
    pub(super) fn new(aead: A, secret: &[u8; 32]) -> Self {
        let (key, iv) = (Key::zeroed(), Nonce::zeroed());
        let mut direction = Self {
            aead,
            secret: Zeroizing::new([0; 32]),
            key,
            iv,
            counter: 0,
        };
        direction.replace(secret);
        direction
    }

    /// A direction of the same AEAD with another secret.
    pub(super) fn successor(&self, secret: &[u8; 32]) -> Self {
        Self::new(self.aead, secret)
    }

    pub(super) fn replace(&mut self, secret: &[u8; 32]) {
        *self.secret = *secret;
        self.derive();
    }

    /// Whether nothing has been sealed or opened under this secret yet.
    pub(super) const fn is_fresh(&self) -> bool {
        self.counter == 0
    }

    pub(super) fn seal(&mut self, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        let tag = self.aead.seal(&self.key, &self.nonce(), ad, text)?;
        self.advance();
        Ok(tag)
    }

    pub(super) fn open(&mut self, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        self.aead.open(&self.key, &self.nonce(), ad, text, tag)?;
        self.advance();
        Ok(())
    }

    /// As if so many records had passed: a test that seals them all takes its time.
    #[cfg(test)]
    pub(super) const fn skip_to(&mut self, counter: u16) {
        self.counter = counter;
    }

    fn nonce(&self) -> Nonce {
        let mut nonce = Nonce::zeroed();
        *nonce.as_mut_bytes() = *self.iv.as_bytes();
        // The counter is the end of the nonce, eight bytes of which six are always zero.
        let counted = nonce
            .as_mut_bytes()
            .get_mut(..self.aead.nonce_len())
            .and_then(|n| n.last_chunk_mut::<2>());
        if let Some(end) = counted {
            *end = (u16::from_be_bytes(*end) ^ self.counter).to_be_bytes();
        }
        nonce
    }

    fn advance(&mut self) {
        match self.counter.checked_add(1) {
            Some(next) => self.counter = next,
            None => {
                let mut next = Zeroizing::new([0; 32]);
                expand(&self.secret, b"up", &[], &mut *next);
                self.secret = next;
                self.derive();
            }
        }
    }

    fn derive(&mut self) {
        let secret = Prk::new(&self.secret);
        let (key_len, nonce_len) = (self.aead.key_len(), self.aead.nonce_len());
        if let Some(key) = self.key.as_mut_bytes().get_mut(..key_len) {
            secret.expand(b"key", &[], key);
        }
        if let Some(iv) = self.iv.as_mut_bytes().get_mut(..nonce_len) {
            secret.expand(b"iv", &[], iv);
        }
        self.counter = 0;
    }
}
