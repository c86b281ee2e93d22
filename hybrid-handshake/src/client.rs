//! The client's half: [`Start`] writes M1, [`AwaitM2`] reads M2, [`SendM3`] writes M3, [`AwaitM4`] reads M4.

mod await_m2;
mod send_m3;

use kem_core::{SharedSecret, rand_core::Rng};

pub use await_m2::AwaitM2;
pub use send_m3::{AwaitM4, SendM3};

use crate::{
    Error,
    dh::{Dh, DhSecret},
    drbg::Drbg,
    identity::{BrokerKey, DeviceId, DeviceSecret, Psk, credential_hash},
    message::{BrokerLimits, Capabilities, ClientLimits, M1Header, NONCE_LEN, Writer, m1_len},
    resume::Ticket,
    schedule::{Mixed, Transcript},
    suite::{AnyKem, KemScheme, Mode, Suite, SuiteId},
};

/// What a client knows before it connects.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    /// The pinned key of the broker.
    pub broker_key: BrokerKey<'a>,
    /// How the client proves who it is.
    pub credential: Credential<'a>,
    /// The lowest suite the client may use.
    pub floor: Option<SuiteId>,
    /// What the client is ready to take.
    pub limits: ClientLimits,
    /// The optional features the client knows.
    pub capabilities: Capabilities,
}

/// How a client proves who it is.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// Mode 1: a static KEM and Diffie-Hellman key.
    Kem {
        /// The enrolled name.
        id: &'a DeviceId,
        /// The key; its KEM and group are those of the suite.
        secret: DeviceSecret<'a>,
    },
    /// Mode 2: a pre-shared key.
    Psk {
        /// The enrolled name.
        id: &'a DeviceId,
        /// The key.
        psk: &'a Psk,
    },
    /// Mode 4: the ticket of an earlier session, under the same broker key and suite.
    Ticket(&'a Ticket),
    /// Mode 3: not at all. The login, if any, stands in the inner CONNECT.
    Anonymous,
}

impl Credential<'_> {
    /// The mode that uses it.
    pub const fn mode(&self) -> Mode {
        match self {
            Self::Kem { .. } => Mode::Kem,
            Self::Psk { .. } => Mode::Psk,
            Self::Ticket(_) => Mode::Resume,
            Self::Anonymous => Mode::Anonymous,
        }
    }

    fn id(&self) -> Option<&DeviceId> {
        match self {
            Self::Kem { id, .. } | Self::Psk { id, .. } => Some(id),
            Self::Ticket(ticket) => ticket.device(),
            Self::Anonymous => None,
        }
    }

    /// The device's key in mode 1.
    pub(crate) const fn device_secret(&self) -> Option<&DeviceSecret<'_>> {
        match self {
            Self::Kem { secret, .. } => Some(secret),
            Self::Psk { .. } | Self::Ticket(_) | Self::Anonymous => None,
        }
    }

    /// H(cred).
    fn hash(&self) -> [u8; 32] {
        let key = self.device_secret().map(|secret| &secret.key);
        credential_hash(self.mode(), self.id(), key)
    }

    /// s: what this client and the broker with the share `gx_b` know before they meet.
    pub(crate) fn secret(&self, suite: impl Suite, gx_b: &[u8]) -> Result<SharedSecret, Error> {
        let mut s = SharedSecret::zeroed();
        match self {
            Self::Kem { secret, .. } => suite.dh().agree(secret.x, gx_b, &mut s)?,
            Self::Psk { psk, .. } => *s.expose_mut() = *psk.expose(),
            Self::Ticket(_) | Self::Anonymous => {}
        }
        Ok(s)
    }
}

/// A client with everything it needs for M1.
pub struct Start<'a, S, B> {
    suite: S,
    broker_kem: B,
    config: &'a Config<'a>,
}

impl<'a, S: Suite> Start<'a, S, AnyKem> {
    /// For a host: the broker key decides its KEM.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if that KEM is not compiled in; otherwise as [`Start::with_kem`].
    pub fn new(suite: S, config: &'a Config<'a>) -> Result<Self, Error> {
        let kem = AnyKem::new(config.broker_key.public().kem()).ok_or(Error::Unsupported)?;
        Self::with_kem(suite, kem, config)
    }
}

impl<'a, S: Suite, B: KemScheme> Start<'a, S, B> {
    /// For a device that links one KEM for the broker key.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the broker key has another KEM or another group than the suite, or the mode does not
    /// go with the profile or needs the feature `kem-auth`; [`Error::Misuse`] if the suite is below the floor or the device key or the ticket is
    /// not of the suite.
    pub fn with_kem(suite: S, broker_kem: B, config: &'a Config<'a>) -> Result<Self, Error> {
        let id = suite.id();
        let key = config.broker_key.public();
        if key.kem() != broker_kem.id() || key.group() != id.group() {
            return Err(Error::Unsupported);
        }
        if !config.credential.mode().allowed_in(id.profile()) {
            return Err(Error::Unsupported);
        }
        let meets_floor = config.floor.is_none_or(|floor| id.meets(floor));
        let credential_fits = match &config.credential {
            Credential::Kem { .. } if !cfg!(feature = "kem-auth") => return Err(Error::Unsupported),
            Credential::Kem { secret, .. } => secret.key.kem() == id.kem() && secret.key.group() == id.group(),
            Credential::Ticket(ticket) => ticket.suite() == id,
            Credential::Psk { .. } | Credential::Anonymous => true,
        };
        if meets_floor && credential_fits {
            Ok(Self {
                suite,
                broker_kem,
                config,
            })
        } else {
            Err(Error::Misuse)
        }
    }

