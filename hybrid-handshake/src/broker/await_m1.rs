use kem_core::{SharedSecret, ct::declassify_bytes};

use crate::{
    Error,
    broker::SendM2,
    dh::Dh,
    exchange::Share,
    identity::{BrokerSecret, DeviceId},
    message::{Capabilities, ClientLimits, M1, M1Header},
    resume::{Resumption, TicketKeys},
    schedule::Transcript,
    suite::{AnyKem, KemScheme, Mode, Suite, SuiteId},
};

/// An M1 whose header is in order and whose broker key is known. Nothing of it has been believed yet, and no work done.
pub struct AwaitM1<'k, S> {
    suite: S,
    mode: Mode,
    limits: ClientLimits,
    secret: BrokerSecret<'k>,
}

impl<'k, S: Suite> AwaitM1<'k, S> {
    /// Goes on with the suite and the broker key that the header names.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if `suite` or `secret` is another one, or the key of another group, then
    /// [`Error::Malformed`] for a wrong length, flags or limits.
    pub fn new(suite: S, header: &M1Header, secret: BrokerSecret<'k>) -> Result<Self, Error> {
        let key = secret.key();
        let group = header.suite().group();
        if suite.id() != header.suite() || key.kid() != header.kid() || key.public().group() != group {
            return Err(Error::Unsupported);
        }
        let limits = header.limits(key.public().kem())?;
        Ok(Self {
            suite,
            mode: header.mode(),
            limits,
            secret,
        })
    }

    /// Opens the ticket, if it is one of `tickets`, and box1 in place. `m1` is the message that the header was parsed
    /// from, `now` is in Unix seconds UTC.
    ///
    /// Before this call the caller has checked that the listener allows the mode and the suite, and that there is room
    /// and time for one more half-open connection. After it, it looks the claimed id up.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn read_m1(self, m1: &mut [u8], tickets: Option<&TicketKeys>, now: u64) -> Result<(Claim, SendM2<S>), Error> {
        let Self {
            suite,
            mode,
            limits,
            secret,
        } = self;
        let (id, dh) = (suite.id(), suite.dh());
        let m1 = M1::split(m1, id)?;
        let (mut ss, mut es) = (SharedSecret::zeroed(), SharedSecret::zeroed());
        let resumed = if mode == Mode::Resume {
            let ticket = m1.ct.try_into().map_err(|_| Error::Rejected)?;
            let (resumed, rms) = tickets
                .ok_or(Error::Rejected)?
                .open(&secret.key().kid(), ticket, id, now)?;
            *ss.expose_mut() = *rms.expose();
            Some(resumed)
        } else {
            let broker_kem = AnyKem::new(secret.key().public().kem()).ok_or(Error::Unsupported)?;
            // ML-KEM rejects implicitly: there is no z beside a broker key.
            broker_kem.decaps(secret.dk(), &[0; 32], m1.ct, &mut ss)?;
            None
        };
        let mut transcript = Transcript::start(secret.key().fingerprint());
        transcript.absorb(m1.before_box);
        let mixed = if mode.has_es(id.profile()) {
            dh.agree(secret.x(), m1.share, &mut es)?;
            transcript.extract(&[ss.expose(), es.expose()])
        } else {
            transcript.extract(&[ss.expose()])
        };
        let (chain, k1) = mixed.derive(suite.aead());
        let h1 = *k1.hash();
        let mut transcript = chain.resume();
        transcript.absorb(m1.sealed);
        let text = k1.open(m1.sealed)?;
        // What the client says about itself decides, visibly, how the handshake goes on.
        declassify_bytes(text);
        let (claimed, features) = text.split_last_chunk::<2>().ok_or(Error::Rejected)?;
        let claimed: &[u8; DeviceId::MAX_LEN] = claimed.try_into().map_err(|_| Error::Rejected)?;
        let device = match mode {
            Mode::Anonymous => None,
            Mode::Resume => resumed.as_ref().and_then(|resumed| resumed.device),
            Mode::Kem | Mode::Psk => Some(DeviceId::from_padded(claimed).map_err(|_| Error::Rejected)?),
        };
        if DeviceId::padded_or_zeros(device.as_ref()) != claimed {
            return Err(Error::Rejected);
        }
        let capabilities = Capabilities::from_bits(u16::from_be_bytes(*features)).map_err(|_| Error::Rejected)?;
        dh.check(m1.share)?;
        let claim = Claim {
            suite: id,
            mode,
            device,
            capabilities,
            resumed,
        };
        let share = Share::new(m1.share)?;
        Ok((
            claim,
            SendM2 {
                suite,
                claim,
                limits,
                kid: secret.key().kid(),
                transcript,
                h1,
                share,
            },
        ))
    }
}

/// What a client says about itself in M1. Its id is proved only by M3.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The suite of the handshake.
    pub suite: SuiteId,
    /// How the client means to prove who it is.
    pub mode: Mode,
    /// The name; `None` for an anonymous client.
    pub device: Option<DeviceId>,
    /// The optional features the client knows.
    pub capabilities: Capabilities,
    /// What the ticket says, in mode 4.
    pub resumed: Option<Resumption>,
}
