//! The client's half.

use kem_core::rand_core::Rng;

use super::{NewKeys, begin, fields};
use crate::{
    Error,
    client::Credential,
    control::Reauth,
    dh::{Dh, DhSecret},
    drbg::Drbg,
    exchange::{Offer, Secrets},
    identity::BrokerKey,
    message::NONCE_LEN,
    mqtt::ReasonCode,
    schedule::{Mixed, ReauthSecret},
    suite::{Mode, Suite},
};

/// Writes the request to the start of `out`; gives its length. `credential` is the device's own, also in a session that a ticket
/// resumed, and `broker_key` the key of the session's handshake.
///
/// # Errors
/// [`Error::Misuse`] for a client without a credential, or with a device key that is not of the suite; [`Error::Buffer`].
pub fn start<S: Suite>(
    suite: S,
    secret: ReauthSecret,
    credential: &Credential<'_>,
    broker_key: &BrokerKey<'_>,
    drbg: &mut Drbg,
    out: &mut [u8],
) -> Result<(usize, AwaitOffer<S>), Error> {
    let (id, dh, mode) = (suite.id(), suite.dh(), credential.mode());
    match credential {
        Credential::Kem { secret, .. } if secret.key.kem() == id.kem() && secret.key.group() == id.group() => {}
        Credential::Psk { .. } => {}
        Credential::Kem { .. } | Credential::Ticket(_) | Credential::Anonymous => return Err(Error::Misuse),
    }
    let s = credential.secret(suite, broker_key.public().share())?;
    let mut message = begin(out, ReasonCode::ReAuthenticate, NONCE_LEN + id.group().share_len())?;
    drbg.fill_bytes(message.slot(NONCE_LEN)?);
    let mut e = DhSecret::zeroed();
    dh.draw(drbg, &mut e)?;
    dh.share(&e, message.slot(id.group().share_len())?)?;
    let mut mixed = secret.resume().extract(&[s.expose()]);
    mixed.absorb(message.written());
    Ok((message.written().len(), AwaitOffer { suite, mode, mixed, e }))
}

/// 0x19 is written.
pub struct AwaitOffer<S> {
    suite: S,
    mode: Mode,
    mixed: Mixed,
    e: DhSecret,
}

impl<S: Suite> AwaitOffer<S> {
    /// Reads the broker's 0x18 and writes the client's to the start of `out`; gives its length. `credential` is the one of
    /// [`start`].
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] for another step, [`Error::Malformed`] for a wrong length, [`Error::Rejected`] if the broker's
    /// keys are none, [`Error::Buffer`], [`Error::Misuse`] for another credential.
    pub fn answer(
        self,
        message: &Reauth<'_>,
        credential: &Credential<'_>,
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitSuccess), Error> {
        let Self {
            suite,
            mode,
            mut mixed,
            e,
        } = self;
        let id = suite.id();
        if credential.mode() != mode {
            return Err(Error::Misuse);
        }
        let mut offer = fields(
            message,
            ReasonCode::ContinueAuthentication,
            NONCE_LEN + Offer::len(id, mode),
        )?;
        offer.take(NONCE_LEN)?;
        let offer = Offer::parse(offer, id, mode)?;
        mixed.absorb(message.whole);
        let mut answer = begin(out, ReasonCode::ContinueAuthentication, id.kem().ct_len())?;
        let ct_v = answer.slot(id.kem().ct_len())?;
        let mut secrets = Secrets::default();
        offer.answer(suite, &e, credential.device_secret(), drbg, ct_v, &mut secrets)?;
        mixed.absorb(answer.written());
        Ok((answer.written().len(), AwaitSuccess(NewKeys::new(mixed, &secrets))))
    }
}

/// 0x18 is written.
pub struct AwaitSuccess(NewKeys);

impl AwaitSuccess {
    /// Reads the broker's 0x00.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] for another step, [`Error::Malformed`] if it carries anything.
    pub fn finish(self, message: &Reauth<'_>) -> Result<NewKeys, Error> {
        fields(message, ReasonCode::Success, 0)?;
        Ok(self.0)
    }
}
