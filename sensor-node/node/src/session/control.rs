//! Tickets and key news: kept in the store, never the session's problem.

use hybrid_handshake::{
    Error as Handshake, Established,
    control::Message,
    drbg::Drbg,
    identity::{BrokerKey, DeviceId},
    record::Content,
    resume::{TICKET_LEN, Ticket},
    suite::{KemScheme, Mode, Suite},
};

use super::{Session, reauth::places};
use crate::{
    Clock, Error, Link, Nv, NvStore, Outcome,
    divide::divide,
    handshake::Origin,
    node::key_len,
    store::{Settings, StoreError},
};

/// What a step of a re-authentication is made with.
#[cfg_attr(not(feature = "reauth"), expect(dead_code, reason = "nobody reads them"))]
pub(super) struct Turn<'t, S: Suite, C> {
    pub(super) clock: &'t mut C,
    pub(super) suite: &'t S,
    pub(super) settings: &'t Settings,
    pub(super) drbg: &'t mut Drbg,
    /// The device key, if it has one.
    pub(super) key: &'t [u8],
    pub(super) established: &'t mut Established<S>,
}

impl<S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Session<'_, '_, S, B, L, C, N> {
    /// Handles the messages that end in the control record with this plaintext.
    #[inline(never)]
    pub(super) fn control_record(&mut self, text: (usize, usize)) -> Outcome<(), L, N> {
        if self.deaf {
            return Ok(());
        }
        let now_s = divide(self.node.board.clock.now_ms(), 1000).0;
        let node = &mut *self.node;
        let (records, out) = places(node.buffers.flight);
        let text = records.get(text.0..text.1).unwrap_or_default();
        let mut messages = self.control.record(text, now_s)?;
        let (mut failed, mut answer) = (None, None);
        loop {
            let message = match messages.next(node.buffers.work) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                // A broker key of another kind, which neither the buffer nor the store has room for.
                Err(Handshake::Buffer { .. }) => {
                    self.deaf = true;
                    failed = Some(StoreError::Full);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let established = node.established.as_mut().ok_or(Error::Closed)?;
            if let Message::Reauth(message) = message {
                let turn = Turn {
                    clock: &mut node.board.clock,
                    suite: &node.suite,
                    settings: node.settings,
                    drbg: node.drbg,
                    key: node.board.store.device_key(key_len(&node.suite), node.buffers.key),
                    established,
                };
                // The next one would be the broker's answer to what has not been sent.
                if answer.is_some() {
                    return Err(Handshake::UnexpectedPacket.into());
                }
                answer = Some(node.reauth.step(&message, turn, out)?);
                continue;
            }
            let mut keeper = Keeper {
                store: &mut node.board.store,
                origin: self.origin,
                established,
                ignored: &mut node.ignored_successors,
                device: node.settings.id,
            };
            failed = keeper.keep(message).err().or(failed);
        }
        if let Some(error) = failed {
            node.note::<()>(Err(error));
        }
        match answer {
            Some(len) => self.send(Content::Control, len),
            None => Ok(()),
        }
    }
}

/// What a message of the broker may change.
struct Keeper<'k, S: Suite, N> {
    store: &'k mut NvStore<N>,
    origin: Origin,
    established: &'k Established<S>,
    ignored: &'k mut u8,
    device: DeviceId,
}

impl<S: Suite, N: Nv> Keeper<'_, S, N> {
    #[inline(never)]
    fn keep(&mut self, message: Message<'_>) -> Result<(), StoreError<N::Error>> {
        match message {
            Message::Ticket { lifetime_s, ticket } => self.ticket(lifetime_s, ticket),
            Message::Successor(fingerprint) => {
                if !self.store.write_successor(self.origin.pin, &fingerprint)? {
                    *self.ignored = self.ignored.saturating_add(1);
                }
                Ok(())
            }
            Message::NextKey(key) => self.next_key(key),
            Message::Reauth(_) => Ok(()), // handled where there is room for the answer
        }
    }

    #[inline(never)]
    fn ticket(&mut self, lifetime_s: u32, sealed: &[u8; TICKET_LEN]) -> Result<(), StoreError<N::Error>> {
        let last = match self.origin.mode {
            Mode::Resume => self.store.ticket()?.map(|(_, ticket)| ticket),
            Mode::Kem | Mode::Psk | Mode::Anonymous => None,
        };
        let ticket = Ticket::new(self.established, Some(self.device), last.as_ref(), lifetime_s, sealed);
        self.store.write_ticket(&self.origin.kid, &ticket)
    }

    /// Only the pinned successor may follow.
    #[inline(never)]
    fn next_key(&mut self, key: &[u8]) -> Result<(), StoreError<N::Error>> {
        let successor = self.store.successor(self.origin.pin)?;
        let is_successor = BrokerKey::parse(key).is_ok_and(|key| Some(*key.fingerprint()) == successor);
        let (newer, _) = self.store.pins()?;
        if is_successor && newer == self.origin.pin {
            self.store.write_pin(self.origin.pin.other(), key)
        } else {
            Ok(())
        }
    }
}
