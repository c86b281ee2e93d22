extern crate std;

use std::{format, string::String, string::ToString, vec::Vec};

use hex::encode;

use super::*;
use crate::{
    Error,
    suite::{Group, KemId},
};

fn id() -> DeviceId {
    DeviceId::new("pump-7").unwrap()
}

/// kem, group, then counting bytes modulo 251, then 0..32.
fn key(kem: KemId) -> Vec<u8> {
    let ek = (0..kem.ek_len()).map(|i| (i % 251) as u8);
    [kem.code(), 1].into_iter().chain(ek).chain(0..32).collect()
}

#[test]
fn ids_are_printable_and_fit_a_topic() {
    for good in ["a", "~!\"$%", &"x".repeat(32)] {
        assert_eq!(DeviceId::new(good).unwrap().as_str(), good);
        assert_eq!(
            DeviceId::from_padded(DeviceId::new(good).unwrap().padded()),
            DeviceId::new(good)
        );
    }
    for bad in ["", "a b", "a/b", "a+", "#", "a\0", "\u{7f}", "é", &"x".repeat(33)] {
        assert_eq!(DeviceId::new(bad), Err(Malformed::Value), "{bad:?}");
    }
    let mut padded = *id().padded();
    padded[31] = b'x';
    assert_eq!(DeviceId::from_padded(&padded), Err(Malformed::Value));
}

/// Expected values: Python's hashlib and hmac.
#[test]
fn hashes_of_the_protocol() {
    let bytes = key(KemId::CtruLight);
    let device = PublicKey::parse(&bytes).unwrap();
    let id = id();
    let hash = |mode, id, key| encode(credential_hash(mode, id, key));
    assert_eq!(
        hash(Mode::Kem, Some(&id), Some(&device)),
        "430aeeaec84c7e919c8556abea572c9ac58fa9c3444d0803fd4dde974771a68a"
    );
    assert_eq!(
        hash(Mode::Psk, Some(&id), None),
        "c04457f003ffe7f29eba85ceab254ce71d90380c0ea32c3c0260d8eb8b79c78d"
    );
    assert_eq!(
        hash(Mode::Anonymous, None, None),
        "9b4fb24edd6d1d8830e272398263cdbf026b97392cc35387b991dc0248a628f9"
    );
    let bytes = key(KemId::MlKem512);
    let broker = BrokerKey::parse(&bytes).unwrap();
    let h0 = "c8e5935ea41f6bf875a8cea341528753a210395abe7442420354463f33310784";
    assert_eq!(broker.fingerprint().to_string(), h0);
    assert_eq!(encode(broker.kid()), h0[..16]);
    assert_eq!(h0.parse(), Ok(*broker.fingerprint()));
    assert_eq!(
        encode(DecoySecret::from_bytes([0x33; 32]).answer(&id).expose()),
        "181776387238146c9f6df9ed2d42040428b42e049c04c16b144ef3ad18090be7"
    );
}

#[test]
fn keys_have_one_shape() {
    let good = key(KemId::MlKem512);
    let parsed = PublicKey::parse(&good).unwrap();
    assert_eq!(
        (parsed.kem(), parsed.group(), parsed.encoded_len()),
        (KemId::MlKem512, Group::X25519, good.len())
    );
    let mut out = [0; MAX_KEY_LEN];
    assert_eq!(parsed.write(&mut out), Ok(good.len()));
    assert_eq!(out[..good.len()], good);
    assert_eq!(
        parsed.write(&mut out[..10]),
        Err(Error::Buffer {
            needed: good.len() as u16
        })
    );
    assert_eq!(
        PublicKey::new(parsed.kem(), parsed.group(), parsed.ek(), parsed.share()),
        Ok(parsed)
    );
    assert_eq!(
        PublicKey::new(parsed.kem(), parsed.group(), parsed.ek(), b"short"),
        Err(Error::Malformed(Malformed::Length))
    );

    let with = |at: usize, byte| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        PublicKey::parse(&bytes).map(|_| ())
    };
    assert_eq!(with(0, 0x04), Err(Error::Unsupported));
    assert_eq!(with(1, 3), Err(Error::Unsupported));
    assert_eq!(
        with(1, 2),
        Err(Error::Malformed(Malformed::Truncated)),
        "P-256 shares are longer"
    );
    for len in [0, 1, 2, good.len() - 1] {
        assert_eq!(
            PublicKey::parse(&good[..len]),
            Err(Error::Malformed(Malformed::Truncated))
        );
    }
    let longer: Vec<u8> = good.iter().copied().chain([0]).collect();
    assert_eq!(PublicKey::parse(&longer), Err(Error::Malformed(Malformed::Trailing)));
    assert_eq!(
        BrokerKey::parse(&key(KemId::CtruLight)),
        Err(Error::Unsupported),
        "no research KEM"
    );
}

