//! The vector files: what the crate does with fixed randomness, byte by byte. `vectors/check.py` computes the same from
//! docs/protocol.md alone.
//!
//! A deliberate change of the protocol writes them anew: `HKM1_WRITE_VECTORS=1 cargo test -p hybrid-handshake --all-features --test vectors`.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/json.rs"]
mod json;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/recorded.rs"]
mod recorded;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/straight.rs"]
mod straight;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use ctru_light::{AsconXof, CtruLight};
use hybrid_handshake::{
    aead::{Aead, AsconAead128, ChaCha20Poly1305},
    drbg::{Drbg, SLOT_LEN, SeedStore, Slot, boot, provision},
    identity::{DeviceId, Psk},
    message::ClientLimits,
    record::{Content, HEADROOM, Sealer},
    suite::{AnyKem, KemId, KemScheme, Mode, SuiteId},
};
use json::{Json, hex, object, text};
use kem_core::{Kem, SharedSecret, rand_core::Rng};
use kyber::{MlKem512, MlKem768};
use straight::{Knobs, hmac, padded, straight};
use wire::{KeyPair, Registry, World, answer_m1, first_flight};

/// Every mode that the profile has, full handshakes first, then the resumption of the one in mode `resumed`.
fn suite<K: Kem, B: Kem>(code: u16, resumed: Mode, limits: ClientLimits) -> Json {
    let suite = SuiteId::from_code(code).unwrap();
    let broker_kem = if B::EK_LEN == MlKem512::EK_LEN {
        KemId::MlKem512
    } else {
        KemId::MlKem768
    };
    let world = |mode| {
        let mut world = World::with_broker_kem(suite, mode, broker_kem);
        world.client_limits = limits;
        world
    };
    let (mut sessions, mut ticket) = (Vec::new(), None);
    for mode in [Mode::Kem, Mode::Psk, Mode::Anonymous] {
        if mode.allowed_in(suite.profile()) {
            let world = world(mode);
            let (session, next) = recorded::session::<K, B>(&world, &world);
            sessions.push(session);
            if mode == resumed {
                ticket = Some(next);
            }
        }
    }
    let mut back = world(Mode::Resume);
    back.ticket = ticket;
    sessions.push(recorded::session::<K, B>(&back, &world(resumed)).0);

    let any = world(resumed);
    let keys = |pair: &KeyPair| {
        object([
            ("key", hex(&pair.encoded)),
            ("dk", hex(&pair.dk)),
            ("x", hex(pair.x.expose())),
        ])
    };
    object([
        ("suite", text(format!("{code:04x}"))),
        ("name", text(suite.to_string())),
        ("broker", keys(&any.broker)),
        ("device", keys(&any.device)),
        ("id", text(any.id.as_str())),
        ("psk", hex(any.psk.expose())),
        ("ticket key", hex(&[6; 32])),
        ("sessions", Json::List(sessions)),
    ])
}

#[test]
fn x25519_mlkem768_chacha20poly1305() {
    let vectors = suite::<MlKem768, MlKem768>(0x0222, Mode::Kem, ClientLimits::default());
    compare("x25519-mlkem768-chacha20poly1305.json", &vectors);
}

/// With the limits of a small device: M2 goes in pieces, control messages in several records.
#[test]
fn x25519_ctrulight_ascon() {
    let limits = ClientLimits::new(256, 256).unwrap();
    let vectors = suite::<CtruLight<AsconXof>, MlKem512>(0x1011, Mode::Psk, limits);
    compare("x25519-ctrulight-ascon.json", &vectors);
}

#[cfg(feature = "p256")]
#[test]
fn p256_mlkem512_ascon_p2() {
    let vectors = suite::<MlKem512, MlKem512>(0x0161, Mode::Anonymous, ClientLimits::default());
    compare("p256-mlkem512-ascon-p2.json", &vectors);
}

/// What no handshake between honest sides shows.
#[test]
fn parts() {
    compare(
        "parts.json",
        &object([
            ("decoy", decoy()),
            ("reject", reject()),
            ("device", device()),
            ("ratchet", Json::List(vec![ratchet_ascon(), ratchet_chacha20poly1305()])),
        ]),
    );
}

