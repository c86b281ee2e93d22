extern crate std;

use std::{vec, vec::Vec};

use hex::encode;
use kem_core::rand_core::Rng;

use super::*;

fn id() -> DeviceId {
    DeviceId::new("pump-7").unwrap()
}

fn next32(drbg: &mut Drbg) -> std::string::String {
    let mut out = [0; 32];
    drbg.fill_bytes(&mut out);
    encode(out)
}

/// Expected values of this file: Python's hashlib, hmac and zlib.
#[test]
fn draws_and_stirring_as_in_the_protocol() {
    let seed: Vec<u8> = (0..32).collect();
    let mut drbg = Drbg::broker(seed.as_slice().try_into().unwrap());
    let (mut first, mut second) = ([0; 16], [0; 40]);
    drbg.fill_bytes(&mut first);
    drbg.fill_bytes(&mut second);
    assert_eq!(encode(first), "f156cecd8bab23b3c34d8e88a1066794");
    assert_eq!(
        encode(second),
        "e01f4d76c944d4eac1695d9dbe69745e065c9f170cd17c794a3946a5765d0151658ca8da6ac4509b"
    );
    drbg.stir(&[0x55; 32]);
    assert_eq!(
        next32(&mut drbg),
        "386de77042771d5f29dfdcd5c6dde12c04a98cb8778035a8b0125cc7f575a2a5"
    );
}

#[test]
fn device_generator_takes_seed_id_and_noise() {
    let mut drbg = Drbg::device(&[0x11; 32], &id(), &[0x22; 32]);
    assert_eq!(
        next32(&mut drbg),
        "9fdbee142644e32a9347508e404eb5548ec9df740cbff35fe0396bec1cb76ecd"
    );
}

#[test]
fn a_fork_makes_the_same_draws() {
    let mut drbg = Drbg::broker(&[7; 32]);
    let mut fork = drbg.fork();
    assert_eq!(fork.reject_secret(), drbg.reject_secret());
    assert_eq!(next32(&mut fork), next32(&mut drbg));
}

#[test]
fn draws_beyond_the_limit_of_hkdf_are_filled() {
    let mut out = vec![0; MAX_DRAW + 32];
    Drbg::broker(&[7; 32]).fill_bytes(&mut out);
    assert_ne!(out[MAX_DRAW..], [0; 32]);
    assert_ne!(out[MAX_DRAW..], out[..32]);
}

/// Against the catalogue's check value and the crate `crc`, in pieces too.
#[test]
fn checksums_are_crc_32_iso_hdlc() {
    let of = |parts: &[&[u8]]| {
        let mut crc = Crc32::new();
        parts.iter().for_each(|part| crc.update(part));
        u32::from_be_bytes(crc.finish())
    };
    assert_eq!(of(&[b"123456789"]), 0xcbf4_3926);
    let bytes: [u8; 256] = core::array::from_fn(|i| (i * 7) as u8);
    for len in 0..bytes.len() {
        let (first, rest) = bytes[..len].split_at(len / 3);
        let expected = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&bytes[..len]);
        assert_eq!(of(&[first, rest]), expected, "{len}");
    }
}
