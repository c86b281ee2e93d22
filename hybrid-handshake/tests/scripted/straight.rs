//! Both sides of HKM1 once more, straight from the formulas, without the crate's schedule, message or machine modules.
//! X25519 suites only. `Knobs` make the peers that a test needs: they know every secret, and break one rule.

use ascon_aead::{AsconAead128, aead::KeyInit};
use chacha20poly1305::{AeadInOut, ChaCha20Poly1305};
use core::convert::Infallible;
use hkdf::hmac::{Hmac, Mac};
use hybrid_handshake::{
    identity::{BrokerKey, DeviceId},
    suite::{AeadId, Mode, Profile},
};
use kem_core::{
    Bytes, Ek, Kem, SharedSecret,
    rand_core::{Rng, TryCryptoRng, TryRng},
};
use sha2::{Digest, Sha256};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use super::wire::{BROKER_SEED, CLIENT_SEED, KeyPair, NOW, World};

#[derive(Clone, Default)]
pub struct Knobs {
    pub m1_flags: u8,
    pub m1_limits: Option<(u16, u16)>,
    pub m1_id: Option<[u8; 32]>,
    pub m1_capabilities: Option<u16>,
    pub m1_share: Option<[u8; 32]>,
    pub m2_limits: Option<(u16, u16)>,
    pub m2_options: Option<u16>,
    pub m2_share: Option<[u8; 32]>,
    /// Replaces the first bytes of pk_v on the wire.
    pub m2_ek: Option<Vec<u8>>,
    /// Seals another M3 plaintext than the CONNECT.
    pub m3_connect: Option<Vec<u8>>,
    pub m4_connack: Option<Vec<u8>>,
}

/// M1 to M4, and the secrets of the session.
pub struct Straight {
    pub flights: [Vec<u8>; 4],
    pub th: [u8; 32],
    pub c: [u8; 32],
    pub b: [u8; 32],
    pub rms: [u8; 32],
    pub exp: [u8; 32],
    pub reauth: [u8; 32],
}

