extern crate std;

use std::vec;
use std::vec::Vec;

use ascon_aead::aead::{AeadInOut, KeyInit};
use hkdf::Hkdf;
use sha2::Sha256;

use super::*;
use crate::aead::AnyAead;

const SECRET: [u8; 32] = [0x5a; 32];
const AEADS: [AnyAead; 2] = [AnyAead::AsconAead128, AnyAead::ChaCha20Poly1305];

fn pair(aead: AnyAead, limit: u16) -> (Sealer<AnyAead>, Opener<AnyAead>) {
    (Sealer::new(aead, &SECRET, limit), Opener::new(aead, &SECRET, limit))
}

fn seal(sealer: &mut Sealer<AnyAead>, content: Content, text: &[u8]) -> Vec<u8> {
    let mut buf = vec![0; Sealer::<AnyAead>::buffer_len(text.len() as u16)];
    buf[HEADROOM..][..text.len()].copy_from_slice(text);
    sealer.seal(content, &mut buf, text.len() as u16).unwrap().to_vec()
}

/// Expand(secret, label, "") of the protocol, straight from the HKDF crate.
fn expand(secret: &[u8], label: &str, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    Hkdf::<Sha256>::from_prk(secret)
        .unwrap()
        .expand(&[b"HKM1 ", label.as_bytes()].concat(), &mut out)
        .unwrap();
    out
}

/// A record as the protocol describes it, straight from the AEAD crates.
fn expected(aead: AnyAead, secret: &[u8], counter: u64, header: &[u8], text: &[u8]) -> Vec<u8> {
    let (key_len, nonce_len) = match aead {
        AnyAead::AsconAead128 => (16, 16),
        AnyAead::ChaCha20Poly1305 => (32, 12),
    };
    let key = expand(secret, "key", key_len);
    let mut nonce = expand(secret, "iv", nonce_len);
    for (n, c) in nonce[nonce_len - 8..].iter_mut().zip(counter.to_be_bytes()) {
        *n ^= c;
    }
    let mut body = text.to_vec();
    let tag: [u8; 16] = match aead {
        AnyAead::AsconAead128 => ascon_aead::AsconAead128::new_from_slice(&key)
            .unwrap()
            .encrypt_inout_detached((&nonce[..]).try_into().unwrap(), header, (&mut body[..]).into())
            .unwrap()
            .into(),
        AnyAead::ChaCha20Poly1305 => chacha20poly1305::ChaCha20Poly1305::new_from_slice(&key)
            .unwrap()
            .encrypt_inout_detached((&nonce[..]).try_into().unwrap(), header, (&mut body[..]).into())
            .unwrap()
            .into(),
    };
    [header, &body, &tag].concat()
}

#[test]
fn records_are_what_the_aead_and_hkdf_crates_say() {
    for aead in AEADS {
        let (mut sealer, mut opener) = pair(aead, 16_384);
        let long = vec![7; 200];
        let longest = vec![9; 16_384];
        let cases: [(Content, &[u8], &[u8]); 6] = [
            (Content::Data, b"x", &[0x00, 17]),
            (Content::Control, b"", &[0x02, 16]),
            (Content::Control, b"abc", &[0x02, 19]),
            (Content::Data, &long, &[0x00, 0xd8, 0x01]),
            (Content::Data, &longest, &[0x00, 0x90, 0x80, 0x01]),
            (Content::Data, &longest[..16_367], &[0x00, 0xff, 0x7f]),
        ];
        for (counter, (content, text, header)) in (0..).zip(cases) {
            let mut record = seal(&mut sealer, content, text);
            assert_eq!(record, expected(aead, &SECRET, counter, header, text));
            let opened = opener.open(&mut record).unwrap();
            assert_eq!((opened.content, &*opened.text), (content, text));
        }
    }
}

