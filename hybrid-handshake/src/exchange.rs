//! The fresh secrets of a session: the broker offers an ephemeral key and a share, the client answers with a ciphertext.
//! The same in M2 and M3 as in a re-authentication.

use kem_core::SharedSecret;

use crate::{
    Error, Malformed,
    dh::{Dh, DhSecret, MAX_SHARE_LEN},
    drbg::Drbg,
    identity::{DeviceSecret, PublicKey},
    message::{Fields, Writer},
    schedule::{Mixed, Transcript},
    suite::{Ephemeral, KemScheme, Mode, Profile, Suite, SuiteId},
};

/// `[e_B] | [ct_P] | pk_v`, as it lies in a message.
pub(crate) struct Offer<'a> {
    share: &'a [u8],
    ct: &'a [u8],
    ek: &'a [u8],
}

impl<'a> Offer<'a> {
    /// Length in bytes.
    pub(crate) const fn len(suite: SuiteId, mode: Mode) -> usize {
        suite.group().share_len() + Self::ct_len(suite, mode) + suite.kem().ek_len()
    }

    /// # Errors
    /// [`Malformed::Truncated`], [`Malformed::Trailing`].
    pub(crate) fn parse(mut fields: Fields<'a>, suite: SuiteId, mode: Mode) -> Result<Self, Malformed> {
        let share = fields.take(suite.group().share_len())?;
        let ct = fields.take(Self::ct_len(suite, mode))?;
        let ek = fields.take(suite.kem().ek_len())?;
        fields.finish()?;
        Ok(Self { share, ct, ek })
    }

    const fn ct_len(suite: SuiteId, mode: Mode) -> usize {
        match mode {
            Mode::Kem => suite.kem().ct_len(),
            Mode::Psk | Mode::Anonymous | Mode::Resume => 0,
        }
    }

    /// The client's part: fills ct_v and takes every secret to where it will be used. `secret` is the device's in mode 1.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the offered keys are none.
    pub(crate) fn answer(
        &self,
        suite: impl Suite,
        e: &DhSecret,
        secret: Option<&DeviceSecret<'_>>,
        drbg: &mut Drbg,
        ct_v: &mut [u8],
        secrets: &mut Secrets,
    ) -> Result<(), Error> {
        suite.kem().encaps(drbg, self.ek, ct_v, &mut secrets.ss_v)?;
        if suite.id().profile() != Profile::P0 {
            suite
                .dh()
                .agree(e, self.share, secrets.ee.insert(SharedSecret::zeroed()))?;
        }
        if cfg!(feature = "kem-auth")
            && let Some(secret) = secret
        {
            let ss_p = secrets.ss_p.insert(SharedSecret::zeroed());
            suite.kem().decaps(secret.dk, secret.z, self.ct, ss_p)?;
        }
        Ok(())
    }
}

/// What the broker keeps of its offer until ct_v comes. No key of the ephemeral KEM: a half-open connection stays small.
pub(crate) struct Offered {
    ephemeral: Ephemeral,
    y: DhSecret,
    e_p: Share,
    ss_p: Option<SharedSecret>,
}

impl Offered {
    /// Draws and writes an offer for the client with the share `e_p` and, in mode 1, the static key `device`.
    ///
    /// # Errors
    /// [`Error::Generator`]; [`Error::Rejected`] if `device` is no key.
    pub(crate) fn write(
        suite: impl Suite,
        e_p: Share,
        device: Option<&PublicKey<'_>>,
        drbg: &mut Drbg,
        out: &mut Writer<'_>,
    ) -> Result<Self, Error> {
        let (kem, dh, id) = (suite.kem(), suite.dh(), suite.id());
        let mut y = DhSecret::zeroed();
        dh.draw(drbg, &mut y)?;
        dh.share(&y, out.slot(id.group().share_len())?)?;
        let ct_len = device.map_or(0, |_| id.kem().ct_len());
        let (ct, ek) = out.slot(ct_len + id.kem().ek_len())?.split_at_mut(ct_len);
        let ephemeral = kem.offer(drbg, ek)?;
        let mut ss_p = None;
        if let Some(device) = device {
            kem.encaps(drbg, device.ek(), ct, ss_p.insert(SharedSecret::zeroed()))?;
        }
        Ok(Self {
            ephemeral,
            y,
            e_p,
            ss_p,
        })
    }

    /// Takes every secret; the ephemeral key is gone after this.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub(crate) fn accept(self, suite: impl Suite, ct_v: &[u8]) -> Result<Secrets, Error> {
        let Self {
            ephemeral,
            y,
            e_p,
            ss_p,
        } = self;
        let mut secrets = Secrets {
            ss_p,
            ..Secrets::default()
        };
        suite.kem().accept(ephemeral, ct_v, &mut secrets.ss_v)?;
        if suite.id().profile() != Profile::P0 {
            suite
                .dh()
                .agree(&y, e_p.as_bytes(), secrets.ee.insert(SharedSecret::zeroed()))?;
        }
        Ok(secrets)
    }
}

/// `ss_v | [ee] | [ss_P]`.
pub(crate) struct Secrets {
    ss_v: SharedSecret,
    ee: Option<SharedSecret>,
    ss_p: Option<SharedSecret>,
}

impl Secrets {
    pub(crate) fn extract(&self, transcript: Transcript) -> Mixed {
        fn optional(secret: Option<&SharedSecret>) -> &[u8] {
            secret.map_or(&[], |secret| secret.expose())
        }
        transcript.extract(&[
            self.ss_v.expose(),
            optional(self.ee.as_ref()),
            optional(self.ss_p.as_ref()),
        ])
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self {
            ss_v: SharedSecret::zeroed(),
            ee: None,
            ss_p: None,
        }
    }
}

/// e_P, for as long as the message that brought it may be gone already.
pub(crate) struct Share {
    bytes: [u8; MAX_SHARE_LEN],
    len: usize,
}

impl Share {
    pub(crate) fn new(share: &[u8]) -> Result<Self, Error> {
        let mut bytes = [0; MAX_SHARE_LEN];
        bytes
            .get_mut(..share.len())
            .ok_or(Error::Misuse)?
            .copy_from_slice(share);
        Ok(Self {
            bytes,
            len: share.len(),
        })
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}
