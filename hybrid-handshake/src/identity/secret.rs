use kem_core::ct::declassify_bytes;

use super::{BrokerKey, Fingerprint, PublicKey};
use crate::{
    Error,
    dh::{Dh, DhSecret, MAX_SHARE_LEN},
    drbg::Drbg,
    message::Writer,
    suite::{AnyKem, KemScheme},
};

/// Makes a static key pair: fills `encoded` (`kem | group | encapsulation key | share`, see [`PublicKey::encoded_len`])
/// and `dk`, and gives the Diffie-Hellman secret. A device key also needs a z of 32 random bytes.
///
/// # Errors
/// [`Error::Misuse`] if `dk` has not the KEM's length, [`Error::Buffer`] if `encoded` is too short, [`Error::Generator`].
pub fn generate_key(
    kem: impl KemScheme,
    dh: impl Dh,
    rng: &mut Drbg,
    encoded: &mut [u8],
    dk: &mut [u8],
) -> Result<DhSecret, Error> {
    let (kem_id, group) = (kem.id(), dh.group());
    let mut key = Writer::new(encoded, 2 + kem_id.ek_len() + group.share_len())?;
    key.put(&[kem_id.code(), group.code()])?;
    kem.keygen(rng, key.slot(kem_id.ek_len())?, dk)?;
    let mut x = DhSecret::zeroed();
    dh.draw(rng, &mut x)?;
    dh.share(&x, key.slot(group.share_len())?)?;
    Ok(x)
}

/// A broker key with its secrets, checked once, when it is loaded. `B` holds bytes: a `Vec`, or better one that is wiped
/// on drop.
pub struct BrokerKeyPair<B> {
    encoded: B,
    dk: B,
    x: DhSecret,
    fingerprint: Fingerprint,
}

impl<B: AsRef<[u8]>> BrokerKeyPair<B> {
    /// `encoded` as [`PublicKey::parse`] takes it.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the secrets are not those of the key, [`Error::Unsupported`] if it is no broker key or its
    /// KEM or group is not compiled in, [`Error::Malformed`] for a wrong length.
    pub fn new(encoded: B, dk: B, x: DhSecret) -> Result<Self, Error> {
        let fingerprint = *BrokerSecret::new(BrokerKey::parse(encoded.as_ref())?, dk.as_ref(), &x)?
            .key()
            .fingerprint();
        Ok(Self {
            encoded,
            dk,
            x,
            fingerprint,
        })
    }

    /// What a handshake takes. Cheap: nothing is checked or hashed again.
    ///
    /// # Errors
    /// Those of [`PublicKey::parse`], if `B` gives other bytes than it gave to [`BrokerKeyPair::new`].
    pub fn secret(&self) -> Result<BrokerSecret<'_>, Error> {
        let key = BrokerKey::with_fingerprint(PublicKey::parse(self.encoded.as_ref())?, self.fingerprint);
        Ok(BrokerSecret {
            key,
            dk: self.dk.as_ref(),
            x: &self.x,
        })
    }

    /// The fingerprint of the public half.
    pub const fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// A broker key with its secrets, which stay where the caller keeps them.
#[derive(Clone, Copy)]
pub struct BrokerSecret<'a> {
    key: BrokerKey<'a>,
    dk: &'a [u8],
    x: &'a DhSecret,
}

impl<'a> BrokerSecret<'a> {
    /// Checks that the secrets are those of `key`. For a key that serves many handshakes there is [`BrokerKeyPair`].
    ///
    /// # Errors
    /// [`Error::Rejected`] if they are not, [`Error::Unsupported`] if the KEM or the group is not compiled in.
    pub fn new(key: BrokerKey<'a>, dk: &'a [u8], x: &'a DhSecret) -> Result<Self, Error> {
        let public = key.public();
        let kem = AnyKem::new(public.kem()).ok_or(Error::Unsupported)?;
        kem.check_ek(public.ek())?;
        kem.check_dk(dk)?;
        check_share(public, public.group(), x)?;
        // FIPS 203 section 7.1: the encapsulation key stands in the decapsulation key, before its hash and z.
        let holds_ek = dk
            .split_last_chunk::<64>()
            .is_some_and(|(dk, _)| dk.ends_with(public.ek()));
        if holds_ek {
            Ok(Self { key, dk, x })
        } else {
            Err(Error::Rejected)
        }
    }

    /// The public half.
    pub const fn key(&self) -> &BrokerKey<'a> {
        &self.key
    }

    pub(crate) const fn dk(&self) -> &'a [u8] {
        self.dk
    }

    pub(crate) const fn x(&self) -> &'a DhSecret {
        self.x
    }
}

/// A device's static key with its secrets, which stay where the caller keeps them.
#[derive(Clone, Copy)]
pub struct DeviceSecret<'a> {
    /// The public half, as enrolled.
    pub key: PublicKey<'a>,
    /// The decapsulation key.
    pub dk: &'a [u8],
    /// 32 random bytes made together with `dk`; they count only where the KEM rejects explicitly.
    pub z: &'a [u8; 32],
    /// The Diffie-Hellman secret.
    pub x: &'a DhSecret,
}

impl DeviceSecret<'_> {
    /// Checks a loaded key as far as the KEM can: its encodings, and that `x` belongs to the share.
    ///
    /// # Errors
    /// [`Error::Rejected`]; [`Error::Misuse`] if `kem` or `dh` are not those of the key.
    pub fn check(&self, kem: impl KemScheme, dh: impl Dh) -> Result<(), Error> {
        if self.key.kem() != kem.id() || self.key.group() != dh.group() {
            return Err(Error::Misuse);
        }
        kem.check_ek(self.key.ek())?;
        kem.check_dk(self.dk)?;
        check_share(&self.key, dh, self.x)
    }
}

fn check_share(key: &PublicKey<'_>, dh: impl Dh, x: &DhSecret) -> Result<(), Error> {
    let mut share = [0; MAX_SHARE_LEN];
    let share = share.get_mut(..key.share().len()).ok_or(Error::Misuse)?;
    dh.share(x, share)?;
    declassify_bytes(share);
    if share == key.share() {
        Ok(())
    } else {
        Err(Error::Rejected)
    }
}