#[test]
fn box4_takes_counter_0_with_empty_ad_and_records_follow_at_1() {
    for aead in AEADS {
        let (mut sealer, mut opener) = pair(aead, 64);
        let mut connack = *b"\x20\x03\x00\x00\x00";
        let tag = sealer.seal_box4(&mut connack).unwrap();
        assert_eq!(
            [&connack[..], &tag].concat(),
            expected(aead, &SECRET, 0, &[], b"\x20\x03\x00\x00\x00")
        );
        assert_eq!(opener.open_box4(&mut connack, &tag), Ok(()));
        assert_eq!(&connack, b"\x20\x03\x00\x00\x00");
        let mut record = seal(&mut sealer, Content::Data, b"x");
        assert_eq!(record, expected(aead, &SECRET, 1, &[0, 17], b"x"));
        assert_eq!(opener.open(&mut record).unwrap().text, b"x");

        assert_eq!(sealer.seal_box4(&mut connack), Err(Error::Misuse), "not first");
        assert_eq!(opener.open_box4(&mut connack, &tag), Err(Error::Rejected), "not first");
        assert_eq!(opener.needed(&[]), Err(Error::Rejected), "dead");
        let (mut sealer, mut opener) = pair(aead, 64);
        assert_eq!(sealer.seal_box4(&mut []), Err(Error::Misuse), "empty");
        let empty = expected(aead, &SECRET, 0, &[], b"");
        assert_eq!(
            opener.open_box4(&mut [], empty[..].try_into().unwrap()),
            Err(Error::Rejected),
            "empty"
        );
    }
}

#[test]
fn the_ratchet_turns_after_65536_records() {
    let aead = AnyAead::AsconAead128;
    let (mut sealer, mut opener) = pair(aead, 64);
    let text = [0xc0, 0];
    for counter in 0..0x1_0000_u64 {
        let mut record = seal(&mut sealer, Content::Data, &text);
        if counter == 0xffff {
            assert_eq!(record, expected(aead, &SECRET, 0xffff, &[0, 18], &text));
        }
        assert_eq!(opener.open(&mut record).unwrap().text, text);
    }
    let mut record = seal(&mut sealer, Content::Data, &text);
    assert_eq!(record, expected(aead, &expand(&SECRET, "up", 32), 0, &[0, 18], &text));
    assert_eq!(opener.open(&mut record).unwrap().text, text);
}

#[test]
fn every_ratchet_starts_from_the_one_before() {
    for aead in AEADS {
        let (mut sealer, mut opener) = pair(aead, 64);
        let mut secret = SECRET.to_vec();
        for _ in 0..3 {
            sealer.direction.skip_to(0xffff);
            opener.direction.as_mut().unwrap().skip_to(0xffff);
            for counter in [0xffff, 0, 1] {
                if counter == 0 {
                    secret = expand(&secret, "up", 32);
                }
                let mut record = seal(&mut sealer, Content::Control, b"");
                assert_eq!(record, expected(aead, &secret, counter, &[2, 16], b""));
                assert!(opener.open(&mut record).is_ok());
            }
        }
    }
}

#[test]
fn any_changed_bit_kills_the_opener() {
    for aead in AEADS {
        let record = seal(&mut pair(aead, 64).0, Content::Data, b"hello");
        for bit in 0..record.len() * 8 {
            let (mut sealer, mut opener) = pair(aead, 64);
            let mut changed = record.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let error = opener.open(&mut changed).unwrap_err();
            match bit {
                0 => assert_eq!(error, Error::UnexpectedPacket, "key phase"),
                1 => assert_eq!(error, Error::Rejected, "control flag is authenticated"),
                2..4 => assert_eq!(error, Error::Malformed(Malformed::Reserved)),
                4..8 => assert_eq!(error, Error::UnexpectedPacket, "an MQTT packet type"),
                8..16 => assert_ne!(error, Error::Rejected, "length"),
                _ => assert_eq!(error, Error::Rejected),
            }
            assert_eq!(
                opener.open(&mut seal(&mut sealer, Content::Data, b"hello")),
                Err(Error::Rejected),
                "dead"
            );
            assert_eq!(opener.needed(&[]), Err(Error::Rejected));
            assert_eq!(opener.rekey(&SECRET), Err(Error::Rejected));
            assert_eq!(opener.expect_rekey(&SECRET), Err(Error::Rejected));
        }
    }
}

