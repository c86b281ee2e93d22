//! Against the crate of RustCrypto, on every backend of this processor.

extern crate std;

use std::{vec, vec::Vec};

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305 as Oracle, KeyInit};
use proptest::prelude::*;

use super::wide::{open_with, seal_with};
use super::{NONCE_LEN, Tag};
use crate::Error;
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
use crate::backends::chacha20::Avx2;
use crate::backends::chacha20::{KeyStream, Portable};

struct Case {
    key: [u8; 32],
    nonce: [u8; NONCE_LEN],
    ad: Vec<u8>,
    text: Vec<u8>,
}

impl Case {
    fn oracle(&self) -> (Vec<u8>, Tag) {
        let mut text = self.text.clone();
        let tag = Oracle::new(&self.key.into())
            .encrypt_inout_detached(&self.nonce.into(), &self.ad, (&mut text[..]).into())
            .unwrap();
        (text, tag.into())
    }

    /// Every backend seals as the oracle does, opens that, and refuses it with a bit changed.
    fn check(&self) {
        self.check_on(|| Some(Portable::new(&self.key, &self.nonce)));
        #[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
        self.check_on(|| Avx2::new(&self.key, &self.nonce));
    }

    fn check_on<K: KeyStream>(&self, stream: impl Fn() -> Option<K>) {
        let (sealed, tag) = self.oracle();
        let seal = |text: &mut [u8]| Some(seal_with(stream()?, &self.ad, text));
        let open = |text: &mut [u8], tag: &Tag| Some(open_with(stream()?, &self.ad, text, tag));
        let mut ours = self.text.clone();
        let Some(our_tag) = seal(&mut ours) else { return };
        assert_eq!((&ours, our_tag), (&sealed, Ok(tag)), "{} {}", ours.len(), self.ad.len());
        assert_eq!(open(&mut ours, &tag), Some(Ok(())));
        assert_eq!(ours, self.text);

        let refused = (Some(Err(Error::Rejected)), vec![0; sealed.len()]);
        for place in [0, sealed.len() / 2, sealed.len().wrapping_sub(1)] {
            let mut ours = sealed.clone();
            let Some(byte) = ours.get_mut(place) else { continue };
            *byte ^= 0x10;
            assert_eq!((open(&mut ours, &tag), ours), refused);
        }
        let (mut ours, mut other_tag) = (sealed, tag);
        other_tag[15] ^= 1;
        assert_eq!((open(&mut ours, &other_tag), ours), refused);
    }
}

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(0x9d) ^ (i >> 8) as u8 ^ seed)
        .collect()
}

#[test]
fn every_length_up_to_300_and_around_every_step() {
    let around_steps = [448, 512, 448 + 512, 448 + 1024, 4096, 16384].map(|len| len - 3..=len + 3);
    for len in (0..300).chain(around_steps.into_iter().flatten()) {
        for ad_len in [0, 2, 16, 35] {
            Case {
                key: core::array::from_fn(|i| (i * 7 + len) as u8),
                nonce: core::array::from_fn(|i| (i * 11 + ad_len) as u8),
                ad: bytes(ad_len, 0x5a),
                text: bytes(len, 0xc3),
            }
            .check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_key_nonce_and_data(
        key: [u8; 32],
        nonce: [u8; NONCE_LEN],
        ad in proptest::collection::vec(any::<u8>(), 0..70),
        text in proptest::collection::vec(any::<u8>(), 0..6000),
    ) {
        Case { key, nonce, ad, text }.check();
    }

    /// Extremes of words and carries.
    #[test]
    fn sparse_data(key in sparse(), nonce: [u8; NONCE_LEN], text in proptest::collection::vec(prop_oneof![Just(0_u8), Just(0xff)], 0..1500)) {
        Case { key, nonce, ad: vec![0xff; 3], text }.check();
    }
}

fn sparse() -> impl Strategy<Value = [u8; 32]> {
    prop_oneof![Just([0; 32]), Just([0xff; 32]), any::<[u8; 32]>()]
}
