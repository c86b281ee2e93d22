use crate::{
    Error, Established, Malformed,
    aead::Tag,
    client::{Credential, Terms},
    dh::DhSecret,
    drbg::Drbg,
    exchange::Secrets,
    identity::DeviceSecret,
    message::{M2, Writer, m3_len},
    record::{Opener, Sealer},
    schedule::Chain,
    suite::{Mode, Suite},
};

/// box2 has verified; the rest of M2 still lies in the caller's buffer.
pub struct SendM3<'m, S> {
    suite: S,
    mode: Mode,
    chain: Chain,
    e: DhSecret,
    m2: &'m [u8],
    terms: Terms,
}

impl<'m, S: Suite> SendM3<'m, S> {
    pub(super) const fn new(suite: S, mode: Mode, chain: Chain, e: DhSecret, m2: &'m [u8], terms: Terms) -> Self {
        Self {
            suite,
            mode,
            chain,
            e,
            m2,
            terms,
        }
    }

    /// The largest inner CONNECT the broker takes, in bytes.
    pub const fn connect_limit(&self) -> u16 {
        self.terms.peer.connect()
    }

    /// Writes M3 around the application's CONNECT to the start of `out`; gives its length. `credential` is the one that
    /// M1 was made with.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the CONNECT is over the broker's limit, [`Error::Buffer`], [`Error::Rejected`] if the
    /// broker's shares are none, [`Error::Misuse`] for another credential or an empty CONNECT.
    pub fn write_m3(
        self,
        credential: &Credential<'_>,
        connect: &[u8],
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitM4<S>), Error> {
        if credential.mode() != self.mode {
            return Err(Error::Misuse);
        }
        self.write(credential.device_secret(), connect, drbg, out)
    }

    /// [`write_m3`](Self::write_m3) with a ticket, which M3 does not depend on: where reading it takes long it need not be read again.
    ///
    /// # Errors
    /// The same, [`Error::Misuse`] where M1 was made with another credential.
    pub fn write_resumed_m3(
        self,
        connect: &[u8],
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitM4<S>), Error> {
        if self.mode != Mode::Resume {
            return Err(Error::Misuse);
        }
        self.write(None, connect, drbg, out)
    }

    fn write(
        self,
        secret: Option<&DeviceSecret<'_>>,
        connect: &[u8],
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitM4<S>), Error> {
        let (suite, limit) = (self.suite, self.connect_limit());
        if connect.len() > limit.into() {
            return Err(Error::TooLarge { limit });
        }
        if connect.is_empty() {
            return Err(Error::Misuse);
        }
        let id = suite.id();
        let m2 = M2::split(self.m2, id, self.mode)?;
        let mut m3 = Writer::new(out, m3_len(id, connect.len()))?;
        let ct_v = m3.slot(id.kem().ct_len())?;
        let mut secrets = Secrets::default();
        m2.offer.answer(suite, &self.e, secret, drbg, ct_v, &mut secrets)?;
        self.seal(m2.sealed, &secrets, connect, m3)
    }

    /// box3; gives the length of M3 and the session. Out of line: while a KEM works, a device has no stack to spare for what comes
    /// later.
    #[inline(never)]
    fn seal(self, box2: &Tag, secrets: &Secrets, connect: &[u8], m3: Writer<'_>) -> Result<(usize, AwaitM4<S>), Error> {
        let Self {
            suite, chain, terms, ..
        } = self;
        let (ct_v, box3) = m3.finish();
        let mut transcript = chain.resume();
        transcript.absorb(box2);
        transcript.absorb(ct_v);
        let (chain, k3) = secrets.extract(transcript).derive(suite.aead());
        let (text, tag) = box3.split_last_chunk_mut().ok_or(Error::Misuse)?;
        text.copy_from_slice(connect);
        *tag = k3.seal(text)?;
        let mut transcript = chain.resume();
        transcript.absorb(box3);
        let await_m4 = AwaitM4 {
            suite,
            chain: transcript.close(),
            terms,
        };
        Ok((ct_v.len() + box3.len(), await_m4))
    }
}

/// M3 is written.
pub struct AwaitM4<S> {
    suite: S,
    chain: Chain,
    terms: Terms,
}

impl<S: Suite> AwaitM4<S> {
    /// Opens M4 in place; gives the back end's CONNACK, which may be a refusal, and the session.
    ///
    /// # Errors
    /// [`Error::Rejected`]; [`Error::Malformed`] if the CONNACK is empty.
    pub fn read_m4(self, m4: &mut [u8]) -> Result<(&mut [u8], Established<S>), Error> {
        let Self { suite, chain, terms } = self;
        let session = chain.finish();
        let (connack, tag) = m4.split_last_chunk_mut().ok_or(Malformed::Truncated)?;
        let mut opener = Opener::new(suite.aead(), session.broker_traffic().expose(), terms.own.record());
        opener.open_box4(connack, tag)?;
        let sealer = Sealer::new(suite.aead(), session.client_traffic().expose(), terms.peer.record());
        Ok((
            connack,
            Established::new(suite, sealer, opener, &session, terms.options, terms.time),
        ))
    }
}
