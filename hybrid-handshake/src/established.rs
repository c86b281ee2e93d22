use crate::{
    message::Capabilities,
    schedule::{Exporter, ReauthSecret, Rms, Session, TrafficSecret},
    suite::Suite,
};

/// A finished handshake: both directions of records, and what the session can be asked for.
pub struct Established<S: Suite> {
    /// The suite of the handshake.
    pub suite: S,
    /// The secret of what this side sends.
    pub sends: TrafficSecret,
    /// The secret of what the peer sends; box4 has used counter 0 of the broker's direction.
    pub takes: TrafficSecret,
    /// The largest record plaintext the peer takes, in bytes.
    pub peer_record_limit: u16,
    /// The largest record plaintext this side takes, in bytes.
    pub own_record_limit: u16,
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
        sends: TrafficSecret,
        takes: TrafficSecret,
        (peer_record_limit, own_record_limit): (u16, u16),
        session: &Session,
        options: Capabilities,
        broker_time: u64,
    ) -> Self {
        let (rms, exporter, reauth) = (session.rms(), session.exporter(), session.reauth());
        Self {
            suite,
            sends,
            takes,
            peer_record_limit,
            own_record_limit,
            options,
            broker_time,
            rms,
            exporter,
            reauth,
        }
    }
}
