//! Re-authentication: the device proves anew who it is, and both directions get new keys, while the session goes on.
//!
//! The request is made in a [`Session::poll`] between two messages of the broker's control stream, whose buffer it needs for the
//! broker key. The answer is made where the offer ends, in the place of a record out and what is behind it.

use core::mem;

use hybrid_handshake::{
    Error as Handshake, control,
    identity::BrokerKey,
    message::Capabilities,
    reauth::client::{self, AwaitOffer, AwaitSuccess},
    record::{Content, HEADROOM},
    suite::{KemScheme, Suite},
};

use super::{Session, control::Turn};
use crate::{
    Clock, Error, Link, Nv, Outcome, Phase,
    arena::OUT,
    clock::Deadline,
    handshake::FLIGHT_MS,
    node::{device_secret, key_len, own_credential},
    store::Kind,
};

impl<S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Session<'_, '_, S, B, L, C, N> {
    /// Asks for a re-authentication. [`Session::poll`] begins it, a minute after the one before at the earliest, and takes it to
    /// its end; one that fails ends the session. False, and nothing will happen, if the broker does not take any.
    pub fn reauthenticate(&mut self) -> bool {
        let taken = self.takes_reauth();
        self.node.reauth.wanted = taken;
        taken
    }

    /// From now on one is due when so many records of both directions have passed since the last one, as if it was asked for; 0,
    /// as at the start of a session: never.
    pub const fn reauthenticate_after(&mut self, records: u32) {
        self.node.reauth.after = records;
    }

    /// How many there have been in this session.
    pub const fn reauthentications(&self) -> u32 {
        self.node.reauth.done
    }

    /// Begins one if it is due; gives up on a broker that does not go on with one.
    pub(super) fn renew(&mut self) -> Outcome<(), L, N> {
        let (reauth, clock) = (&mut self.node.reauth, &mut self.node.board.clock);
        if reauth.patience.is_some_and(|patience| patience.has_passed(clock)) {
            return Err(Error::Timeout);
        }
        let _ = reauth.pause.take_if(|pause| pause.has_passed(clock));
        // Between two messages the buffer of the control stream is free.
        if self.node.reauth.is_due() && self.takes_reauth() && !self.deaf && self.control.at_boundary() {
            self.begin()?;
        }
        Ok(())
    }

    fn takes_reauth(&self) -> bool {
        let established = self.node.established.as_ref();
        established.is_some_and(|established| established.options.has(Capabilities::REAUTH))
    }

    #[inline(never)]
    fn begin(&mut self) -> Outcome<(), L, N> {
        self.node.board.clock.mark(Some(Phase::Reauth));
        let len = self.write_request()?;
        self.node.board.clock.mark(None);
        self.node.reauth.begun(&mut self.node.board.clock);
        self.send(Content::Control, len)
    }

    #[inline(never)]
    fn write_request(&mut self) -> Outcome<usize, L, N> {
        let node = &mut *self.node;
        let (store, buffers) = (&mut node.board.store, &mut node.buffers);
        let key_len = key_len(&node.suite);
        let len = store.pin(self.origin.pin, buffers.work)?;
        if cfg!(feature = "kem-auth") && node.settings.kind == Kind::Kem {
            store.load_device_key(key_len, buffers.key)?;
        }
        let broker_key = BrokerKey::parse(buffers.work.get(..len).unwrap_or_default())?;
        let key = store.device_key(key_len, buffers.key);
        let x = device_secret(key);
        let credential = own_credential(&node.suite, node.settings, key, &x)?;
        let secret = node.established.as_mut().ok_or(Error::Closed)?.reauth.take();
        let (_, out) = places(buffers.flight);
        let (len, asked) = client::start(node.suite, secret, &credential, &broker_key, node.drbg, out)?;
        self.node.reauth.step = Step::Asked(asked);
        Ok(len)
    }
}

/// The re-authentications of a session, one after the other.
pub(crate) struct Reauth<S: Suite> {
    step: Step<S>,
    /// Records since the last one began.
    records: u32,
    after: u32,
    wanted: bool,
    /// Until the next one may begin.
    pause: Option<Deadline>,
    /// Until the one under way has to be over.
    patience: Option<Deadline>,
    done: u32,
}

enum Step<S: Suite> {
    Idle,
    Asked(AwaitOffer<S>),
    Answered(AwaitSuccess),
}

impl<S: Suite> Reauth<S> {
    pub(crate) const fn new() -> Self {
        Self {
            step: Step::Idle,
            records: 0,
            after: 0,
            wanted: false,
            pause: None,
            patience: None,
            done: 0,
        }
    }

    /// One more record of either direction.
    pub(super) const fn count(&mut self) {
        self.records = self.records.saturating_add(1);
    }

    /// Takes a step of the broker. Gives the length of the answer in `out`; the empty record that shows the new keys is one of 0.
    #[inline(never)]
    pub(super) fn step<C: Clock, L, N>(
        &mut self,
        message: &control::Reauth<'_>,
        turn: Turn<'_, S, C>,
        out: &mut [u8],
    ) -> Result<usize, Error<L, N>> {
        turn.clock.mark(Some(Phase::Reauth));
        let len = match mem::replace(&mut self.step, Step::Idle) {
            Step::Asked(asked) => {
                let x = device_secret(turn.key);
                let credential = own_credential(turn.suite, turn.settings, turn.key, &x)?;
                let (len, answered) = asked.answer(message, &credential, turn.drbg, out)?;
                self.step = Step::Answered(answered);
                len
            }
            Step::Answered(answered) => {
                let keys = answered.finish(message)?;
                let session = turn.established;
                keys.install_at_client(&mut session.sealer, &mut session.opener)?;
                (session.exporter, session.reauth) = (keys.exporter, keys.reauth);
                self.patience = None;
                self.done = self.done.saturating_add(1);
                0
            }
            Step::Idle => return Err(Handshake::UnexpectedPacket.into()),
        };
        turn.clock.mark(None);
        Ok(len)
    }

    const fn is_due(&self) -> bool {
        let due = self.wanted || (self.after > 0 && self.records >= self.after);
        due && self.pause.is_none() && matches!(self.step, Step::Idle)
    }

    fn begun(&mut self, clock: &mut impl Clock) {
        self.records = 0;
        self.wanted = false;
        self.pause = Some(Deadline::after(clock, PAUSE_MS));
        self.patience = Some(Deadline::after(clock, FLIGHT_MS));
    }
}

/// The records, and the place of the text of the next one out.
pub(super) fn places(flight: &mut [u8]) -> (&[u8], &mut [u8]) {
    let (records, out) = flight.split_at_mut_checked(OUT + HEADROOM).unwrap_or_default();
    (records, out)
}

/// The broker takes one a minute; a second more, because the clocks differ by the time of a message.
const PAUSE_MS: u32 = 61_000;
