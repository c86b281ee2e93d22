use crate::{
    Error, Established, Malformed,
    aead::TAG_LEN,
    broker::{Claim, Terms},
    exchange::Offered,
    message::{m3_len, m4_len},
    mqtt::outer::inner_connack_limit,
    record::{Opener, Sealer},
    schedule::{Session, Transcript},
    suite::Suite,
};

/// M2 is written. What a half-open connection costs, beside the buffer of M3: no key of the ephemeral KEM is kept.
pub struct AwaitM3<S> {
    pub(super) suite: S,
    pub(super) claim: Claim,
    pub(super) terms: Terms,
    pub(super) transcript: Transcript,
    pub(super) offered: Offered,
    pub(super) known: bool,
}

impl<S: Suite> AwaitM3<S> {
    /// The longest M3 this client may send, in bytes.
    pub fn m3_limit(&self) -> usize {
        m3_len(self.suite.id(), self.terms.own.connect().into())
    }

    /// Opens box3 in place; gives the application's CONNECT. Now the client is who it says.
    ///
    /// # Errors
    /// [`Error::Malformed`] if M3 is too short, [`Error::TooLarge`] if the CONNECT is over the limit,
    /// [`Error::Rejected`] otherwise.
    pub fn read_m3(self, m3: &mut [u8]) -> Result<(&mut [u8], SendM4<S>), Error> {
        let Self {
            suite,
            claim,
            terms,
            mut transcript,
            offered,
            known,
        } = self;
        let id = suite.id();
        let (ct, box3) = m3.split_at_mut_checked(id.kem().ct_len()).ok_or(Malformed::Length)?;
        match box3.len().checked_sub(TAG_LEN) {
            None | Some(0) => return Err(Malformed::Length.into()),
            Some(len) if len > terms.own.connect().into() => {
                return Err(Error::TooLarge {
                    limit: terms.own.connect(),
                });
            }
            Some(_) => {}
        }
        let secrets = offered.accept(suite, ct)?;
        transcript.absorb(ct);
        let (chain, k3) = secrets.extract(transcript).derive(suite.aead());
        let mut transcript = chain.resume();
        transcript.absorb(box3);
        let connect = k3.open(box3)?;
        // The MAC already fails for an unknown id: nobody knows its s. This is the second bolt.
        if !known {
            return Err(Error::Rejected);
        }
        Ok((
            connect,
            SendM4 {
                suite,
                claim,
                session: transcript.finish(),
                terms,
            },
        ))
    }
}

/// box3 has verified. What remains is to answer the application.
pub struct SendM4<S> {
    suite: S,
    claim: Claim,
    session: Session,
    terms: Terms,
}

impl<S: Suite> SendM4<S> {
    /// Who the client is, proved.
    pub const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The longest inner CONNACK that fits the client's packet limit, in bytes.
    pub fn connack_limit(&self) -> u16 {
        inner_connack_limit(self.terms.peer.packet())
    }

    /// Writes M4 around the back end's CONNACK, or a refusal, to the start of `out`; gives its length and the session.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the CONNACK is over [`SendM4::connack_limit`], [`Error::Buffer`], [`Error::Misuse`] if it
    /// is empty.
    pub fn write_m4(self, connack: &[u8], out: &mut [u8]) -> Result<(usize, Established<S>), Error> {
        let limit = self.connack_limit();
        let Self {
            suite, session, terms, ..
        } = self;
        if connack.len() > limit.into() {
            return Err(Error::TooLarge { limit });
        }
        if connack.is_empty() {
            return Err(Error::Misuse);
        }
        let len = m4_len(connack.len());
        let out = out.get_mut(..len).ok_or(Error::Buffer {
            needed: u16::try_from(len).unwrap_or(u16::MAX),
        })?;
        let (text, tag) = out.split_last_chunk_mut().ok_or(Error::Misuse)?;
        text.copy_from_slice(connack);
        let mut sealer = Sealer::new(suite.aead(), session.broker_traffic().expose(), terms.peer.record());
        *tag = sealer.seal_box4(text)?;
        let opener = Opener::new(suite.aead(), session.client_traffic().expose(), terms.own.record());
        Ok((
            len,
            Established::new(suite, sealer, opener, &session, terms.options, terms.time),
        ))
    }
}
