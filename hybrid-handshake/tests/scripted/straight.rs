//! Both sides of HKM1 once more, straight from the formulas, without the crate's schedule, message or machine modules.
//! `Knobs` make the peers that a test needs: they know every secret, and break one rule.

use ascon_aead::{AsconAead128, aead::KeyInit};
use chacha20poly1305::{AeadInOut, ChaCha20Poly1305};
use core::convert::Infallible;
use hkdf::hmac::{Hmac, Mac};
use hybrid_handshake::{
    dh::{Dh, DhSecret},
    identity::{BrokerKey, DeviceId},
    resume::STORED_LEN,
    suite::{AeadId, Group, Mode, Profile},
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

/// Every value on the way, by its name in the protocol.
#[derive(Default)]
pub struct Trace(pub Vec<(&'static str, Vec<u8>)>);

impl Trace {
    fn note(&mut self, name: &'static str, value: &[u8]) {
        self.0.push((name, value.to_vec()));
    }
}

/// M1 to M4, the secrets of the session, and how they came about.
pub struct Straight {
    pub trace: Trace,
    pub client: Generator,
    pub broker: Generator,
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
    let (mut client, mut broker) = (Generator::new(&CLIENT_SEED), Generator::new(&BROKER_SEED));
    let mut trace = Trace::default();
    let mut stored = [0; STORED_LEN];
    if let Some(ticket) = world.ticket.as_ref().filter(|_| mode == Mode::Resume) {
        ticket.store(&mut stored).unwrap();
    }
    let id = match mode {
        Mode::Kem | Mode::Psk => world.id.padded(),
        Mode::Anonymous => &[0; 32],
        Mode::Resume => stored[158..190].first_chunk().unwrap(),
    };
    let claimed = *id;
    let id = id.split(|&byte| byte == 0).next().unwrap();
    let group = suite.group();
    let (gx_b, x_b) = (
        &world.broker.encoded[world.broker.encoded.len() - group.share_len()..],
        *world.broker.x.expose(),
    );
    let h0 = sha(&[b"HKM1 broker key", &world.broker.encoded]);
    trace.note("h0", &h0);

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
    let e_p = knobs.m1_share.map_or_else(|| share(group, x_e), Vec::from);
    m1.extend(&e_p);
    trace.note("e_P", &e_p);
    let mut ikm = Vec::new();
    if mode == Mode::Resume {
        m1.extend(&stored[..124]);
        ikm.extend(&stored[124..156]);
    } else {
        let (ct, ss) = encaps::<B>(&mut client, &world.broker.encoded[2..2 + B::EK_LEN]);
        trace.note("ct_B", &ct);
        trace.note("ss_B", &ss);
        m1.extend(ct);
        ikm.extend(ss);
        if p2 {
            let es = agree(group, x_b, &e_p);
            trace.note("es", &es);
            ikm.extend(es);
        }
    }
    let h1 = sha(&[b"HKM1", &h0, &m1]);
    let (ck1, k1) = mix(&[0; 32], &ikm, &h1, suite.aead());
    trace.note("h1", &h1);
    trace.note("ck1", &ck1);
    trace.note("k1", &k1);
    let mut box1 = knobs.m1_id.unwrap_or(claimed).to_vec();
    box1.extend(knobs.m1_capabilities.unwrap_or(world.capabilities.bits()).to_be_bytes());
    trace.note("box1 plaintext", &box1);
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
    let without_reauth = if id.is_empty() { 3 } else { 7 };
    let options = world.capabilities.bits() & world.options.bits() & without_reauth;
    m2.extend(knobs.m2_options.unwrap_or(options).to_be_bytes());
    let y_e: [u8; 32] = broker.take(32).try_into().unwrap();
    let e_b = knobs.m2_share.map_or_else(|| share(group, y_e), Vec::from);
    m2.extend(&e_b);
    trace.note("e_B", &e_b);
    let (mut pk_v, mut dk_v) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen(&mut broker, &mut pk_v, &mut dk_v).unwrap();
    trace.note("pk_v", pk_v.as_ref());
    let mut cred = vec![mode.code()];
    let (mut s, mut ss_p) = ([0; 32], Vec::new());
    match mode {
        Mode::Kem => {
            let KeyPair { encoded, x, .. } = &world.device;
            let (ct, ss) = encaps::<K>(&mut broker, &encoded[2..2 + K::EK_LEN]);
            trace.note("ct_P", &ct);
            trace.note("ss_P", &ss);
            m2.extend(ct);
            ss_p = ss;
            s = agree(group, *x.expose(), gx_b);
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
    trace.note("H(cred)", &sha(&[&cred]));
    trace.note("s", &s);
    trace.note("h2", &h2);
    trace.note("ck2", &ck2);
    trace.note("k2", &k2);
    let box2 = seal(suite.aead(), &k2, &[0; 16], &h2, &[]);
    m2.extend(&box2);

    // M3
    client.stir(&h2);
    let (ct_v, mut ikm) = encaps::<K>(&mut client, pk_v.as_ref());
    let ee = agree(group, y_e, &e_p);
    trace.note("ct_v", &ct_v);
    trace.note("ss_v", &ikm);
    trace.note("ee", &ee);
    ikm.extend(ee);
    ikm.extend(ss_p);
    let h3 = sha(&[&h2, &box2, &ct_v]);
    let (ck3, k3) = mix(&ck2, &ikm, &h3, suite.aead());
    trace.note("h3", &h3);
    trace.note("ck3", &ck3);
    trace.note("k3", &k3);
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
    trace.note("th", &th);
    let mut secret = |label| {
        let secret = expand(&ck3, label, &th, 32);
        trace.note(label, &secret);
        secret.try_into().unwrap()
    };
    let b: [u8; 32] = secret("b");
    let (c, rms, exp, reauth) = (secret("c"), secret("rms"), secret("exp"), secret("reauth"));
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
        trace,
        client,
        broker,
        flights: [m1, m2, m3, m4],
        th,
        c,
        b,
        rms,
        exp,
        reauth,
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

/// The share of a secret.
fn share(group: Group, secret: [u8; 32]) -> Vec<u8> {
    if group == Group::X25519 {
        return x25519(secret, X25519_BASEPOINT_BYTES).to_vec();
    }
    let mut share = vec![0; group.share_len()];
    group.share(&DhSecret::from_bytes(secret), &mut share).unwrap();
    share
}

fn agree(group: Group, secret: [u8; 32], share: &[u8]) -> [u8; 32] {
    if group == Group::X25519 {
        return x25519(secret, share.try_into().unwrap());
    }
    let mut ss = SharedSecret::zeroed();
    group.agree(&DhSecret::from_bytes(secret), share, &mut ss).unwrap();
    *ss.expose()
}

/// "Draw L: out = Expand(K, "draw", ""), K = Expand(K, "next", "")." Remembers every draw.
pub struct Generator {
    k: [u8; 32],
    pub draws: Vec<Vec<u8>>,
}

impl Generator {
    pub fn new(os_bytes: &[u8; 32]) -> Self {
        Self {
            k: sha(&[b"HKM1 drbg", os_bytes]),
            draws: Vec::new(),
        }
    }

    pub fn take(&mut self, len: usize) -> Vec<u8> {
        let out = expand(&self.k, "draw", &[], len);
        self.k = expand(&self.k, "next", &[], 32).try_into().unwrap();
        self.draws.push(out.clone());
        out
    }

    pub fn stir(&mut self, x: &[u8]) {
        self.k = sha(&[b"HKM1 stir", &self.k, x]);
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

/// A re-authentication behind `session`, with the credential of `world`: its first three messages, and every value on the way.
pub fn reauthenticate<K: Kem>(world: &World, session: &mut Straight) -> ([Vec<u8>; 3], Trace) {
    let mut trace = Trace::default();
    let (group, device) = (world.suite.group(), &world.device);
    let message = |reason: u8, fields: &[&[u8]]| {
        let fields = fields.concat();
        let mut message = vec![4];
        message.extend((1 + fields.len() as u16).to_be_bytes());
        message.push(reason);
        message.extend(fields);
        message
    };

    let n_p = session.client.take(16);
    let x_e: [u8; 32] = session.client.take(32).try_into().unwrap();
    let e_p = share(group, x_e);
    trace.note("e_P", &e_p);
    let request = message(0x19, &[&n_p, &e_p]);

    let n_b = session.broker.take(16);
    let y_e: [u8; 32] = session.broker.take(32).try_into().unwrap();
    let e_b = share(group, y_e);
    trace.note("e_B", &e_b);
    let (mut pk_v, mut dk_v) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen(&mut session.broker, &mut pk_v, &mut dk_v).unwrap();
    trace.note("pk_v", pk_v.as_ref());
    let (mut s, mut ct_p, mut ss_p) = (*world.psk.expose(), Vec::new(), Vec::new());
    if world.mode == Mode::Kem {
        (ct_p, ss_p) = encaps::<K>(&mut session.broker, &device.encoded[2..2 + K::EK_LEN]);
        trace.note("ct_P", &ct_p);
        trace.note("ss_P", &ss_p);
        let gx_b = &world.broker.encoded[world.broker.encoded.len() - group.share_len()..];
        s = agree(group, *device.x.expose(), gx_b);
    }
    trace.note("s", &s);
    let offer = message(0x18, &[&n_b, &e_b, &ct_p, pk_v.as_ref()]);

    let (ct_v, ss_v) = encaps::<K>(&mut session.client, pk_v.as_ref());
    let ee = agree(group, x_e, &e_b);
    trace.note("ct_v", &ct_v);
    trace.note("ss_v", &ss_v);
    trace.note("ee", &ee);
    let answer = message(0x18, &[&ct_v]);

    let hr = sha(&[&session.th, &request, &offer, &answer]);
    let ck = |ck: &[u8; 32], ikm: &[u8]| -> [u8; 32] { expand(&hmac(ck, &[ikm]), "ck", &hr, 32).try_into().unwrap() };
    let ck2 = ck(&session.reauth, &s);
    let ck3 = ck(&ck2, &[&ss_v[..], &ee, &ss_p].concat());
    trace.note("hr", &hr);
    trace.note("ck2", &ck2);
    trace.note("ck3", &ck3);
    for label in ["c", "b", "exp", "reauth"] {
        trace.note(label, &expand(&ck3, label, &hr, 32));
    }
    ([request, offer, answer], trace)
}
