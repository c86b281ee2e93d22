use kem_core::{SharedSecret, rand_core::Rng};
use subtle::Choice;

use crate::{
    Error,
    broker::{AwaitM3, Claim, Terms},
    dh::Dh,
    drbg::Drbg,
    exchange::{Offered, Share},
    identity::{BrokerSecret, DecoySecret, Kid, Psk, PublicKey, credential_hash},
    message::{BrokerLimits, Capabilities, ClientLimits, NONCE_LEN, Writer, m2_len},
    schedule::{Mixed, Transcript},
    suite::{Mode, Suite},
};

/// box1 has verified: the client knows the broker key. Its id is only a claim so far.
pub struct SendM2<S> {
    pub(super) suite: S,
    pub(super) claim: Claim,
    pub(super) limits: ClientLimits,
    pub(super) kid: Kid,
    pub(super) transcript: Transcript,
    pub(super) h1: [u8; 32],
    pub(super) share: Share,
}

/// What the registry says about the claimed id. Does not count in modes 3 and 4.
#[derive(Clone, Copy)]
pub enum Enrolled<'a> {
    /// A device with a pre-shared key.
    Psk(&'a Psk),
    /// A device with a static key.
    Kem(PublicKey<'a>),
    /// No such device.
    Unknown,
}

/// What a client with an unknown id, or with a credential of another kind than its mode or suite asks for, gets to see.
#[derive(Clone, Copy)]
pub struct Decoy<'a> {
    /// The realm's secret.
    pub secret: &'a DecoySecret,
    /// The realm's key of no device, made for the suite of this handshake. Only mode 1 needs it.
    pub key: Option<PublicKey<'a>>,
}

/// What the broker says in M2, and to whom.
#[derive(Clone, Copy)]
pub struct M2Params<'a> {
    /// The broker key that M1 was read with.
    pub secret: BrokerSecret<'a>,
    /// The device with the claimed id. A revoked one goes on with its credential and is refused in M4.
    pub enrolled: Enrolled<'a>,
    /// For those who are not enrolled.
    pub decoy: Decoy<'a>,
    /// Unix seconds UTC.
    pub now: u64,
    /// What the broker is ready to take.
    pub limits: BrokerLimits,
    /// The optional features the broker would use; those the client does not know are left out.
    pub options: Capabilities,
}

impl<S: Suite> SendM2<S> {
    /// What the client says about itself.
    pub const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// What the client takes; M2 goes in pieces of its packet limit.
    pub const fn limits(&self) -> ClientLimits {
        self.limits
    }

    /// Stirs the generator with h1, makes the ephemeral keys and writes M2 to the start of `out`; gives its length
    /// ([`m2_len`]).
    ///
    /// An id without a fitting credential goes on like any other, and fails at box3.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Misuse`] for another broker key, or if mode 1 finds no decoy key of this suite; [`Error::Generator`];
    /// [`Error::Rejected`] if the device's enrolled key is none.
    pub fn write_m2(
        self,
        params: &M2Params<'_>,
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitM3<S>), Error> {
        let Self {
            suite,
            claim,
            limits,
            kid,
            transcript,
            h1,
            share,
        } = self;
        if params.secret.key().kid() != kid {
            return Err(Error::Misuse);
        }
        let credential = Credential::choose(suite, &claim, params)?;
        let mut mixed = credential.prove(transcript, suite, &claim, &params.secret)?;
        drbg.stir(&h1);

        let reauth = if claim.device.is_some() {
            Capabilities::ALL
        } else {
            Capabilities::ALL.without(Capabilities::REAUTH)
        };
        let options = params.options.and(claim.capabilities).and(reauth);
        let len = m2_len(suite.id(), claim.mode);
        let mut m2 = Writer::new(out, len)?;
        drbg.fill_bytes(m2.slot(NONCE_LEN)?);
        m2.put(&params.now.to_be_bytes())?;
        m2.put(&params.limits.record().to_be_bytes())?;
        m2.put(&params.limits.connect().to_be_bytes())?;
        m2.put(&options.bits().to_be_bytes())?;
        let offered = Offered::write(suite, share, credential.key.as_ref(), drbg, &mut m2)?;
        mixed.absorb(m2.written());
        let (chain, k2) = mixed.derive(suite.aead());
        let tag = k2.seal(&mut [])?;
        m2.put(&tag)?;
        let mut transcript = chain.resume();
        transcript.absorb(&tag);
        let terms = Terms {
            peer: limits,
            own: params.limits,
            options,
            time: params.now,
        };
        let known = credential.known;
        Ok((
            len,
            AwaitM3 {
                suite,
                claim,
                terms,
                transcript,
                offered,
                known,
            },
        ))
    }
}

/// The credential that M2 goes on with, real or not.
struct Credential<'a> {
    key: Option<PublicKey<'a>>,
    s: SharedSecret,
    known: bool,
}

impl<'a> Credential<'a> {
    fn choose(suite: impl Suite, claim: &Claim, params: &M2Params<'a>) -> Result<Self, Error> {
        let of_suite = |key: &PublicKey<'_>| key.kem() == suite.id().kem() && key.group() == suite.id().group();
        let mut credential = Self {
            key: None,
            s: SharedSecret::zeroed(),
            known: true,
        };
        match (claim.mode, params.enrolled) {
            (Mode::Anonymous | Mode::Resume, _) => {}
            (Mode::Psk, Enrolled::Psk(psk)) => *credential.s.expose_mut() = *psk.expose(),
            (Mode::Psk, _) => credential.known = false,
            (Mode::Kem, Enrolled::Kem(key)) if of_suite(&key) => credential.key = Some(key),
            (Mode::Kem, _) => {
                credential.key = Some(params.decoy.key.filter(of_suite).ok_or(Error::Misuse)?);
                credential.known = false;
            }
        }
        if let (Mode::Kem | Mode::Psk, Some(device)) = (claim.mode, &claim.device) {
            // Computed for known devices too: the time must not tell.
            let answer = params.decoy.secret.answer(device);
            credential
                .s
                .conditional_assign(answer.expose(), Choice::from(u8::from(!credential.known)));
        }
        Ok(credential)
    }

    /// Takes the credential's hash and s.
    fn prove(
        &self,
        mut transcript: Transcript,
        suite: impl Suite,
        claim: &Claim,
        secret: &BrokerSecret<'_>,
    ) -> Result<Mixed, Error> {
        transcript.absorb(&credential_hash(claim.mode, claim.device.as_ref(), self.key.as_ref()));
        let mut s = SharedSecret::zeroed();
        if let Some(key) = &self.key {
            suite.dh().agree(secret.x(), key.share(), &mut s)?;
            s.conditional_assign(self.s.expose(), Choice::from(u8::from(!self.known)));
        } else {
            s.conditional_assign(self.s.expose(), Choice::from(1));
        }
        Ok(transcript.extract(&[s.expose()]))
    }
}