#[test]
fn lost_repeated_and_reordered_records_do_not_open() {
    for aead in AEADS {
        let (mut sealer, _) = pair(aead, 64);
        let records: Vec<_> = (0..3).map(|i| seal(&mut sealer, Content::Data, &[i])).collect();
        for order in [&[1][..], &[0, 0], &[0, 2], &[1, 0, 2]] {
            let (_, mut opener) = pair(aead, 64);
            let results: Vec<_> = order
                .iter()
                .map(|&i| opener.open(&mut records[i].clone()).is_ok())
                .collect();
            let good = order.iter().zip(0..).take_while(|(i, n)| **i == *n).count();
            assert!(
                results.iter().enumerate().all(|(n, ok)| *ok == (n < good)),
                "{order:?}: {results:?}"
            );
        }
    }
}

#[test]
fn a_record_of_the_other_direction_or_suite_does_not_open() {
    let record = seal(&mut Sealer::new(AEADS[0], &[1; 32], 64), Content::Data, b"x");
    assert_eq!(
        Opener::new(AEADS[0], &[2; 32], 64).open(&mut record.clone()),
        Err(Error::Rejected)
    );
    assert_eq!(
        Opener::new(AEADS[1], &[1; 32], 64).open(&mut record.clone()),
        Err(Error::Rejected)
    );
    assert!(Opener::new(AEADS[0], &[1; 32], 64).open(&mut record.clone()).is_ok());
}

#[test]
fn limits_are_checked_from_the_header_alone() {
    let needed = |limit, received: &[u8]| pair(AEADS[0], limit).1.needed(received);
    assert_eq!(needed(64, &[]), Ok(18));
    assert_eq!(needed(64, &[0]), Ok(18));
    assert_eq!(needed(64, &[0, 80]), Ok(82));
    assert_eq!(needed(64, &[0, 81]), Err(Error::TooLarge { limit: 64 }));
    assert_eq!(needed(16_384, &[0, 0x90, 0x80]), Ok(18));
    assert_eq!(needed(16_384, &[0, 0x90, 0x80, 0x01]), Ok(4 + 16_400));
    assert_eq!(
        needed(16_384, &[0, 0x91, 0x80, 0x01]),
        Err(Error::TooLarge { limit: 16_384 })
    );
    assert_eq!(
        needed(16_384, &[0, 0x80, 0x80, 0x80, 0x01]),
        Err(Error::TooLarge { limit: 16_384 })
    );
    assert_eq!(needed(64, &[2, 16]), Ok(18));
    assert_eq!(needed(64, &[2, 15]), Err(Malformed::Length.into()));
    assert_eq!(needed(64, &[0, 16]), Err(Malformed::Length.into()), "data without data");
    assert_eq!(needed(64, &[0, 17]), Ok(19));
    assert_eq!(needed(64, &[0, 0x91, 0x00]), Err(Malformed::Varint.into()));
    assert_eq!(needed(64, &[4, 17]), Err(Malformed::Reserved.into()));
    assert_eq!(needed(64, &[0xe0, 0]), Err(Error::UnexpectedPacket));

    let mut opener = pair(AEADS[0], 64).1;
    assert!(opener.needed(&[0, 81]).is_err());
    assert_eq!(opener.needed(&[0, 17]), Err(Error::Rejected), "an error is final");
}

#[test]
fn open_wants_exactly_one_record() {
    let record = seal(&mut pair(AEADS[0], 64).0, Content::Data, b"hello");
    let open = |mut record: Vec<u8>| pair(AEADS[0], 64).1.open(&mut record).map(|_| ());
    for end in 0..record.len() {
        assert_eq!(open(record[..end].to_vec()), Err(Malformed::Truncated.into()), "{end}");
    }
    assert_eq!(open([&record[..], &[0]].concat()), Err(Malformed::Trailing.into()));
}

#[test]
fn the_sealer_keeps_the_peers_limit_and_refuses_what_has_no_encoding() {
    let (mut sealer, mut opener) = pair(AEADS[1], 64);
    let mut buf = [0; 100];
    assert_eq!(
        sealer.seal(Content::Data, &mut buf, 65),
        Err(Error::TooLarge { limit: 64 })
    );
    assert_eq!(sealer.seal(Content::Data, &mut buf, 0), Err(Error::Misuse));
    assert_eq!(
        sealer.seal(Content::Data, &mut buf[..83], 64),
        Err(Error::Buffer { needed: 84 })
    );
    let mut record = sealer.seal(Content::Data, &mut buf[..84], 64).unwrap().to_vec();
    assert_eq!(
        opener.open(&mut record).unwrap().text.len(),
        64,
        "the errors before took no counter"
    );
}

