use crate::{
    message::Capabilities,
    record::{Opener, Sealer},
    schedule::{Exporter, ReauthSecret, Rms, Session},
    suite::Suite,
};

/// A finished handshake: both directions of records, and what the session can be asked for.
pub struct Established<S: Suite> {
    /// The suite of the handshake.
    pub suite: S,
    /// Seals what this side sends.
    pub sealer: Sealer<S::Aead>,
    /// Opens what the peer sends.
    pub opener: Opener<S::Aead>,
    /// Optional features in use.
    pub options: Capabilities,
    /// The broker's clock when it wrote M2, in Unix seconds UTC.
    pub broker_time: u64,
    /// Goes into the ticket of this session.
    pub rms: Rms,
    /// Secrets for other protocols.
    pub exporter: Exporter,
    /// Where a re-authentication starts.
    pub reauth: ReauthSecret,
}

impl<S: Suite> Established<S> {
    pub(crate) fn new(
        suite: S,
        sealer: Sealer<S::Aead>,
        opener: Opener<S::Aead>,
        session: &Session,
        options: Capabilities,
        broker_time: u64,
    ) -> Self {
        let (rms, exporter, reauth) = (session.rms(), session.exporter(), session.reauth());
        Self {
            suite,
            sealer,
            opener,
            options,
            broker_time,
            rms,
            exporter,
            reauth,
        }
    }
}