/// `K` is the suite's KEM, `B` that of the broker key.
pub fn straight<K: Kem, B: Kem>(world: &World, knobs: &Knobs) -> Straight {
    let (suite, mode) = (world.suite, world.mode);
    let p2 = suite.profile() == Profile::P2;
    let mut client = Generator(sha(&[b"HKM1 drbg", &CLIENT_SEED]));
    let mut broker = Generator(sha(&[b"HKM1 drbg", &BROKER_SEED]));
    let id = world.id.as_str().as_bytes();
    let (gx_b, x_b) = (
        &world.broker.encoded[world.broker.encoded.len() - 32..],
        *world.broker.x.expose(),
    );
    let h0 = sha(&[b"HKM1 broker key", &world.broker.encoded]);

    // M1
    let (record, packet) = knobs
        .m1_limits
        .unwrap_or((world.client_limits.record(), world.client_limits.packet()));
    let mut m1 = vec![1];
    m1.extend(suite.code().to_be_bytes());
    m1.extend([mode.code(), knobs.m1_flags]);
    m1.extend(record.to_be_bytes());
    m1.extend(packet.to_be_bytes());
    m1.extend(&h0[..8]);
    m1.extend(client.take(16));
    let x_e: [u8; 32] = client.take(32).try_into().unwrap();
    let e_p = knobs.m1_share.unwrap_or_else(|| x25519(x_e, X25519_BASEPOINT_BYTES));
    m1.extend(e_p);
    let mut ikm = Vec::new();
    if mode == Mode::Resume {
        let mut stored = [0; hybrid_handshake::resume::STORED_LEN];
        world.ticket.as_ref().unwrap().store(&mut stored).unwrap();
        m1.extend(&stored[..124]);
        ikm.extend(&stored[124..156]);
    } else {
        let (ct, ss) = encaps::<B>(&mut client, &world.broker.encoded[2..2 + B::EK_LEN]);
        m1.extend(ct);
        ikm.extend(ss);
        if p2 {
            ikm.extend(x25519(x_b, e_p));
        }
    }
    let h1 = sha(&[b"HKM1", &h0, &m1]);
    let (ck1, k1) = mix(&[0; 32], &ikm, &h1, suite.aead());
    let claimed = if mode == Mode::Anonymous { [0; 32] } else { padded(id) };
    let mut box1 = knobs.m1_id.unwrap_or(claimed).to_vec();
    box1.extend(knobs.m1_capabilities.unwrap_or(world.capabilities.bits()).to_be_bytes());
    let box1 = seal(suite.aead(), &k1, &[0; 16], &h1, &box1);
    m1.extend(&box1);

    // M2
    broker.stir(&h1);
    let mut m2 = broker.take(16);
    m2.extend(NOW.to_be_bytes());
    let limits = (world.broker_limits.record(), world.broker_limits.connect());
    let (record, connect) = knobs.m2_limits.unwrap_or(limits);
    m2.extend(record.to_be_bytes());
    m2.extend(connect.to_be_bytes());
    let without_reauth = if mode == Mode::Anonymous { 3 } else { 7 };
    let options = world.capabilities.bits() & world.options.bits() & without_reauth;
    m2.extend(knobs.m2_options.unwrap_or(options).to_be_bytes());
    let y_e: [u8; 32] = broker.take(32).try_into().unwrap();
    let e_b = knobs.m2_share.unwrap_or_else(|| x25519(y_e, X25519_BASEPOINT_BYTES));
    m2.extend(e_b);
    let (mut pk_v, mut dk_v) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen(&mut broker, &mut pk_v, &mut dk_v).unwrap();
    let mut cred = vec![mode.code()];
    let (mut s, mut ss_p) = ([0; 32], Vec::new());
    match mode {
        Mode::Kem => {
            let KeyPair { encoded, x, .. } = &world.device;
            let (ct, ss) = encaps::<K>(&mut broker, &encoded[2..2 + K::EK_LEN]);
            m2.extend(ct);
            ss_p = ss;
            s = x25519(*x.expose(), gx_b.try_into().unwrap());
            cred.extend([id.len() as u8]);
            cred.extend(id);
            cred.push(encoded[0]);
            cred.extend(&encoded[2..]);
        }
        Mode::Psk => {
            s = *world.psk.expose();
            cred.extend([id.len() as u8]);
            cred.extend(id);
        }
        Mode::Anonymous => cred.push(0),
        Mode::Resume => {
            cred.extend([id.len() as u8]);
            cred.extend(id);
        }
    }
    let mut sent = pk_v.as_ref().to_vec();
    if let Some(bytes) = &knobs.m2_ek {
        sent[..bytes.len()].copy_from_slice(bytes);
    }
    m2.extend(sent);
    let h2 = sha(&[&h1, &box1, &sha(&[&cred]), &m2]);
    let (ck2, k2) = mix(&ck1, &s, &h2, suite.aead());
    let box2 = seal(suite.aead(), &k2, &[0; 16], &h2, &[]);
    m2.extend(&box2);

    // M3
    client.stir(&h2);
    let (ct_v, mut ikm) = encaps::<K>(&mut client, pk_v.as_ref());
    ikm.extend(x25519(y_e, e_p));
    ikm.extend(ss_p);
    let h3 = sha(&[&h2, &box2, &ct_v]);
    let (ck3, k3) = mix(&ck2, &ikm, &h3, suite.aead());
    let box3 = seal(
        suite.aead(),
        &k3,
        &[0; 16],
        &h3,
        knobs.m3_connect.as_ref().unwrap_or(&world.connect),
    );
    let m3 = [ct_v, box3.clone()].concat();

    // M4
    let th = sha(&[&h3, &box3]);
    let secret = |label: &str| expand(&ck3, label, &th, 32).try_into().unwrap();
    let b: [u8; 32] = secret("b");
    let key = expand(&b, "key", &[], key_len(suite.aead()));
    let iv = expand(&b, "iv", &[], nonce_len(suite.aead()));
    let m4 = seal(
        suite.aead(),
        &key,
        &iv,
        &[],
        knobs.m4_connack.as_ref().unwrap_or(&world.connack),
    );
    Straight {
        flights: [m1, m2, m3, m4],
        th,
        c: secret("c"),
        b,
        rms: secret("rms"),
        exp: secret("exp"),
        reauth: secret("reauth"),
    }
}

