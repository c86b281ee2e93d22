//! Known-answer tests that run on the very image that ships: a compiler that makes wrong code for a target is found on the
//! target.
//!
//! `kat/*.bin` hold the expected values: for a KEM the 32 bytes that [`Bench::kem`] describes, in `primitives.bin` X25519 of
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

    /// Encapsulation to a made-up key with known coins. A key, a ciphertext and a shared secret would take more than a kilobyte of
    /// flash; instead, key and coins are HKDF-Expand of a fixed prk with the labels `ek` and `coins`, each byte i of the key
    /// with the bits of `mask[i % mask.len()]` only, so that its coefficients are below the modulus, and expected is
    /// HKDF-Expand of the shared secret with the label `ct` and the whole ciphertext as its context.
    pub fn kem<K: Kem>(&mut self, phase: Phase, name: &str, mask: &[u8], vectors: impl Vectors) {
        let (mut coins, mut ss) = (K::EncapsCoins::ZERO, SharedSecret::zeroed());
        let ek = self.work.get_mut(..K::EK_LEN).unwrap_or_default();
        let ct = self.flight.get_mut(..K::CT_LEN).unwrap_or_default();
        make_up(ek, mask, coins.as_mut());
        self.clock.mark(Some(phase));
        // Without a result the shared secret stays 0.
        if let (Ok(ek), Some(ct)) = (Ek::<K>::parse(ek), K::CtBytes::from_mut_slice(ct)) {
            K::encaps_from(&coins, &ek, ct, &mut ss);
        }
        self.clock.mark(None);
        let passed = is_digest_of(&ss, ct, vectors);
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
        let prk = count();
        self.clock.mark(Some(Phase::KatHkdf));
        expand(&prk, b"key", b"", &mut out);
        self.clock.mark(None);
        self.tell("hkdf-sha256", out == expected);
    }

    /// The AEAD around nothing.
    pub fn aead<A: FixedAead>(&mut self, vectors: impl Vectors) {
        let (mut key, mut nonce, mut expected) = (Key::zeroed(), Nonce::zeroed(), [0; TAG_LEN]);
        // What is behind an algorithm's length does not count.
        let bytes = key.as_mut_bytes();
        *bytes = count();
        nonce.as_mut_bytes().copy_from_slice(bytes.split_at(16).1);
        let at = match A::ID {
            AeadId::Ascon => 176,
            AeadId::ChaCha20Poly1305 => 192,
        };
        vectors.read(at, &mut expected);
        self.clock.mark(Some(Phase::KatAead));
        let tag = A::VALUE.seal(&key, &nonce, b"", &mut []);
        self.clock.mark(None);
        self.tell("aead", tag.is_ok_and(|tag| tag.as_slice() == expected));
    }

    /// Whether every test has passed.
    pub fn finish(mut self) -> bool {
        let ok = self.ok;
        self.tell("done", ok);
        ok
    }

    #[inline(never)]
    fn tell(&mut self, name: &str, passed: bool) {
        self.ok &= passed;
        (self.report)(name, passed);
    }
}

/// Key and coins of [`Bench::kem`].
#[inline(never)]
fn make_up(ek: &mut [u8], mask: &[u8], coins: &mut [u8]) {
    expand(&count(), b"coins", b"", coins);
    expand(&count(), b"ek", b"", ek);
    for part in ek.chunks_mut(mask.len()) {
        part.iter_mut().zip(mask).for_each(|(byte, bits)| *byte &= bits);
    }
}

/// Whether the expected value of [`Bench::kem`] is that of these outputs.
#[inline(never)]
fn is_digest_of(ss: &SharedSecret, ct: &[u8], vectors: impl Vectors) -> bool {
    let [mut digest, mut expected] = [[0; 32]; 2];
    expand(ss.expose(), b"ct", ct, &mut digest);
    vectors.read(0, &mut expected);
    digest == expected
}

/// 0, 1, 2 and so on.
#[inline(never)]
fn count() -> [u8; 32] {
    core::array::from_fn(|i| i as u8)
}

/// The mask for encapsulation keys of 10-bit coefficients, four in five bytes, with bit 8 of each cleared: below 768.
pub const TEN_BITS: &[u8] = &[0xff, 0xfe, 0xfb, 0xef, 0xbf];

/// The mask for encapsulation keys of 12-bit coefficients, two in three bytes, with bit 10 of each cleared: below 3072.
pub const TWELVE_BITS: &[u8] = &[0xff, 0xfb, 0xbf];
