//! The self-test's expected values are those of implementations that pass their vector files, and a wrong one is found.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "support/broker.rs"]
mod broker;
#[allow(dead_code, unreachable_pub)]
#[path = "support/device.rs"]
mod device;

use device::FastClock;
use hybrid_handshake::{
    aead::{AsconAead128, ChaCha20Poly1305},
    dh::X25519,
    schedule::expand,
};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use kemqtt_node::{
    Phase,
    kat::{Bench, TEN_BITS, TWELVE_BITS, Vectors},
};
use serde_json::Value;

const PRIMITIVES: &[u8] = include_bytes!("../kat/primitives.bin");

fn verdicts(run: impl FnOnce(&mut Bench<'_, FastClock>)) -> (Vec<(String, bool)>, bool) {
    let (mut clock, mut flight, mut work) = (FastClock::default(), [0; 2048], [0; 2048]);
    let mut verdicts = vec![];
    let mut report = |name: &str, passed| verdicts.push((name.to_owned(), passed));
    let mut bench = Bench::new(&mut clock, &mut flight, &mut work, &mut report);
    run(&mut bench);
    let ok = bench.finish();
    (verdicts, ok)
}

/// Encapsulates on this machine.
fn encaps<K: Kem>(ek: &[u8], coins: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let mut bytes = K::EncapsCoins::ZERO;
    bytes.as_mut().copy_from_slice(coins);
    let (mut ct, mut ss) = (K::CtBytes::ZERO, SharedSecret::zeroed());
    K::encaps_from(&bytes, &Ek::parse(ek).expect("canonical"), &mut ct, &mut ss);
    (ct.as_ref().to_vec(), *ss.expose())
}

/// What made the expected value passes the first vector of its file.
fn check_vector<K: Kem>(json: &str) {
    let file: Value = serde_json::from_str(json).unwrap();
    let field = |name: &str| hex(file["vectors"][0][name].as_str().unwrap());
    let (ct, ss) = encaps::<K>(&field("ek"), &field("encaps_coins"));
    assert_eq!((ct, ss.to_vec()), (field("ct"), field("ss")));
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

fn expected<K: Kem>(mask: &[u8]) -> [u8; 32] {
    let prk: [u8; 32] = core::array::from_fn(|i| i as u8);
    let (mut ek, mut coins, mut digest) = (vec![0; K::EK_LEN], vec![0; K::EncapsCoins::LEN], [0; 32]);
    expand(&prk, b"ek", b"", &mut ek);
    expand(&prk, b"coins", b"", &mut coins);
    for (i, byte) in ek.iter_mut().enumerate() {
        *byte &= mask[i % mask.len()];
    }
    let (ct, ss) = encaps::<K>(&ek, &coins);
    expand(&ss, b"ct", &ct, &mut digest);
    digest
}

fn check<K: Kem>(mask: &[u8], values: &[u8; 32], json: &str) {
    check_vector::<K>(json);
    assert_eq!(*values, expected::<K>(mask));

    assert!(verdicts(|bench| bench.kem::<K>(Phase::KatKem, "kem", mask, values.as_slice())).1);
    for at in [0, 17, 31] {
        let mut wrong = *values;
        wrong[at] ^= 1;
        let (verdicts, ok) = verdicts(|bench| bench.kem::<K>(Phase::KatKem, "kem", mask, wrong.as_slice()));
        assert_eq!(
            verdicts,
            [("kem".to_owned(), false), ("done".to_owned(), false)],
            "{at}"
        );
        assert!(!ok);
    }
}

#[test]
fn kems() {
    check::<ctru_light::CtruLight<ctru_light::AsconXof>>(
        TEN_BITS,
        include_bytes!("../kat/ctru-light-ascon.bin"),
        include_str!("../../../kems/ctru-light/tests/vectors/ascon.json"),
    );
    check::<kyber::MlKem512>(
        TWELVE_BITS,
        include_bytes!("../kat/ml-kem-512.bin"),
        include_str!("../../../kems/kyber/tests/vectors/ml-kem-512.json"),
    );
    check::<kyber::MlKem768>(
        TWELVE_BITS,
        include_bytes!("../kat/ml-kem-768.bin"),
        include_str!("../../../kems/kyber/tests/vectors/ml-kem-768.json"),
    );
    check::<saber::LightSaber>(
        TEN_BITS,
        include_bytes!("../kat/lightsaber.bin"),
        include_str!("../../../kems/saber/tests/vectors/lightsaber.json"),
    );
    check::<ntru_plus::NtruPlus768>(
        TWELVE_BITS,
        include_bytes!("../kat/ntru-plus-768.bin"),
        include_str!("../../../kems/ntru-plus/tests/vectors/768-final.json"),
    );
}

/// A key that is none, as it is without its mask, fails the test instead of passing it by.
#[test]
fn a_key_out_of_range_fails() {
    let values = [0; 32];
    assert!(!verdicts(|bench| bench.kem::<kyber::MlKem512>(Phase::KatKem, "kem", &[0xff], values.as_slice())).1);
}

fn primitives(vectors: impl Vectors) -> (Vec<(String, bool)>, bool) {
    verdicts(|bench| {
        bench.hkdf(vectors);
        bench.aead::<AsconAead128>(vectors);
        bench.aead::<ChaCha20Poly1305>(vectors);
        bench.x25519(X25519, vectors);
    })
}

#[test]
fn primitives_pass_and_each_wrong_byte_is_found() {
    assert!(primitives(PRIMITIVES).1);
    for at in (0..PRIMITIVES.len()).step_by(7) {
        let mut wrong = PRIMITIVES.to_vec();
        wrong[at] ^= 0x40;
        assert!(!primitives(wrong.as_slice()).1, "{at}");
    }
}