    /// Writes M1 to the start of `out`; gives its length ([`m1_len`]).
    ///
    /// M1 may be prepared while idle and is sent again unchanged, on any number of connections, until one M2 verifies.
    /// The caller drops it and the state after 24 hours.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Rejected`] if the broker key turns out to be none.
    #[inline(never)]
    pub fn write_m1(self, drbg: &mut Drbg, out: &mut [u8]) -> Result<(usize, AwaitM2<S>), Error> {
        let (suite, config) = (self.suite, self.config);
        let Config {
            broker_key,
            credential,
            limits,
            ..
        } = config;
        let (id, mode) = (suite.id(), credential.mode());
        let len = m1_len(id, mode, broker_key.public().kem());
        let mut m1 = Writer::new(out, len)?;
        M1Header::write(id, mode, *limits, &broker_key.kid(), &mut m1)?;
        let (mut e, mut ss) = (DhSecret::zeroed(), SharedSecret::zeroed());
        self.write_keys(drbg, &mut m1, &mut e, &mut ss)?;
        let mixed = self.seal(m1, &e, &ss)?;
        Ok((len, AwaitM2::new(suite, config, mixed, e)))
    }

    /// Nonce, share and ciphertext or ticket. Out of line, as [`Start::seal`]: while a KEM works, a device has no stack to spare for
    /// what comes later.
    #[inline(never)]
    fn write_keys(
        &self,
        drbg: &mut Drbg,
        m1: &mut Writer<'_>,
        e: &mut DhSecret,
        ss: &mut SharedSecret,
    ) -> Result<(), Error> {
        let (id, dh, key) = (self.suite.id(), self.suite.dh(), self.config.broker_key.public());
        drbg.fill_bytes(m1.slot(NONCE_LEN)?);
        dh.draw(drbg, e)?;
        dh.share(e, m1.slot(id.group().share_len())?)?;
        if let Credential::Ticket(ticket) = &self.config.credential {
            m1.put(ticket.sealed())?;
            *ss.expose_mut() = *ticket.rms().expose();
            Ok(())
        } else {
            self.broker_kem.encaps(drbg, key.ek(), m1.slot(key.kem().ct_len())?, ss)
        }
    }

    /// box1; gives the chain that waits for M2.
    #[inline(never)]
    fn seal(&self, m1: Writer<'_>, e: &DhSecret, ss: &SharedSecret) -> Result<Mixed, Error> {
        let Config {
            broker_key,
            credential,
            capabilities,
            ..
        } = self.config;
        let (suite, dh, key) = (self.suite, self.suite.dh(), broker_key.public());
        let mut es = SharedSecret::zeroed();
        let mut transcript = Transcript::start(broker_key.fingerprint());
        let (before_box, box1) = m1.finish();
        transcript.absorb(before_box);
        let mixed = if credential.mode().has_es(suite.id().profile()) {
            dh.agree(e, key.share(), &mut es)?;
            transcript.extract(&[ss.expose(), es.expose()])
        } else {
            transcript.extract(&[ss.expose()])
        };
        let (chain, k1) = mixed.derive(suite.aead());
        let (text, tag) = box1.split_last_chunk_mut().ok_or(Error::Misuse)?;
        let (claimed, features) = text.split_last_chunk_mut().ok_or(Error::Misuse)?;
        claimed.copy_from_slice(DeviceId::padded_or_zeros(credential.id()));
        *features = capabilities.bits().to_be_bytes();
        *tag = k1.seal(text)?;
        let mut transcript = chain.resume();
        transcript.absorb(box1);
        transcript.absorb(&credential.hash());
        let s = credential.secret(suite, key.share())?;
        Ok(transcript.extract(&[s.expose()]))
    }
}

/// What M1 and M2 agreed on.
#[derive(Clone, Copy)]
struct Terms {
    own: ClientLimits,
    peer: BrokerLimits,
    options: Capabilities,
    time: u64,
}

/// States move by value on a machine with 16 KB of RAM: small, or it does not build.
#[cfg(feature = "ctru-light")]
const _: () = {
    use crate::suite::X25519CtruLightAscon as S;
    assert!(size_of::<AwaitM2<S>>() <= 192);
    assert!(size_of::<SendM3<'_, S>>() <= 160);
    assert!(size_of::<AwaitM4<S>>() <= 100);
};
