use crate::{
    Error, Malformed,
    client::{Config, SendM3, Terms},
    dh::DhSecret,
    drbg::Drbg,
    message::{BrokerLimits, Capabilities, ClientLimits, M2},
    schedule::Mixed,
    suite::{Mode, Suite},
};

/// M1 is written. Outlives a failed connection: M1 may go out again, unchanged, until one M2 has verified.
pub struct AwaitM2<S> {
    suite: S,
    mode: Mode,
    limits: ClientLimits,
    capabilities: Capabilities,
    secrets: Option<(Mixed, DhSecret)>,
}

impl<S: Suite> AwaitM2<S> {
    pub(super) fn new(suite: S, config: &Config<'_>, mixed: Mixed, e: DhSecret) -> Self {
        let Config {
            credential,
            limits,
            capabilities,
            ..
        } = config;
        Self {
            suite,
            mode: credential.mode(),
            limits: *limits,
            capabilities: *capabilities,
            secrets: Some((mixed, e)),
        }
    }

    /// Opens box2, before any KEM or DH work, and stirs the generator with h2.
    ///
    /// On an error the connection is dead, but M1 is not burnt unless box2 had verified.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Rejected`]; [`Error::Misuse`] once an M2 has verified.
    #[inline(never)]
    pub fn read_m2<'m>(&mut self, m2: &'m [u8], drbg: &mut Drbg) -> Result<SendM3<'m, S>, Error> {
        let (mixed, _) = self.secrets.as_ref().ok_or(Error::Misuse)?;
        let fields = M2::split(m2, self.suite.id(), self.mode)?;
        let mut mixed = mixed.fork();
        mixed.absorb(fields.before_box);
        let (chain, k2) = mixed.derive(self.suite.aead());
        let h2 = *k2.hash();
        k2.verify(fields.sealed)?;
        let (_, e) = self.secrets.take().ok_or(Error::Misuse)?;
        drbg.stir(&h2);
        let peer = BrokerLimits::new(fields.record, fields.connect)?;
        let options = Capabilities::from_bits(fields.options)?;
        if !self.capabilities.has(options) {
            return Err(Malformed::Reserved.into());
        }
        let terms = Terms {
            own: self.limits,
            peer,
            options,
            time: fields.time,
        };
        Ok(SendM3::new(self.suite, self.mode, chain, e, m2, terms))
    }

    /// Whether an M2 has verified: M1 is burnt.
    pub const fn is_spent(&self) -> bool {
        self.secrets.is_none()
    }
}
