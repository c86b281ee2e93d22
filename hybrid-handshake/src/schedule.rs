//! The key schedule: one running transcript, one chaining key, and the secrets that come out of them.
//!
//! Mix(ck, ikm, h) of the protocol is cut in two where the transcript is still growing: [`Transcript::extract`] takes the
//! ikm as soon as it is known, [`Mixed::derive`] expands with the finished h. So a secret leaves RAM early.

use hkdf::{
    Hkdf,
    hmac::{Hmac, KeyInit, Mac},
};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    Error,
    aead::{Aead, Key, Nonce, TAG_LEN, Tag},
    backends::{Digest, Sha256},
    identity::Fingerprint,
};

/// Expand(prk, label, h) = HKDF-Expand(prk, "HKM1 " | label | h), filling `out` (at most 8160 bytes).
pub fn expand(prk: &[u8; 32], label: &[u8], h: &[u8], out: &mut [u8]) {
    Prk::new(prk).expand(label, h, out);
}

/// A prk for more than one Expand: the two blocks of its HMAC key are hashed once. Wiped on drop by its hash.
pub struct Prk(Option<Hkdf<Sha256>>);

impl Prk {
    /// From its bytes.
    #[inline(never)]
    pub fn new(prk: &[u8; 32]) -> Self {
        Self(Hkdf::from_prk(prk).ok())
    }

    /// [`expand`].
    #[inline(never)]
    pub fn expand(&self, label: &[u8], h: &[u8], out: &mut [u8]) {
        let filled = self
            .0
            .as_ref()
            .map(|prk| prk.expand_multi_info(&[b"HKM1 ", label, h], out));
        debug_assert!(matches!(filled, Some(Ok(()))), "32-byte prk, at most 255 blocks");
    }

    fn next_ck(&self, h: &[u8; 32]) -> Secret {
        let mut ck = Secret([0; 32]);
        self.expand(b"ck", h, &mut ck.0);
        ck
    }
}

/// What goes from one box to the next: the transcript hash and the chaining key.
pub struct Chain {
    h: [u8; 32],
    ck: Secret,
}

impl Chain {
    /// The transcript goes on behind the box of this hash.
    pub fn resume(self) -> Transcript {
        Transcript {
            hash: Sha256::new().chain_update(self.h),
            ck: self.ck,
        }
    }

    /// The session, where no message follows.
    pub fn finish(&self) -> Session {
        Session {
            ck: Prk::new(&self.ck.0),
            th: self.h,
        }
    }
}

/// A message that is being read or written, in wire order, and the chaining key that waits for its end.
pub struct Transcript {
    hash: Sha256,
    ck: Secret,
}

impl Transcript {
    /// The start of a handshake with the broker key of this fingerprint: ck is 0, and the transcript begins with the
    /// method name and h0.
    pub fn start(broker: &Fingerprint) -> Self {
        Self {
            hash: Sha256::new().chain_update("HKM1").chain_update(broker.as_bytes()),
            ck: Secret([0; 32]),
        }
    }

    /// The next bytes in wire order.
    pub fn absorb(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Takes the concatenation of `ikm`: the first half of Mix.
    pub fn extract(self, ikm: &[&[u8]]) -> Mixed {
        let Self { hash, ck } = self;
        // HKDF-Extract is this HMAC. The crate's own also hashes the key blocks of the result, which may wait for long.
        let mut extract = keyed(&ck.0);
        ikm.iter().for_each(|part| extract.update(part));
        Mixed {
            hash,
            prk: Secret(extract.finalize().into_bytes().into()),
        }
    }

    /// th and ck3, to wait with. The last message that counts has been absorbed.
    pub fn close(self) -> Chain {
        Chain {
            h: self.hash.finalize().into(),
            ck: self.ck,
        }
    }

    /// th, and every secret of the session. The last message that counts has been absorbed.
    pub fn finish(self) -> Session {
        self.close().finish()
    }
}

/// A transcript that has taken its ikm and waits for the rest of the message.
pub struct Mixed {
    hash: Sha256,
    prk: Secret,
}

impl Mixed {
    /// The next bytes in wire order.
    pub fn absorb(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// The same chain once more, for a message that may come again.
    pub fn fork(&self) -> Self {
        Self {
            hash: self.hash.clone(),
            prk: Secret(self.prk.0),
        }
    }

    /// The second half of Mix: the key of this message's box, and the chain that goes on from h.
    pub fn derive<A: Aead>(self, aead: A) -> (Chain, BoxKey<A>) {
        let Self { hash, prk } = self;
        let h: [u8; 32] = hash.finalize().into();
        let prk = Prk::new(&prk.0);
        let mut key = Key::zeroed();
        if let Some(key) = key.as_mut_bytes().get_mut(..aead.key_len()) {
            prk.expand(b"k", &h, key);
        }
        let chain = Chain { h, ck: prk.next_ck(&h) };
        (chain, BoxKey { aead, key, h })
    }

    /// The second half of Mix where no box follows (re-authentication); h stays as it is.
    pub fn pass(self) -> Transcript {
        let h: [u8; 32] = self.hash.clone().finalize().into();
        Transcript {
            ck: Prk::new(&self.prk.0).next_ck(&h),
            hash: self.hash,
        }
    }
}

/// The key of one box. Used once: sealing and opening consume it.
pub struct BoxKey<A> {
    aead: A,
    key: Key,
    h: [u8; 32],
}

impl<A: Aead> BoxKey<A> {
    /// The transcript hash that the box authenticates.
    pub fn hash(&self) -> &[u8; 32] {
        &self.h
    }