/// The fingerprint of `key` without the crate's help.
pub fn fingerprint(encoded: &[u8]) -> [u8; 32] {
    let hash = sha(&[b"HKM1 broker key", encoded]);
    assert_eq!(BrokerKey::parse(encoded).unwrap().fingerprint().as_bytes(), &hash);
    hash
}

pub fn padded(id: &[u8]) -> [u8; DeviceId::MAX_LEN] {
    let mut padded = [0; DeviceId::MAX_LEN];
    padded[..id.len()].copy_from_slice(id);
    padded
}

/// Mix of the protocol: the next ck, and a box key.
pub fn mix(ck: &[u8; 32], ikm: &[u8], h: &[u8], aead: AeadId) -> ([u8; 32], Vec<u8>) {
    let x = hmac(ck, &[ikm]);
    (
        expand(&x, "ck", h, 32).try_into().unwrap(),
        expand(&x, "k", h, key_len(aead)),
    )
}

pub fn expand(prk: &[u8; 32], label: &str, h: &[u8], len: usize) -> Vec<u8> {
    let (mut out, mut block) = (Vec::new(), Vec::new());
    for counter in 1..=len.div_ceil(32) {
        block = hmac(prk, &[&block, b"HKM1 ", label.as_bytes(), h, &[counter as u8]]).to_vec();
        out.extend(&block);
    }
    out.truncate(len);
    out
}

pub fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

pub fn sha(parts: &[&[u8]]) -> [u8; 32] {
    Sha256::digest(parts.concat()).into()
}

pub fn seal(aead: AeadId, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
    let mut sealed = text.to_vec();
    let tag: [u8; 16] = match aead {
        AeadId::Ascon => {
            let cipher = AsconAead128::new_from_slice(key).unwrap();
            cipher
                .encrypt_inout_detached(nonce.try_into().unwrap(), ad, sealed.as_mut_slice().into())
                .unwrap()
                .into()
        }
        AeadId::ChaCha20Poly1305 => {
            let cipher = ChaCha20Poly1305::new_from_slice(key).unwrap();
            let nonce = nonce[..12].try_into().unwrap();
            cipher
                .encrypt_inout_detached(nonce, ad, sealed.as_mut_slice().into())
                .unwrap()
                .into()
        }
    };
    sealed.extend(tag);
    sealed
}

const fn key_len(aead: AeadId) -> usize {
    match aead {
        AeadId::Ascon => 16,
        AeadId::ChaCha20Poly1305 => 32,
    }
}

const fn nonce_len(aead: AeadId) -> usize {
    match aead {
        AeadId::Ascon => 16,
        AeadId::ChaCha20Poly1305 => 12,
    }
}

fn encaps<K: Kem>(rng: &mut Generator, ek: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut coins = K::EncapsCoins::ZERO;
    rng.fill_bytes(coins.as_mut());
    let (mut ct, mut ss) = (K::CtBytes::ZERO, SharedSecret::zeroed());
    K::encaps_from(&coins, &Ek::parse(ek).unwrap(), &mut ct, &mut ss);
    (ct.as_ref().to_vec(), ss.expose().to_vec())
}

/// "Draw L: out = Expand(K, "draw", ""), K = Expand(K, "next", "")."
struct Generator([u8; 32]);

impl Generator {
    fn take(&mut self, len: usize) -> Vec<u8> {
        let out = expand(&self.0, "draw", &[], len);
        self.0 = expand(&self.0, "next", &[], 32).try_into().unwrap();
        out
    }

    fn stir(&mut self, x: &[u8]) {
        self.0 = sha(&[b"HKM1 stir", &self.0, x]);
    }
}

impl TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("KEMs draw bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("KEMs draw bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.take(out.len()));
        Ok(())
    }
}

impl TryCryptoRng for Generator {}