/// s of an unknown id, and that M2 is made with it.
fn decoy() -> Json {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    let s = hmac(world.decoy.expose(), &[b"HKM1 decoy", &padded(b"pump-7")]);
    world.registry = Registry::Unknown;
    let (m1, ..) = first_flight(&world);
    let (m2, _) = answer_m1(&world, &m1, &wire::BROKER_SEED).unwrap();
    world.psk = Psk::from_bytes(s);
    let straight = straight::<CtruLight<AsconXof>, MlKem512>(&world, &Knobs::default());
    assert_eq!((&m1, &m2), (&straight.flights[0], &straight.flights[1]));
    object([("D", hex(world.decoy.expose())), ("id", text("pump-7")), ("s", hex(&s))])
}

/// An NTRU+ ciphertext that the scheme rejects.
fn reject() -> Json {
    let kem = AnyKem::new(KemId::NtruPlus768).unwrap();
    let (mut ek, mut dk) = (vec![0; 1152], vec![0; kem.dk_len()]);
    kem.keygen(&mut Drbg::broker(&[1; 32]), &mut ek, &mut dk).unwrap();
    let (z, ct, mut ss) = ([0x7a; 32], vec![0; 1152], SharedSecret::zeroed());
    kem.decaps(&dk, &z, &ct, &mut ss).unwrap();
    object([("z", hex(&z)), ("ct", hex(&ct)), ("ss", hex(ss.expose()))])
}

/// Two boots of a device, and what it draws after the second.
fn device() -> Json {
    let id = DeviceId::new("pump-7").unwrap();
    let mut store = Slots::default();
    provision(&mut store, &[0x11; 32]).unwrap();
    let mut slots = vec![store.show()];
    boot(&mut store, &id, &[0x22; 32]).unwrap();
    slots.push(store.show());
    let mut drbg = boot(&mut store, &id, &[0x33; 32]).unwrap();
    slots.push(store.show());
    let mut draws = Vec::new();
    for len in [16, 32, 100] {
        let mut out = vec![0; len];
        drbg.fill_bytes(&mut out);
        draws.push(hex(&out));
        drbg.stir(&out);
    }
    object([
        ("id", text(id.as_str())),
        ("seed", hex(&[0x11; 32])),
        ("slots after provisioning and each boot", Json::List(slots)),
        ("rng bytes of the second boot", hex(&[0x33; 32])),
        ("draws, each stirred in", Json::List(draws)),
    ])
}

#[derive(Default)]
struct Slots([Vec<u8>; 2]);

impl Slots {
    fn show(&self) -> Json {
        Json::List(self.0.iter().map(|slot| hex(slot)).collect())
    }
}

impl SeedStore for Slots {
    type Error = core::convert::Infallible;

    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), Self::Error> {
        if let Ok(bytes) = self.0[slot as usize].as_slice().try_into() {
            *out = bytes;
        }
        Ok(())
    }

    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), Self::Error> {
        self.0[slot as usize] = bytes.to_vec();
        Ok(())
    }

    fn erase(&mut self, slot: Slot) -> Result<(), Self::Error> {
        self.0[slot as usize].clear();
        Ok(())
    }
}

fn ratchet_ascon() -> Json {
    ratchet("ascon", Sealer::new(AsconAead128, &[0x44; 32], 64))
}

fn ratchet_chacha20poly1305() -> Json {
    ratchet("chacha20poly1305", Sealer::new(ChaCha20Poly1305, &[0x44; 32], 64))
}

/// The last record under a direction's first key, and the first under its second.
fn ratchet<A: Aead>(name: &str, mut sealer: Sealer<A>) -> Json {
    let mut empty = || {
        sealer
            .seal(Content::Control, &mut [0; HEADROOM + 16], 0)
            .unwrap()
            .to_vec()
    };
    (0..65_535).for_each(|_| {
        empty();
    });
    let (last, first) = (empty(), empty());
    object([
        ("aead", text(name)),
        ("secret", hex(&[0x44; 32])),
        ("empty control record 65535", hex(&last)),
        ("empty control record 65536", hex(&first)),
    ])
}

fn compare(name: &str, vectors: &Json) {
    let path = format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let vectors = vectors.to_string();
    if std::env::var_os("HKM1_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &vectors).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    let differ = stored
        .lines()
        .zip(vectors.lines())
        .find(|(stored, ours)| stored != ours);
    assert_eq!(differ, None, "{name}: the stored line and ours");
    assert_eq!(stored.len(), vectors.len(), "{name} has more or fewer lines");
}
