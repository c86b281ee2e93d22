//! ChaCha20 in steps of eight blocks and Poly1305 over whole words, one pass over the text: while a step of key stream is made,
//! the ciphertext that is there already is authenticated, so that both kinds of units of the processor are busy.

use kem_core::ct::declassify;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::{NONCE_LEN, Tag, poly1305::Poly1305};
use crate::{
    Error,
    backends::chacha20::{self, BLOCK_LEN, KeyStream, STEP_LEN},
};

pub(super) fn seal(key: &[u8; 32], nonce: &[u8; NONCE_LEN], ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
    #[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
    if let Some(stream) = chacha20::Avx2::new(key, nonce) {
        return seal_with(stream, ad, text);
    }
    seal_with(chacha20::Portable::new(key, nonce), ad, text)
}

pub(super) fn open(
    key: &[u8; 32],
    nonce: &[u8; NONCE_LEN],
    ad: &[u8],
    text: &mut [u8],
    tag: &Tag,
) -> Result<(), Error> {
    #[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
    if let Some(stream) = chacha20::Avx2::new(key, nonce) {
        return open_with(stream, ad, text, tag);
    }
    open_with(chacha20::Portable::new(key, nonce), ad, text, tag)
}

/// RFC 8439 section 2.8.
pub(super) fn seal_with(stream: impl KeyStream, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
    let mut parts = Parts::start(stream, ad, text.len())?;
    let len = text.len();
    let (first, rest) = text.split_at_mut(len.min(FIRST_LEN));
    parts.xor_first(first);
    // The part that is encrypted and not authenticated yet. All but the last are whole groups.
    let mut sealed: &[u8] = first;
    for step in rest.chunks_mut(STEP_LEN) {
        parts.next_step(sealed);
        xor(step, &*parts.bytes);
        sealed = step;
    }
    parts.mac.update_padded(sealed);
    Ok(parts.finish(ad.len(), len))
}

/// Decrypts as it goes, and wipes `text` if the tag turns out not to fit.
pub(super) fn open_with(stream: impl KeyStream, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
    let mut parts = Parts::start(stream, ad, text.len()).map_err(|_| Error::Rejected)?;
    let (first, rest) = text.split_at_mut(text.len().min(FIRST_LEN));
    parts.mac.update_padded(first);
    parts.xor_first(first);
    for step in rest.chunks_mut(STEP_LEN) {
        let (groups, last) = step.split_at_mut(step.len() / GROUP_LEN * GROUP_LEN);
        parts.next_step(groups);
        parts.mac.update_padded(last);
        xor(step, &*parts.bytes);
    }
    if declassify(parts.finish(ad.len(), text.len()).ct_eq(tag)) {
        Ok(())
    } else {
        text.zeroize();
        Err(Error::Rejected)
    }
}

/// Key stream and authenticator of one text.
struct Parts<K> {
    stream: K,
    /// The step of key stream that is in use.
    bytes: Zeroizing<[u8; STEP_LEN]>,
    mac: Poly1305,
}

impl<K: KeyStream> Parts<K> {
    /// Block 0 is the key of the authenticator; the first step has seven blocks more.
    fn start(mut stream: K, ad: &[u8], len: usize) -> Result<Self, Error> {
        if len / BLOCK_LEN >= u32::MAX as usize {
            return Err(Error::Misuse);
        }
        let mut bytes = Zeroizing::new([0; STEP_LEN]);
        stream.next(&mut bytes, |_| ());
        let (key, _) = bytes.split_first_chunk().ok_or(Error::Misuse)?;
        let mut mac = Poly1305::new(key);
        mac.update_padded(ad);
        Ok(Self { stream, bytes, mac })
    }

    fn xor_first(&self, first: &mut [u8]) {
        xor(first, self.bytes.split_at(BLOCK_LEN).1);
    }

    /// Makes the next step of key stream and authenticates `groups`, at most a step of them, meanwhile.
    fn next_step(&mut self, groups: &[u8]) {
        let (groups, _) = groups.as_chunks::<GROUP_LEN>();
        let Self { stream, bytes, mac } = self;
        stream.next(
            bytes,
            #[inline(always)]
            |round| {
                if let Some(group) = groups.get(round) {
                    let (blocks, _) = group.as_chunks();
                    blocks.iter().for_each(|block| mac.update(block));
                }
            },
        );
    }

    /// The tag, after both lengths.
    fn finish(mut self, ad_len: usize, len: usize) -> Tag {
        let lengths = u128::from(len as u64) << 64 | u128::from(ad_len as u64);
        self.mac.update(&lengths.to_le_bytes());
        self.mac.finish()
    }
}

fn xor(text: &mut [u8], key_stream: &[u8]) {
    text.iter_mut().zip(key_stream).for_each(|(byte, key)| *byte ^= key);
}

/// What the first step encrypts.
const FIRST_LEN: usize = STEP_LEN - BLOCK_LEN;
/// What is authenticated during one double round: eight of ten for a step.
const GROUP_LEN: usize = 64;
const _: () = assert!(STEP_LEN == 8 * GROUP_LEN && FIRST_LEN.is_multiple_of(GROUP_LEN));
