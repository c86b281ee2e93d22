//! The broker's half.

use kem_core::{SharedSecret, rand_core::Rng};

use super::{NewKeys, begin, fields};
use crate::{
    Error,
    broker::Enrolled,
    control::Reauth,
    dh::Dh,
    drbg::Drbg,
    exchange::{Offer, Offered, Share},
    identity::BrokerSecret,
    message::NONCE_LEN,
    mqtt::ReasonCode,
    record::Opener,
    schedule::{Mixed, ReauthSecret, Transcript},
    suite::{Mode, Suite},
};

/// Reads 0x19. `opener` is the one that opened its record.
///
/// # Errors
/// [`Error::UnexpectedPacket`] for another step, or if the client has not yet used the keys of the last re-authentication;
/// [`Error::Malformed`] for a wrong length; [`Error::Rejected`] for a share that is none.
pub fn read_request<S: Suite>(
    suite: S,
    secret: ReauthSecret,
    opener: &Opener<S::Aead>,
    message: &Reauth<'_>,
) -> Result<SendOffer<S>, Error> {
    if opener.awaits_rekey() {
        return Err(Error::UnexpectedPacket);
    }
    let share_len = suite.id().group().share_len();
    let mut request = fields(message, ReasonCode::ReAuthenticate, NONCE_LEN + share_len)?;
    request.take(NONCE_LEN)?;
    let share = request.take(share_len)?;
    suite.dh().check(share)?;
    let mut transcript = secret.resume();
    transcript.absorb(message.whole);
    Ok(SendOffer {
        suite,
        transcript,
        share: Share::new(share)?,
    })
}

/// 0x19 is read. The registry decides whether the device may go on.
pub struct SendOffer<S> {
    suite: S,
    transcript: Transcript,
    share: Share,
}

impl<S: Suite> SendOffer<S> {
    /// Writes 0x18 to the start of `out`; gives its length. `secret` is the broker key of the session's handshake, `enrolled` what
    /// the registry has for the session's device now.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a device that is gone, or whose key is not of the suite; [`Error::Buffer`]; [`Error::Generator`].
    pub fn write(
        self,
        secret: &BrokerSecret<'_>,
        enrolled: &Enrolled<'_>,
        drbg: &mut Drbg,
        out: &mut [u8],
    ) -> Result<(usize, AwaitAnswer<S>), Error> {
        let Self {
            suite,
            transcript,
            share,
        } = self;
        let id = suite.id();
        let mut s = SharedSecret::zeroed();
        let (mode, device) = match enrolled {
            Enrolled::Psk(psk) => {
                *s.expose_mut() = *psk.expose();
                (Mode::Psk, None)
            }
            Enrolled::Kem(key) if key.kem() == id.kem() && key.group() == id.group() => {
                suite.dh().agree(secret.x(), key.share(), &mut s)?;
                (Mode::Kem, Some(key))
            }
            Enrolled::Kem(_) | Enrolled::Unknown => return Err(Error::Rejected),
        };
        let fields_len = NONCE_LEN + Offer::len(id, mode);
        let mut message = begin(out, ReasonCode::ContinueAuthentication, fields_len)?;
        drbg.fill_bytes(message.slot(NONCE_LEN)?);
        let offered = Offered::write(suite, share, device, drbg, &mut message)?;
        let mut mixed = transcript.extract(&[s.expose()]);
        mixed.absorb(message.written());
        Ok((message.written().len(), AwaitAnswer { suite, mixed, offered }))
    }
}

/// 0x18 is written.
pub struct AwaitAnswer<S> {
    suite: S,
    mixed: Mixed,
    offered: Offered,
}

impl<S: Suite> AwaitAnswer<S> {
    /// Reads the client's 0x18 and writes 0x00 to the start of `out`; gives its length. It goes out at the end of a record under
    /// the old keys.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] for another step, [`Error::Malformed`] for a wrong length, [`Error::Rejected`],
    /// [`Error::Buffer`].
    pub fn finish(self, message: &Reauth<'_>, out: &mut [u8]) -> Result<(usize, NewKeys), Error> {
        let Self {
            suite,
            mut mixed,
            offered,
        } = self;
        let ct_len = suite.id().kem().ct_len();
        let ct_v = fields(message, ReasonCode::ContinueAuthentication, ct_len)?.take(ct_len)?;
        mixed.absorb(message.whole);
        let secrets = offered.accept(suite, ct_v)?;
        let success = begin(out, ReasonCode::Success, 0)?;
        Ok((success.written().len(), NewKeys::new(mixed, &secrets)))
    }
}
