//! Intermediate values of the reference implementation, and the places where a wrong Saber still agrees with itself.

use kem_core::hash::{Sha3_256, Sha3_512, Shake128};
use kem_core::pack::unpack;
use kem_core::testkit::{File, Recorder, Vector};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use saber::{FireSaber, LightSaber, Saber};

/// First vector of each set: encapsulation key length, then the vector.
fn first_vectors() -> [(usize, Vector); 3] {
    let first = |json| {
        serde_json::from_str::<File>(json)
            .expect("vector file parses")
            .vectors
            .remove(0)
    };
    [
        (LightSaber::EK_LEN, first(include_str!("vectors/lightsaber.json"))),
        (Saber::EK_LEN, first(include_str!("vectors/saber.json"))),
        (FireSaber::EK_LEN, first(include_str!("vectors/firesaber.json"))),
    ]
}

fn stored_dk(v: &Vector) -> &[u8] {
    v.dk.as_ref().expect("no digest in its place")
}

fn extra_bytes(v: &Vector, name: &str) -> Vec<u8> {
    hex::decode(v.extra[name].as_str().expect("a string")).expect("hexadecimal")
}

fn extra_numbers(v: &Vector, name: &str) -> Vec<i16> {
    serde_json::from_value(v.extra[name].clone()).expect("numbers")
}

fn sha3_256(parts: &[&[u8]]) -> [u8; 32] {
    let mut out = [0; 32];
    Sha3_256::digest(parts, &mut out);
    out
}

#[test]
fn seed_a_is_hashed_and_seed_s_and_z_are_not() {
    for (ek_len, v) in first_vectors() {
        let (raw, z) = (&v.keygen_coins[..32], &v.keygen_coins[64..]);
        let mut seed_a = [0; 32];
        Shake128::digest(&[raw], &mut seed_a);
        assert_eq!(seed_a, extra_bytes(&v, "seed_A")[..]);
        assert_eq!(v.ek[ek_len - 32..], seed_a);
        assert!(stored_dk(&v).ends_with(z));
        // SHAKE128(seed_s, ..) read as GenSecret reads it for mu = 8 gives s, which shows for Saber on whole bytes.
        if ek_len == Saber::EK_LEN {
            let mut stream = [0; 16];
            Shake128::digest(&[&v.keygen_coins[32..64]], &mut stream);
            let weights = stream.map(|byte| (byte & 15).count_ones() as i16 - (byte >> 4).count_ones() as i16);
            assert_eq!(weights, extra_numbers(&v, "s0_first16")[..]);
        }
    }
}

#[test]
fn secrets_and_keys_are_packed_as_the_reference_packs_them() {
    for (ek_len, v) in first_vectors() {
        // 13 bits and two's complement, not the 4 bits that some implementations store.
        let s: Vec<_> = unpack::<13>(stored_dk(&v))
            .take(16)
            .map(|c| (c << 3) as i16 >> 3)
            .collect();
        assert_eq!(s, extra_numbers(&v, "s0_first16"));
        let b: Vec<_> = unpack::<10>(&v.ek).take(8).map(|c| c as i16).collect();
        assert_eq!(b, extra_numbers(&v, "b0_first8"));
        let cm = &v.ct[ek_len - 32..];
        let cm: Vec<_> = match cm.len() / 32 {
            3 => unpack::<3>(cm).take(16).map(|c| c as i16).collect(),
            4 => unpack::<4>(cm).take(16).map(|c| c as i16).collect(),
            _ => unpack::<6>(cm).take(16).map(|c| c as i16).collect(),
        };
        assert_eq!(cm, extra_numbers(&v, "cm_first16"));
    }
}

/// m is the hash of the coins; the first half of SHA3-512 is k; the secret hashes k before the ciphertext.
#[test]
fn the_hashes_chain_in_the_order_of_the_specification() {
    for (_, v) in first_vectors() {
        let m = sha3_256(&[&v.encaps_coins]);
        assert_eq!(m, extra_bytes(&v, "m")[..]);
        let ek_hash = sha3_256(&[&v.ek]);
        assert_eq!(ek_hash, extra_bytes(&v, "SHA3_256_pk")[..]);
        let mut kr = [0; 64];
        Sha3_512::digest(&[&m, &ek_hash], &mut kr);
        assert_eq!(kr, extra_bytes(&v, "kr")[..]);
        let ct_hash = sha3_256(&[&v.ct]);
        assert_eq!(ct_hash, extra_bytes(&v, "SHA3_256_ct")[..]);
        assert_eq!(sha3_256(&[&kr[..32], &ct_hash]), v.ss[..]);
    }
}

/// A generator as the KAT's gives other bytes for one request of 96 than for three of 32.
#[test]
fn randomness_is_requested_in_pieces_of_32_bytes() {
    fn check<K: Kem>() {
        let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
        let mut rng = Recorder::default();
        K::keygen(&mut rng, &mut ek, &mut dk).expect("never fails");
        assert_eq!(rng.requests, [32; 3]);
        // Every request got a value of its own: z is the last.
        assert_eq!(dk.as_ref()[K::DK_LEN - 32..], [3; 32]);
        K::encaps(
            &mut rng,
            &Ek::parse(ek.as_ref()).expect("right length"),
            &mut ct,
            &mut SharedSecret::zeroed(),
        );
        assert_eq!(rng.requests, [32; 4]);
    }
    check::<LightSaber>();
    check::<Saber>();
    check::<FireSaber>();
}
