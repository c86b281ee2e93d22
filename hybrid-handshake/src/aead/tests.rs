extern crate std;

use hex::decode;
use std::vec::Vec;

use super::*;

fn key(bytes: &[u8]) -> Key {
    let mut key = Key::zeroed();
    key.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    key
}

fn nonce(bytes: &[u8]) -> Nonce {
    let mut nonce = Nonce::zeroed();
    nonce.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    nonce
}

/// One known answer: `sealed` is ciphertext and tag.
struct Known {
    aead: AnyAead,
    key: Vec<u8>,
    nonce: Vec<u8>,
    ad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
}

fn rfc_8439_section_2_8_2() -> Known {
    Known {
        aead: AnyAead::ChaCha20Poly1305,
        key: (0x80..0xa0).collect(),
        nonce: decode("070000004041424344454647").unwrap(),
        ad: decode("50515253c0c1c2c3c4c5c6c7").unwrap(),
        text: b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
            .to_vec(),
        sealed: decode(concat!(
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b",
            "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc",
            "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691"
        ))
        .unwrap(),
    }
}

/// Known answers of the NIST lightweight cryptography file of Ascon-AEAD128, counts 1, 2, 34 and 1089.
fn ascon_kats() -> [Known; 4] {
    let kat = |text: u8, ad: u8, sealed: &str| Known {
        aead: AnyAead::AsconAead128,
        key: (0..16).collect(),
        nonce: (0..16).collect(),
        ad: (0..ad).collect(),
        text: (0..text).collect(),
        sealed: decode(sealed).unwrap(),
    };
    [
        kat(0, 0, "4427d64b8e1e1451fc445960f0839bb0"),
        kat(0, 1, "103ab79d913a0321287715a979bb8585"),
        kat(1, 0, "e79f58f1f541fc51b5d438f8e1dd03f147"),
        kat(
            32,
            32,
            "4c086d27a3b51a2333cfc7f22172a9bcad88b8d4d77e50622d788345fa7bee4468915d3f9422289f2349d6a3b4160397",
        ),
    ]
}

fn known_answers() -> impl Iterator<Item = Known> {
    ascon_kats().into_iter().chain([rfc_8439_section_2_8_2()])
}

#[test]
fn sealing_gives_the_known_answers() {
    for k in known_answers() {
        let mut text = k.text.clone();
        let tag = k.aead.seal(&key(&k.key), &nonce(&k.nonce), &k.ad, &mut text).unwrap();
        assert_eq!(
            [&text[..], &tag].concat(),
            k.sealed,
            "{:?}, {} bytes",
            k.aead,
            k.text.len()
        );
    }
}

#[test]
fn opening_gives_the_plaintext_back() {
    for k in known_answers() {
        let (text, tag) = k.sealed.split_last_chunk().unwrap();
        let mut text = text.to_vec();
        assert_eq!(
            k.aead.open(&key(&k.key), &nonce(&k.nonce), &k.ad, &mut text, tag),
            Ok(())
        );
        assert_eq!(text, k.text);
    }
}

#[test]
fn any_changed_bit_is_refused_and_leaves_no_plaintext() {
    for k in known_answers() {
        let open = |key_bytes: &[u8], nonce_bytes: &[u8], ad: &[u8], sealed: &[u8]| {
            let (text, tag) = sealed.split_last_chunk().unwrap();
            let mut text = text.to_vec();
            let result = k.aead.open(&key(key_bytes), &nonce(nonce_bytes), ad, &mut text, tag);
            assert_eq!(result, Err(Error::Rejected));
            assert!(text.len() < 8 || text != k.text); // one byte may be equal by chance
        };
        let each_bit = |bytes: &[u8], f: &dyn Fn(&[u8])| {
            for bit in 0..bytes.len() * 8 {
                let mut bytes = bytes.to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                f(&bytes);
            }
        };
        each_bit(&k.sealed, &|sealed| open(&k.key, &k.nonce, &k.ad, sealed));
        each_bit(&k.ad, &|ad| open(&k.key, &k.nonce, ad, &k.sealed));
        each_bit(&k.key, &|key| open(key, &k.nonce, &k.ad, &k.sealed));
        each_bit(&k.nonce, &|nonce| open(&k.key, nonce, &k.ad, &k.sealed));
    }
}

#[test]
fn bytes_behind_key_and_nonce_length_do_not_count() {
    for k in known_answers() {
        let (mut long_key, mut long_nonce) = (key(&k.key), nonce(&k.nonce));
        long_key.as_mut_bytes()[k.aead.key_len()..].fill(0xff);
        long_nonce.as_mut_bytes()[k.aead.nonce_len()..].fill(0xff);
        let mut text = k.text.clone();
        let tag = k.aead.seal(&long_key, &long_nonce, &k.ad, &mut text).unwrap();
        assert_eq!([&text[..], &tag].concat(), k.sealed);
        assert_eq!((k.key.len(), k.nonce.len()), (k.aead.key_len(), k.aead.nonce_len()));
    }
}

/// Around every block border of text and associated data.
#[test]
fn ascon_agrees_with_the_ascon_aead_crate() {
    use ascon_aead::aead::{AeadInOut, KeyInit};

    let bytes: Vec<u8> = (0..64_u8).map(|i| i.wrapping_mul(0x9d) ^ 0x35).collect();
    let (key_bytes, nonce_bytes) = (&bytes[..16], &bytes[16..32]);
    let oracle = ascon_aead::AsconAead128::new_from_slice(key_bytes).unwrap();
    for text_len in 0..50 {
        for ad_len in 0..35 {
            let ad = &bytes[7..][..ad_len];
            let (mut ours, mut theirs) = (bytes[..text_len].to_vec(), bytes[..text_len].to_vec());
            let tag = AsconAead128
                .seal(&key(key_bytes), &nonce(nonce_bytes), ad, &mut ours)
                .unwrap();
            let nonce_array = nonce_bytes.try_into().unwrap();
            let their_tag = oracle
                .encrypt_inout_detached(nonce_array, ad, (&mut theirs[..]).into())
                .unwrap();
            assert_eq!((&ours, &tag[..]), (&theirs, &their_tag[..]), "{text_len} {ad_len}");
            assert_eq!(
                AsconAead128.open(&key(key_bytes), &nonce(nonce_bytes), ad, &mut ours, &tag),
                Ok(())
            );
            assert_eq!(ours, bytes[..text_len]);
        }
    }
}
