//! Ascon-AEAD128 (NIST SP 800-232 section 4) on the permutation of `kem-core`.
//!
//! Written here because key and state have to be wiped without an allocator, and because firmware then links one
//! permutation for hashing and records.

use kem_core::{
    ct::declassify,
    permutation::{Ascon, Permutation},
};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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
        let (blocks, last) = text.as_chunks_mut();
        for block in blocks {
            state.encrypt(block);
            state.words.permute8();
        }
        let mut block = padded(last);
        state.encrypt(&mut block);
        last.copy_from_slice(block.split_at(last.len()).0);
        Ok(state.finish())
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        let mut state = State::new(key, nonce);
        state.absorb(ad);
        let (blocks, last) = text.as_chunks_mut();
        for block in blocks {
            state.decrypt(block);
            state.words.permute8();
        }
        for (byte, key_stream) in last.iter_mut().zip(*state.rate()) {
            *byte ^= key_stream;
        }
        state.xor(&padded(last));
        if declassify(state.finish().ct_eq(tag)) {
            Ok(())
        } else {
            text.zeroize();
            Err(Error::Rejected)
        }
    }
}

/// The state of the permutation and, for the end, the key. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
struct State {
    words: Ascon,
    key: [u64; 2],
}

impl State {
    /// Initialization (SP 800-232 algorithm 3).
    fn new(key: &Key, nonce: &Nonce) -> Self {
        let [n0, n1] = load(nonce.as_bytes());
        let [key @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = key.as_bytes();
        let key = load(key);
        let [k0, k1] = key;
        let mut state = Self {
            words: Ascon::ZERO,
            key,
        };
        for (i, word) in [IV, k0, k1, n0, n1].into_iter().enumerate() {
            state.words.xor(i, word);
        }
        state.words.permute();
        state.xor_key_to_end();
        state
    }

    /// Associated data, padded only where there is some, and the bit between it and the text.
    fn absorb(&mut self, ad: &[u8]) {
        let (blocks, last) = ad.as_chunks();
        for block in blocks {
            self.xor(block);
            self.words.permute8();
        }
        if !ad.is_empty() {
            self.xor(&padded(last));
            self.words.permute8();
        }
        self.words.xor(4, 1 << 63);
    }

    fn encrypt(&mut self, block: &mut [u8; BLOCK_LEN]) {
        self.xor(block);
        *block = *self.rate();
    }

    fn decrypt(&mut self, block: &mut [u8; BLOCK_LEN]) {
        for (byte, key_stream) in block.iter_mut().zip(*self.rate()) {
            *byte ^= key_stream;
        }
        // The rate becomes the ciphertext, which is the plaintext added to the key stream.
        self.xor(block);
    }

    fn finish(&mut self) -> Tag {
        let [k0, k1] = self.key;
        self.words.xor(2, k0);
        self.words.xor(3, k1);
        self.words.permute();
        self.xor_key_to_end();
        store([self.words.lane(3), self.words.lane(4)])
    }

    fn xor(&mut self, block: &[u8; BLOCK_LEN]) {
        let [b0, b1] = load(block);
        self.words.xor(0, b0);
        self.words.xor(1, b1);
    }

    fn xor_key_to_end(&mut self) {
        let [k0, k1] = self.key;
        self.words.xor(3, k0);
        self.words.xor(4, k1);
    }

    fn rate(&self) -> Zeroizing<[u8; BLOCK_LEN]> {
        Zeroizing::new(store([self.words.lane(0), self.words.lane(1)]))
    }
}

/// Less than a block, then a one bit, then zeros (SP 800-232 section 2.1, little-endian bit order).
fn padded(last: &[u8]) -> Zeroizing<[u8; BLOCK_LEN]> {
    let mut block = Zeroizing::new([0; BLOCK_LEN]);
    for (to, from) in block.iter_mut().zip(last.iter().chain(&[1])) {
        *to = *from;
    }
    block
}

fn load(block: &[u8; BLOCK_LEN]) -> [u64; 2] {
    let value = u128::from_le_bytes(*block);
    [value as u64, (value >> 64) as u64]
}

fn store([low, high]: [u64; 2]) -> [u8; BLOCK_LEN] {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

/// Rate, key, nonce and tag.
const BLOCK_LEN: usize = 16;

/// SP 800-232 table 14.
const IV: u64 = 0x0000_1000_808c_0001;