#[test]
fn rekey_flips_the_phase_and_restarts_the_counter() {
    let next = [0x77; 32];
    for aead in AEADS {
        // b: both sides change between two records.
        let (mut sealer, mut opener) = pair(aead, 64);
        opener
            .open(&mut seal(&mut sealer, Content::Control, b"\x04\0\x01\0"))
            .unwrap();
        sealer.rekey(&next);
        opener.rekey(&next).unwrap();
        let mut record = seal(&mut sealer, Content::Data, b"x");
        assert_eq!(record, expected(aead, &next, 0, &[1, 17], b"x"));
        assert_eq!(opener.open(&mut record).unwrap().text, b"x");
        // The next one flips it back.
        sealer.rekey(&SECRET);
        opener.rekey(&SECRET).unwrap();
        let mut record = seal(&mut sealer, Content::Control, b"");
        assert_eq!(record, expected(aead, &SECRET, 0, &[2, 16], b""));
        assert_eq!(opener.open(&mut record).unwrap().content, Content::Control);
    }
}

#[test]
fn the_broker_takes_old_records_until_the_client_flips() {
    let next = [0x77; 32];
    for aead in AEADS {
        let (mut sealer, mut opener) = pair(aead, 64);
        opener.expect_rekey(&next).unwrap();
        assert!(opener.awaits_rekey());
        assert_eq!(
            opener.expect_rekey(&next),
            Err(Error::UnexpectedPacket),
            "one at a time"
        );
        for _ in 0..3 {
            assert!(opener.open(&mut seal(&mut sealer, Content::Data, b"old")).is_ok());
        }
        let mut late = seal(&mut sealer, Content::Data, b"old");
        sealer.rekey(&next);
        assert_eq!(
            opener.open(&mut seal(&mut sealer, Content::Data, b"new")).unwrap().text,
            b"new"
        );
        assert!(!opener.awaits_rekey());
        assert_eq!(opener.open(&mut late), Err(Error::UnexpectedPacket), "no way back");
    }
}

#[test]
fn a_flip_that_is_not_due_or_not_under_the_next_secret_closes() {
    let (mut sealer, mut opener) = pair(AEADS[0], 64);
    sealer.rekey(&[0x77; 32]);
    let flipped = seal(&mut sealer, Content::Data, b"x");
    assert_eq!(opener.open(&mut flipped.clone()), Err(Error::UnexpectedPacket));

    let (_, mut opener) = pair(AEADS[0], 64);
    opener.expect_rekey(&[0x78; 32]).unwrap();
    assert_eq!(opener.open(&mut flipped.clone()), Err(Error::Rejected));
    assert!(!opener.awaits_rekey(), "keys are wiped");
}

proptest::proptest! {
    #[test]
    fn random_bytes_never_panic_and_never_open(mut bytes: Vec<u8>, flags in 0_u8..4, limit in 64_u16..=16_384) {
        if let Some(first) = bytes.first_mut() {
            *first &= flags;
        }
        let mut opener = pair(AEADS[0], limit).1;
        let _ = opener.needed(&bytes);
        proptest::prop_assert!(opener.open(&mut bytes).is_err());
    }

    #[test]
    fn a_stream_in_any_pieces_opens_to_what_was_sealed(
        texts in proptest::collection::vec(proptest::collection::vec(0_u8.., 1..300), 1..8),
        step in 1_usize..700,
    ) {
        let (mut sealer, mut opener) = pair(AEADS[1], 300);
        let stream: Vec<u8> = texts.iter().flat_map(|text| seal(&mut sealer, Content::Data, text)).collect();
        let (mut received, mut plain) = (vec![], vec![]);
        for piece in stream.chunks(step) {
            received.extend_from_slice(piece);
            loop {
                let needed = opener.needed(&received).unwrap();
                if received.len() < needed {
                    break;
                }
                if opener.needed(&received[..needed]).unwrap() > needed {
                    continue; // the minimum was enough to see more of the header
                }
                let mut record: Vec<u8> = received.drain(..needed).collect();
                plain.push(opener.open(&mut record).unwrap().text.to_vec());
            }
        }
        assert_eq!(plain, texts);
        assert!(received.is_empty());
    }
}
