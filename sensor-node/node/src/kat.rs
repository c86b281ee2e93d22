//! Known-answer tests that run on the very image that ships: a compiler that makes wrong code for a target is found on the
//! target.
//!
//! `kat/*.bin` hold the expected values: for a KEM `ek | coins | ct | ss` of its first vector, in `primitives.bin` X25519 of
//! RFC 7748 section 5.2 (scalar, u, result, and the scalar's share), HKDF-SHA-256 under the label `key`, and the tags
//! around nothing of Ascon-AEAD128 and ChaCha20-Poly1305.

use hybrid_handshake::{
    aead::{Key, Nonce, TAG_LEN},
    dh::{Dh, DhSecret},
    schedule::expand,
    suite::{AeadId, FixedAead, Group},
};
use kem_core::{Bytes, Ek, Kem, SharedSecret};

use crate::{Clock, Phase};

/// Expected values, in RAM or in a memory that only the board can read.
pub trait Vectors: Copy {
    /// Reads from offset `at`; what lies behind the end reads as anything.
    fn read(self, at: usize, out: &mut [u8]);
}

impl Vectors for &[u8] {
    fn read(self, at: usize, out: &mut [u8]) {
        let stored = self.iter().skip(at);
        out.iter_mut().zip(stored).for_each(|(place, byte)| *place = *byte);
    }
}

/// Where the tests run: the arena's buffers, and a place for verdicts.
pub struct Bench<'a, C> {
    clock: &'a mut C,
    flight: &'a mut [u8],
    work: &'a mut [u8],
    report: &'a mut dyn FnMut(&str, bool),
    ok: bool,
}

impl<'a, C: Clock> Bench<'a, C> {
    /// `flight` and `work` are what the suite asks for; `report` gets the name and the verdict of each test.
    pub fn new(
        clock: &'a mut C,
        flight: &'a mut [u8],
        work: &'a mut [u8],
        report: &'a mut dyn FnMut(&str, bool),
    ) -> Self {
        Self {
            clock,
            flight,
            work,
            report,
            ok: true,
        }
    }

    /// Encapsulation with known coins.
    pub fn kem<K: Kem>(&mut self, phase: Phase, name: &str, vectors: impl Vectors) {
        let passed = self.encaps::<K>(phase, vectors).unwrap_or(false);
        self.tell(name, passed);
    }

    /// X25519, with the given share and with the base point.
    pub fn x25519(&mut self, dh: impl Dh, vectors: impl Vectors) {
        if dh.group() != Group::X25519 {
            return;
        }
        let [mut scalar, mut u, mut expected] = [[0; 32]; 3];
        vectors.read(0, &mut scalar);
        vectors.read(32, &mut u);
        let (scalar, mut ss) = (DhSecret::from_bytes(scalar), SharedSecret::zeroed());
        vectors.read(64, &mut expected);
        self.clock.mark(Some(Phase::KatX25519));
        let agreed = dh.agree(&scalar, &u, &mut ss);
        self.clock.mark(None);
        self.tell("x25519", agreed.is_ok() && *ss.expose() == expected);

        vectors.read(96, &mut expected);
        self.clock.mark(Some(Phase::KatX25519Base));
        let shared = dh.share(&scalar, &mut u);
        self.clock.mark(None);
        self.tell("x25519-base", shared.is_ok() && u == expected);
    }

    /// HKDF-Expand, and SHA-256 in it.
    pub fn hkdf(&mut self, vectors: impl Vectors) {
        let [mut out, mut expected] = [[0; 48]; 2];
        vectors.read(128, &mut expected);
        let mut prk = [0; 32];
        prk.iter_mut().zip(0..).for_each(|(place, byte)| *place = byte);
        self.clock.mark(Some(Phase::KatHkdf));
        expand(&prk, b"key", b"", &mut out);
        self.clock.mark(None);
        self.tell("hkdf-sha256", out == expected);
    }

    /// The AEAD around nothing.
    pub fn aead<A: FixedAead>(&mut self, vectors: impl Vectors) {
        let (mut key, mut nonce, mut expected) = (Key::zeroed(), Nonce::zeroed(), [0; TAG_LEN]);
        let keys = key.as_mut_bytes().iter_mut().take(A::VALUE.key_len());
        keys.zip(0..).for_each(|(place, byte)| *place = byte);
        let nonces = nonce.as_mut_bytes().iter_mut().take(A::VALUE.nonce_len());
        nonces.zip(16..).for_each(|(place, byte)| *place = byte);
        let at = match A::ID {
            AeadId::Ascon => 176,
            AeadId::ChaCha20Poly1305 => 192,
        };
        vectors.read(at, &mut expected);
        self.clock.mark(Some(Phase::KatAead));
        let tag = A::VALUE.seal(&key, &nonce, b"", &mut []);
        self.clock.mark(None);
        self.tell("aead", tag == Ok(expected));
    }

    /// Whether every test has passed.
    pub fn finish(mut self) -> bool {
        let ok = self.ok;
        self.tell("done", ok);
        ok
    }

    fn tell(&mut self, name: &str, passed: bool) {
        self.ok &= passed;
        (self.report)(name, passed);
    }

    fn encaps<K: Kem>(&mut self, phase: Phase, vectors: impl Vectors) -> Option<bool> {
        let mut coins = K::EncapsCoins::ZERO;
        let ek = self.work.get_mut(..K::EK_LEN)?;
        vectors.read(0, ek);
        vectors.read(K::EK_LEN, coins.as_mut());
        let ct = self.flight.get_mut(..K::CT_LEN)?;
        let ct = K::CtBytes::from_mut_slice(ct)?;
        let mut ss = SharedSecret::zeroed();
        self.clock.mark(Some(phase));
        let ek = Ek::<K>::parse(ek).ok();
        if let Some(ek) = &ek {
            K::encaps_from(&coins, ek, ct, &mut ss);
        }
        self.clock.mark(None);
        ek?;
        let at = K::EK_LEN + K::EncapsCoins::LEN;
        Some(matches(ct.as_ref(), vectors, at) && matches(ss.expose(), vectors, at + K::CT_LEN))
    }
}

/// Compares without a second copy.
fn matches(bytes: &[u8], vectors: impl Vectors, at: usize) -> bool {
    let mut expected = [0; 16];
    bytes.chunks(expected.len()).zip(0..).all(|(part, index)| {
        let expected = expected.get_mut(..part.len()).unwrap_or_default();
        vectors.read(at + 16 * index, expected);
        part == expected
    })
}
