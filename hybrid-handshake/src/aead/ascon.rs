//! Ascon-AEAD128 (NIST SP 800-232 section 4) on the permutation of `kem-core`.
//!
//! Written here because key and state have to be wiped without an allocator, and because firmware then links one
//! permutation for hashing and records.

use kem_core::{
    ct::declassify,
    permutation::{Ascon, Permutation},
};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::{Aead, Key, Nonce, Tag};
use crate::Error;

/// Ascon-AEAD128 (NIST SP 800-232 section 4): key 16, nonce 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct AsconAead128;

impl Aead for AsconAead128 {
    fn key_len(self) -> usize {
        BLOCK_LEN
    }

    fn nonce_len(self) -> usize {
        Nonce::MAX_LEN
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        let mut state = State::new(key, nonce);
        state.absorb(ad);
        let (blocks, last) = text.as_chunks_mut::<BLOCK_LEN>();
        for block in blocks {
            state.encrypt(block);
            state.words.permute8();
        }
        state.encrypt(last);
        state.words.xor_byte(last.len(), PADDING);
        Ok(state.finish())
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        let mut state = State::new(key, nonce);
        state.absorb(ad);
        let (blocks, last) = text.as_chunks_mut::<BLOCK_LEN>();
        for block in blocks {
            state.decrypt(block);
            state.words.permute8();
        }
        state.decrypt(last);
        state.words.xor_byte(last.len(), PADDING);
        if declassify(state.finish().ct_eq(tag)) {
            Ok(())
        } else {
            text.zeroize();
            Err(Error::Rejected)
        }
    }
}

/// The state of the permutation, which is wiped on drop, and for the end the key.
struct State<'k> {
    words: Ascon,
    key: &'k [u8; BLOCK_LEN],
}

impl<'k> State<'k> {
    /// Initialization (SP 800-232 algorithm 3).
    fn new(key: &'k Key, nonce: &Nonce) -> Self {
        let [key @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = key.as_bytes();
        let mut state = Self {
            words: Ascon::ZERO,
            key,
        };
        state.words.xor(0, IV);
        state.words.xor_bytes(8, key);
        state.words.xor_bytes(24, nonce.as_bytes());
        state.words.permute();
        state.words.xor_bytes(24, key);
        state
    }

    /// Associated data, padded only where there is some, and the bit between it and the text.
    fn absorb(&mut self, ad: &[u8]) {
        let (blocks, last) = ad.as_chunks::<BLOCK_LEN>();
        for block in blocks {
            self.words.xor_bytes(0, block);
            self.words.permute8();
        }
        if !ad.is_empty() {
            self.words.xor_bytes(0, last);
            self.words.xor_byte(last.len(), PADDING);
            self.words.permute8();
        }
        self.words.xor_byte(39, 0x80);
    }

    /// A block or less.
    fn encrypt(&mut self, block: &mut [u8]) {
        self.words.xor_bytes(0, block);
        self.words.copy_bytes(0, block);
    }

    /// A block or less.
    fn decrypt(&mut self, block: &mut [u8]) {
        let mut key_stream = Zeroizing::new([0; BLOCK_LEN]);
        self.words.copy_bytes(0, &mut *key_stream);
        for (byte, key_stream) in block.iter_mut().zip(*key_stream) {
            *byte ^= key_stream;
        }
        // The rate becomes the ciphertext, which is the plaintext added to the key stream.
        self.words.xor_bytes(0, block);
    }

    fn finish(&mut self) -> Tag {
        self.words.xor_bytes(16, self.key);
        self.words.permute();
        self.words.xor_bytes(24, self.key);
        let mut tag = Tag::default();
        self.words.copy_bytes(24, &mut tag);
        tag
    }
}

/// The one bit behind less than a block (SP 800-232 section 2.1, little-endian bit order).
const PADDING: u8 = 0x01;

/// Rate, key, nonce and tag.
const BLOCK_LEN: usize = 16;

/// SP 800-232 table 14.
const IV: u64 = 0x0000_1000_808c_0001;