    /// Encrypts `text` in place.
    ///
    /// # Errors
    /// None that lengths below 64 KiB can cause.
    pub fn seal(self, text: &mut [u8]) -> Result<Tag, Error> {
        self.aead.seal(&self.key, &Nonce::zeroed(), &self.h, text)
    }

    /// Opens a box around nothing.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn verify(self, tag: &Tag) -> Result<(), Error> {
        self.aead.open(&self.key, &Nonce::zeroed(), &self.h, &mut [], tag)
    }

    /// Opens ciphertext and tag in place; gives the plaintext.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn open(self, sealed: &mut [u8]) -> Result<&mut [u8], Error> {
        let (text, tag) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::Rejected)?;
        self.aead.open(&self.key, &Nonce::zeroed(), &self.h, text, tag)?;
        Ok(text)
    }
}

/// What a finished handshake or re-authentication leaves: ck3 and th (or hr).
pub struct Session {
    ck: Prk,
    th: [u8; 32],
}

impl Session {
    /// The transcript hash.
    pub fn th(&self) -> &[u8; 32] {
        &self.th
    }

    /// Client to broker (c).
    pub fn client_traffic(&self) -> TrafficSecret {
        TrafficSecret(self.secret(b"c"))
    }

    /// Broker to client (b).
    pub fn broker_traffic(&self) -> TrafficSecret {
        TrafficSecret(self.secret(b"b"))
    }

    /// The resumption master secret (rms), which a ticket carries.
    pub fn rms(&self) -> Rms {
        Rms(self.secret(b"rms"))
    }

    /// The exporter secret (exp).
    pub fn exporter(&self) -> Exporter {
        Exporter(self.secret(b"exp"))
    }

    /// What the next re-authentication starts from (rk).
    pub fn reauth(&self) -> ReauthSecret {
        ReauthSecret {
            rk: self.secret(b"reauth"),
            th: self.th,
        }
    }

    fn secret(&self, label: &[u8]) -> Secret {
        let mut secret = Secret([0; 32]);
        self.ck.expand(label, &self.th, &mut secret.0);
        secret
    }
}

/// The secret of one direction, from which the record layer derives its keys.
pub struct TrafficSecret(Secret);

impl TrafficSecret {
    /// The secret bytes.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0.0
    }
}

/// The resumption master secret of a session.
pub struct Rms(Secret);

impl Rms {
    /// A stored one.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Secret(bytes))
    }

    /// The secret bytes, for a ticket or a store.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0.0
    }
}

/// Derives secrets for other protocols that want to be bound to this session.
pub struct Exporter(Secret);

impl Exporter {
    /// 32 bytes for `label` and `context`: Expand(exp, label, H(context)).
    pub fn export(&self, label: &[u8], context: &[u8], out: &mut [u8; 32]) {
        expand(&self.0.0, label, &Sha256::digest(context), out);
    }
}

/// Where a re-authentication starts: rk, and the th of the last handshake or re-authentication.
pub struct ReauthSecret {
    rk: Secret,
    th: [u8; 32],
}

impl ReauthSecret {
    /// The transcript of the re-authentication: ck is rk, and hr begins with th.
    pub fn resume(self) -> Transcript {
        Chain {
            h: self.th,
            ck: self.rk,
        }
        .resume()
    }

    /// Takes it out of a session that stays where it lies, and leaves zeros, with which no broker goes on.
    pub fn take(&mut self) -> Self {
        let spent = Self {
            rk: Secret([0; 32]),
            th: [0; 32],
        };
        core::mem::replace(self, spent)
    }

    /// rk.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.rk.0
    }
}

/// 32 secret bytes: no `Debug`, `Clone` or `PartialEq`; wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Secret([u8; 32]);

/// HMAC-SHA-256 under a key of 32 bytes, which HMAC pads with zeros.
fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    Hmac::new((&*block).into())
}

#[cfg(test)]
mod tests;