#[test]
fn lines_survive_the_round_trip() {
    let (mut buffer, mut other) = ([0; MAX_KEY_LEN], [0; MAX_KEY_LEN]);
    let bytes = key(KemId::MlKem768);
    let broker = BrokerLine {
        key: BrokerKey::parse(&bytes).unwrap(),
        successor: None,
    };
    let line = broker.to_string();
    assert!(line.starts_with("hkm1-broker AgEAAQID"), "{line}");
    assert_eq!(line.len(), "hkm1-broker ".len() + 4 * (2 + 1184 + 32_usize).div_ceil(3));
    assert_eq!(BrokerLine::parse(&line, &mut buffer), Ok(broker));
    let broker = BrokerLine {
        successor: Some(Fingerprint::from_bytes([0xa5; 32])),
        ..broker
    };
    assert!(broker.to_string().ends_with(&format!(" {}", "a5".repeat(32))));
    assert_eq!(BrokerLine::parse(&format!("{broker}\r\n"), &mut buffer), Ok(broker));

    let bytes = key(KemId::CtruLight);
    let device = DeviceLine {
        id: id(),
        key: PublicKey::parse(&bytes).unwrap(),
    };
    assert!(device.to_string().starts_with("hkm1-device pump-7 EAEAAQID"));
    assert_eq!(DeviceLine::parse(&device.to_string(), &mut other), Ok(device));

    let mut line = String::new();
    PskLine {
        id: id(),
        psk: Psk::from_bytes([0xff; 32]),
    }
    .write(&mut line)
    .unwrap();
    assert_eq!(line, "hkm1-psk pump-7 //////////////////////////////////////////8=");
    let psk = PskLine::parse(&line).unwrap();
    assert_eq!((psk.id, psk.psk.expose()), (id(), &[0xff; 32]));
}

#[test]
fn damaged_lines_are_refused() {
    let psk = |line: &str| PskLine::parse(line).map(|_| ());
    let good = "hkm1-psk pump-7 //////////////////////////////////////////8=";
    assert_eq!(psk(good), Ok(()));
    assert_eq!(psk(""), Err(Malformed::Type.into()));
    assert_eq!(psk("hkm1-device pump-7 AA=="), Err(Malformed::Type.into()));
    assert_eq!(psk("hkm1-psk pump-7"), Err(Malformed::Missing.into()));
    assert_eq!(psk(&format!("{good} x")), Err(Malformed::Trailing.into()));
    assert_eq!(
        psk("hkm1-psk a/b //////////////////////////////////////////8="),
        Err(Malformed::Value.into())
    );
    assert_eq!(
        psk("hkm1-psk pump-7 //////////////////////////////////////////9="),
        Err(Malformed::Value.into())
    );
    assert_eq!(
        psk("hkm1-psk pump-7 //////////////////////////////////////////8"),
        Err(Malformed::Value.into())
    );
    assert_eq!(psk("hkm1-psk pump-7 AAAA"), Err(Malformed::Length.into()));
    assert_eq!(
        psk(&format!("hkm1-psk pump-7 {}", "A".repeat(64))),
        Err(Malformed::Length.into())
    );

    let mut buffer = [0; MAX_KEY_LEN];
    let bytes = key(KemId::MlKem512);
    let line = BrokerLine {
        key: BrokerKey::parse(&bytes).unwrap(),
        successor: None,
    }
    .to_string();
    for bad in ["a5", &"a5".repeat(33), &"g5".repeat(32), &"é".repeat(32)] {
        assert!(
            BrokerLine::parse(&format!("{line} {bad}"), &mut buffer).is_err(),
            "{bad}"
        );
    }
    assert_eq!(BrokerLine::parse(&line, &mut [0; 100]), Err(Malformed::Length.into()));
}

#[test]
fn debug_of_an_id_is_no_secret_and_one_line() {
    assert_eq!(format!("{:?}", id()), "DeviceId(pump-7)");
}

#[cfg(feature = "kyber")]
#[test]
fn secrets_have_to_be_those_of_the_key() {
    use crate::{
        dh::{DhSecret, X25519},
        drbg::Drbg,
        suite::{AnyKem, KemScheme},
    };

    let kem = AnyKem::new(KemId::MlKem512).unwrap();
    let pair = |seed| {
        let (mut encoded, mut dk) = (std::vec![0; 2 + 800 + 32], std::vec![0; kem.dk_len()]);
        let x = generate_key(kem, X25519, &mut Drbg::broker(&[seed; 32]), &mut encoded, &mut dk).unwrap();
        (encoded, dk, *x.expose())
    };
    let load =
        |encoded: &[u8], dk: &[u8], x| BrokerKeyPair::new(encoded.to_vec(), dk.to_vec(), DhSecret::from_bytes(x));
    let ((encoded, dk, x), (_, other_dk, other_x)) = (pair(1), pair(2));
    let loaded = load(&encoded, &dk, x).unwrap();
    let key = BrokerKey::parse(&encoded).unwrap();
    assert_eq!(
        (loaded.fingerprint(), loaded.secret().unwrap().key()),
        (key.fingerprint(), &key)
    );
    assert_eq!(load(&encoded, &other_dk, x).err(), Some(Error::Rejected));
    assert_eq!(load(&encoded, &dk, other_x).err(), Some(Error::Rejected));
    assert_eq!(load(&encoded, &dk[1..], x).err(), Some(Error::Rejected));
    let mut damaged = dk.clone();
    damaged[1632 - 40] ^= 1;
    assert_eq!(
        load(&encoded, &damaged, x).err(),
        Some(Error::Rejected),
        "FIPS 203 section 7.3, hash check"
    );
    let mut damaged = encoded.clone();
    damaged[2..5].fill(0xff);
    assert_eq!(
        load(&damaged, &dk, x).err(),
        Some(Error::Rejected),
        "FIPS 203 section 7.2, modulus check"
    );

    let device = |x| DeviceSecret {
        key: PublicKey::parse(&encoded).unwrap(),
        dk: &dk,
        z: &[0; 32],
        x,
    };
    let (x, other_x) = (DhSecret::from_bytes(x), DhSecret::from_bytes(other_x));
    assert_eq!(device(&x).check(kem, X25519), Ok(()));
    assert_eq!(device(&other_x).check(kem, X25519), Err(Error::Rejected));
    assert_eq!(
        device(&x).check(AnyKem::new(KemId::MlKem768).unwrap(), X25519),
        Err(Error::Misuse)
    );
}
