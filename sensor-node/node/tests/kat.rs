//! The self-test's expected values are those of the vector files, and a wrong one is found.
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
};
use kem_core::Kem;
use kemqtt_node::{
    Phase,
    kat::{Bench, Vectors},
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

fn check<K: Kem>(values: &[u8], json: &str) {
    let file: Value = serde_json::from_str(json).unwrap();
    let first = &file["vectors"][0];
    let field = |name: &str| first[name].as_str().unwrap();
    let joined = ["ek", "encaps_coins", "ct", "ss"].map(field).concat();
    let hex: String = values.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, joined);

    assert!(verdicts(|bench| bench.kem::<K>(Phase::KatKem, "kem", values)).1);
    for at in [K::EK_LEN, values.len() - 33, values.len() - 1] {
        let mut wrong = values.to_vec();
        wrong[at] ^= 1;
        let (verdicts, ok) = verdicts(|bench| bench.kem::<K>(Phase::KatKem, "kem", wrong.as_slice()));
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
        include_bytes!("../kat/ctru-light-ascon.bin"),
        include_str!("../../../kems/ctru-light/tests/vectors/ascon.json"),
    );
    check::<kyber::MlKem512>(
        include_bytes!("../kat/ml-kem-512.bin"),
        include_str!("../../../kems/kyber/tests/vectors/ml-kem-512.json"),
    );
    check::<kyber::MlKem768>(
        include_bytes!("../kat/ml-kem-768.bin"),
        include_str!("../../../kems/kyber/tests/vectors/ml-kem-768.json"),
    );
    check::<saber::LightSaber>(
        include_bytes!("../kat/lightsaber.bin"),
        include_str!("../../../kems/saber/tests/vectors/lightsaber.json"),
    );
    check::<ntru_plus::NtruPlus768>(
        include_bytes!("../kat/ntru-plus-768.bin"),
        include_str!("../../../kems/ntru-plus/tests/vectors/768-final.json"),
    );
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
