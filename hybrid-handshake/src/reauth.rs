//! Re-authentication: the client proves anew who it is, and both directions get new keys, without a new connection.
//!
//! ```text
//! client                                        broker
//! client::start          -- REAUTH 19 -->       broker::read_request      and the registry is asked again
//! AwaitOffer::answer     <-- REAUTH 18 --       SendOffer::write
//!                        -- REAUTH 18 -->       AwaitAnswer::finish
//! AwaitSuccess::finish   <-- REAUTH 00 --
//! NewKeys::install_at_client                    NewKeys::install_at_broker
//! ```
//!
//! The messages are those of [`crate::control`]. No box ends this exchange: a client without the credential has other keys, and
//! its next record does not open. An error ends the connection.

pub mod broker;
pub mod client;

use crate::{
    Error, Malformed,
    aead::Aead,
    control::{HEADER_LEN, Kind, Reauth},
    exchange::{Offer, Secrets},
    message::{Fields, NONCE_LEN, Writer},
    mqtt::ReasonCode,
    record::{Opener, Sealer},
    schedule::{Exporter, Mixed, ReauthSecret, TrafficSecret},
    suite::{Mode, SuiteId},
};

/// Length of the longest message of a re-authentication in bytes; `mode` is that of the credential.
pub const fn message_len(suite: SuiteId, mode: Mode) -> usize {
    let (offer, answer) = (NONCE_LEN + Offer::len(suite, mode), suite.kem().ct_len());
    HEADER_LEN + 1 + if offer > answer { offer } else { answer }
}

/// What a re-authentication gives to a session.
pub struct NewKeys {
    /// Client to broker.
    pub client: TrafficSecret,
    /// Broker to client.
    pub broker: TrafficSecret,
    /// Replaces the session's exporter.
    pub exporter: Exporter,
    /// Where the next re-authentication starts.
    pub reauth: ReauthSecret,
}

impl NewKeys {
    fn new(mixed: Mixed, secrets: &Secrets) -> Self {
        let session = secrets.extract(mixed.pass()).pass().finish();
        Self {
            client: session.client_traffic(),
            broker: session.broker_traffic(),
            exporter: session.exporter(),
            reauth: session.reauth(),
        }
    }

    /// For the client, once 0x00 is read: the broker's next record has the new keys, and so has the client's, an empty control
    /// record if it has nothing else to send.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the opener is dead.
    pub fn install_at_client<A: Aead>(&self, sealer: &mut Sealer<A>, opener: &mut Opener<A>) -> Result<(), Error> {
        opener.rekey(self.broker.expose())?;
        sealer.rekey(self.client.expose());
        Ok(())
    }

    /// For the broker, once the record with 0x00 is sealed: its next record has the new keys, and some record of the client will
    /// be the first to have them.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if the client has not yet used the keys before these, [`Error::Rejected`] if the opener is dead.
    pub fn install_at_broker<A: Aead>(&self, sealer: &mut Sealer<A>, opener: &mut Opener<A>) -> Result<(), Error> {
        opener.expect_rekey(self.client.expose())?;
        sealer.rekey(self.broker.expose());
        Ok(())
    }
}

/// The start of a message: type, length and reason. Its fields follow.
fn begin(out: &mut [u8], reason: ReasonCode, fields_len: usize) -> Result<Writer<'_>, Error> {
    let mut message = Writer::new(out, HEADER_LEN + 1 + fields_len)?;
    let body_len = u16::try_from(1 + fields_len).map_err(|_| Error::Misuse)?;
    message.put(&[Kind::Reauth as u8])?;
    message.put(&body_len.to_be_bytes())?;
    message.put(&[reason as u8])?;
    Ok(message)
}

/// The fields of a message that has to be of this step.
fn fields<'m>(message: &Reauth<'m>, reason: ReasonCode, len: usize) -> Result<Fields<'m>, Error> {
    if message.reason != reason {
        return Err(Error::UnexpectedPacket);
    }
    if message.fields.len() != len {
        return Err(Malformed::Length.into());
    }
    Ok(Fields(message.fields))
}
