use kem_core::{ct::declassify_bytes, rand_core::Rng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{CONTENT_LEN, MAX_AGE_S, MAX_RESUMPTIONS, Resumption, TICKET_LEN};
use crate::{
    Error,
    aead::{Aead, ChaCha20Poly1305, Key, Nonce},
    backends::{Digest, Sha256},
    drbg::Drbg,
    identity::{KID_LEN, Kid},
    schedule::{Rms, expand},
    suite::SuiteId,
};

/// A ticket key (T): 32 random bytes, shared by the gateways of a fleet. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct TicketKey([u8; Self::LEN]);

impl TicketKey {
    /// Length in bytes.
    pub const LEN: usize = 32;

    /// A stored key.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The secret bytes, for storage.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Its id, which starts every ticket that it seals.
    pub fn id(&self) -> [u8; 4] {
        let hash: [u8; 32] = Sha256::new()
            .chain_update("HKM1 ticket key")
            .chain_update(self.0)
            .finalize()
            .into();
        let [a, b, c, d, ..] = hash;
        let mut id = [a, b, c, d];
        declassify_bytes(&mut id); // stands in every ticket
        id
    }
}

/// The key that seals tickets, and the one before it, which still opens them.
pub struct TicketKeys {
    current: TicketKey,
    previous: Option<TicketKey>,
}

impl TicketKeys {
    /// `current` seals, both open.
    pub const fn new(current: TicketKey, previous: Option<TicketKey>) -> Self {
        Self { current, previous }
    }

    /// Seals a ticket for the realm of the broker key `kid`, drawing the salt from `drbg`.
    ///
    /// # Errors
    /// None that arguments can cause.
    pub fn seal(
        &self,
        kid: &Kid,
        resumption: &Resumption,
        rms: &Rms,
        drbg: &mut Drbg,
        out: &mut [u8; TICKET_LEN],
    ) -> Result<(), Error> {
        let (head, sealed) = out.split_first_chunk_mut::<HEAD_LEN>().ok_or(Error::Misuse)?;
        let (id, salt) = head.split_at_mut(4);
        id.copy_from_slice(&self.current.id());
        drbg.fill_bytes(salt);
        let (content, tag) = sealed.split_last_chunk_mut().ok_or(Error::Misuse)?;
        resumption.write(rms, content)?;
        let (key, ad) = derive(&self.current, kid, head);
        *tag = ChaCha20Poly1305.seal(&key, &Nonce::zeroed(), &ad, content)?;
        Ok(())
    }

    /// Opens a ticket. `suite` is that of the M1 it came in, `now` in Unix seconds UTC.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is of another key, realm or suite, or past its limits.
    pub fn open(
        &self,
        kid: &Kid,
        ticket: &[u8; TICKET_LEN],
        suite: SuiteId,
        now: u64,
    ) -> Result<(Resumption, Rms), Error> {
        let (head, sealed) = ticket.split_first_chunk().ok_or(Error::Rejected)?;
        let keys = [Some(&self.current), self.previous.as_ref()];
        let key = keys
            .into_iter()
            .flatten()
            .find(|key| head.starts_with(&key.id()))
            .ok_or(Error::Rejected)?;
        let (key, ad) = derive(key, kid, head);
        let mut content = Zeroizing::new([0; CONTENT_LEN]);
        let (text, tag) = sealed.split_last_chunk().ok_or(Error::Rejected)?;
        content.copy_from_slice(text);
        ChaCha20Poly1305.open(&key, &Nonce::zeroed(), &ad, &mut *content, tag)?;
        // All but rms decides, visibly, how the handshake goes on.
        if let Some((said, _)) = content.split_last_chunk_mut::<32>() {
            declassify_bytes(said);
        }
        let (resumption, rms) = Resumption::read(&*content).map_err(|_| Error::Rejected)?;
        let age = now.saturating_sub(resumption.full_handshake);
        if resumption.suite == suite && age <= MAX_AGE_S && resumption.resumptions < MAX_RESUMPTIONS {
            Ok((resumption, rms))
        } else {
            Err(Error::Rejected)
        }
    }
}

/// The key of one ticket, and what it authenticates beside the content: kid, key id, salt.
fn derive(key: &TicketKey, kid: &Kid, head: &[u8; HEAD_LEN]) -> (Key, [u8; KID_LEN + HEAD_LEN]) {
    let mut ad = [0; KID_LEN + HEAD_LEN];
    ad.iter_mut()
        .zip(kid.iter().chain(head))
        .for_each(|(place, byte)| *place = *byte);
    let [_, _, _, _, salt @ ..] = head;
    let mut sealing = Key::zeroed();
    expand(&key.0, b"ticket", salt, sealing.as_mut_bytes());
    (sealing, ad)
}

/// Length of key id and salt.
const HEAD_LEN: usize = 4 + 16;
