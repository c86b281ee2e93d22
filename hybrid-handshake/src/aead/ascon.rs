//! Ascon-AEAD128 (NIST SP 800-232 section 4) on the permutation of the `ascon` crate.
//!
//! Written here because key and state have to be wiped without an allocator, and because firmware then links one
//! permutation for hashing and records.

use ascon::{permute8, permute12};
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
            permute8(&mut state.words);
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
            permute8(&mut state.words);
        }
        for (byte, key_stream) in last.iter_mut().zip(*state.rate()) {
            *byte ^= key_stream;
        }
        state.xor(&padded(last));
        if bool::from(state.finish().ct_eq(tag)) {
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
    words: [u64; 5],
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
            words: [IV, k0, k1, n0, n1],
            key,
        };
        permute12(&mut state.words);
        state.xor_key_to_end();
        state
    }

    /// Associated data, padded only where there is some, and the bit between it and the text.
    fn absorb(&mut self, ad: &[u8]) {
        let (blocks, last) = ad.as_chunks();
        for block in blocks {
            self.xor(block);
            permute8(&mut self.words);
        }
        if !ad.is_empty() {
            self.xor(&padded(last));
            permute8(&mut self.words);
        }
        let [.., x4] = &mut self.words;
        *x4 ^= 1 << 63;
    }

    fn encrypt(&mut self, block: &mut [u8; BLOCK_LEN]) {
        self.xor(block);
        let [x0, x1, ..] = self.words;
        *block = store([x0, x1]);
    }

    fn decrypt(&mut self, block: &mut [u8; BLOCK_LEN]) {
        let [c0, c1] = load(block);
        let [x0, x1, ..] = &mut self.words;
        *block = store([*x0 ^ c0, *x1 ^ c1]);
        (*x0, *x1) = (c0, c1);
    }

    fn finish(&mut self) -> Tag {
        let [k0, k1] = self.key;
        let [_, _, x2, x3, _] = &mut self.words;
        *x2 ^= k0;
        *x3 ^= k1;
        permute12(&mut self.words);
        self.xor_key_to_end();
        let [.., x3, x4] = self.words;
        store([x3, x4])
    }

    fn xor(&mut self, block: &[u8; BLOCK_LEN]) {
        let [b0, b1] = load(block);
        let [x0, x1, ..] = &mut self.words;
        *x0 ^= b0;
        *x1 ^= b1;
    }

    fn xor_key_to_end(&mut self) {
        let [k0, k1] = self.key;
        let [.., x3, x4] = &mut self.words;
        *x3 ^= k0;
        *x4 ^= k1;
    }

    fn rate(&self) -> Zeroizing<[u8; BLOCK_LEN]> {
        let [x0, x1, ..] = self.words;
        Zeroizing::new(store([x0, x1]))
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
