//! Re-authentication from this side: when it is due, its three steps, and who asked for it.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::control;
use hybrid_handshake::drbg::Drbg;
use hybrid_handshake::identity::BrokerKey;
use hybrid_handshake::reauth::client::{self, AwaitOffer, AwaitSuccess};
use hybrid_handshake::reauth::{NewKeys, message_len};
use hybrid_handshake::schedule::ReauthSecret;
use hybrid_handshake::suite::{AnySuite, Suite};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until};
use zeroize::Zeroizing;

use crate::config::Reauthenticate;
use crate::error::{ConfigError, Error, Step as Place};
use crate::store::Credential;

/// Asks a session for a re-authentication, from any task. Clones ask the same session.
#[derive(Clone)]
pub struct Reauthentication(Arc<Desk>);

/// Where requests and results meet.
struct Desk {
    /// Whether this session can be asked at all.
    open: bool,
    wanted: AtomicBool,
    reader: Mutex<Option<Waker>>,
    /// How many were finished.
    finished: watch::Receiver<u64>,
}

impl Reauthentication {
    /// Proves anew who this device is, and gives both directions new keys while they go on. Completes when the new keys
    /// are in use here. The broker takes one a minute, so it may have to wait; requests at the same time are one.
    ///
    /// The session has to be read meanwhile, as a bridge or an MQTT client does all the time.
    ///
    /// # Errors
    /// [`Error::Config`] if the session is anonymous or the broker does not offer it, [`Error::Closed`] if the session ends
    /// before.
    pub async fn run(&self) -> Result<(), Error> {
        self.request()?;
        let mut finished = self.0.finished.clone();
        finished.borrow_and_update();
        finished.changed().await.map_err(|_| Error::Closed(Place::Session))
    }

    /// Asks and does not wait.
    ///
    /// # Errors
    /// [`Error::Config`] as for [`Reauthentication::run`].
    pub fn request(&self) -> Result<(), Error> {
        if !self.0.open {
            return Err(ConfigError::NoReauthentication.into());
        }
        self.0.wanted.store(true, Ordering::Release);
        if let Some(reader) = self.0.lock().take() {
            reader.wake();
        }
        Ok(())
    }

    /// For lists of sessions that must not keep them.
    pub(crate) fn downgrade(&self) -> Idle {
        Idle(Arc::downgrade(&self.0))
    }
}

/// A session that may be over.
pub(crate) struct Idle(Weak<Desk>);

impl Idle {
    /// Asks; says whether the session is still there.
    pub(crate) fn request(&self) -> bool {
        self.0.upgrade().is_some_and(|desk| {
            // A session that cannot is none that failed.
            let _ = Reauthentication(desk).request();
            true
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Desk {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session needs besides its keys.
pub(crate) struct Identity {
    pub(crate) credential: Credential,
    /// The key of the session's handshake in its encoding.
    pub(crate) broker_key: Arc<[u8]>,
    pub(crate) when: Reauthenticate,
}

/// What follows from a message of the broker.
pub(super) enum Step {
    /// This message to the broker.
    Answer(Vec<u8>),
    /// The next records have these keys.
    Done(NewKeys),
}

/// The re-authentications of a session, one after the other.
pub(super) struct Reauth {
    suite: AnySuite,
    identity: Identity,
    state: State,
    /// When the clock asks for the next one, and when one may begin at all.
    due: Pin<Box<Sleep>>,
    earliest: Instant,
    /// Records and bytes at the last one.
    base: (u64, u64),
    desk: Arc<Desk>,
    finished: watch::Sender<u64>,
}

enum State {
    Idle(ReauthSecret),
    Asked(Box<AwaitOffer<AnySuite>>, Drbg),
    Answered(Box<AwaitSuccess>),
    /// A step failed, or is under way.
    Spent,
}

/// A handle for a session without re-authentication.
pub(super) fn closed() -> Reauthentication {
    let desk = Desk {
        open: false,
        wanted: AtomicBool::new(false),
        reader: Mutex::default(),
        finished: watch::channel(0).1,
    };
    Reauthentication(Arc::new(desk))
}

impl Reauth {
    pub(super) fn new(suite: AnySuite, secret: ReauthSecret, identity: Identity) -> Self {
        let (finished, seen) = watch::channel(0);
        let desk = Desk {
            open: true,
            wanted: AtomicBool::new(false),
            reader: Mutex::default(),
            finished: seen,
        };
        let now = Instant::now();
        Self {
            due: Box::pin(sleep_until(next(now, &identity.when))),
            suite,
            identity,
            state: State::Idle(secret),
            earliest: now,
            base: (0, 0),
            desk: Arc::new(desk),
            finished,
        }
    }

    pub(super) fn handle(&self) -> Reauthentication {
        Reauthentication(self.desk.clone())
    }

    /// The request, if one is due. `total` are the session's records and bytes so far. Otherwise the task of `cx` is woken
    /// when the clock or somebody else asks.
    pub(super) fn poll_start(&mut self, cx: &mut Context<'_>, total: (u64, u64)) -> Result<Option<Vec<u8>>, Hkm1> {
        if !matches!(self.state, State::Idle(_)) {
            return Ok(None);
        }
        // Noted before the flag is read, so that no request falls in between.
        match &mut *self.desk.lock() {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        let when = &self.identity.when;
        let over = |limit: Option<u64>, total: u64, base: u64| limit.is_some_and(|limit| total - base >= limit);
        let wanted = self.desk.wanted.load(Ordering::Acquire)
            || over(when.records, total.0, self.base.0)
            || over(when.bytes, total.1, self.base.1);
        if wanted && self.due.deadline() > self.earliest {
            self.due.as_mut().reset(self.earliest);
        }
        if self.due.as_mut().poll(cx) == Poll::Pending {
            return Ok(None);
        }
        self.base = total;
        self.start().map(Some)
    }

    /// Takes a step of the broker.
    pub(super) fn step(&mut self, message: &control::Reauth<'_>) -> Result<Step, Hkm1> {
        match std::mem::replace(&mut self.state, State::Spent) {
            State::Asked(asked, mut drbg) => {
                let credential = self.identity.credential.view()?;
                let mut answer = self.buffer();
                let (len, answered) = asked.answer(message, &credential, &mut drbg, &mut answer)?;
                answer.truncate(len);
                self.state = State::Answered(Box::new(answered));
                Ok(Step::Answer(answer))
            }
            State::Answered(answered) => answered.finish(message).map(Step::Done),
            State::Idle(_) | State::Spent => Err(Hkm1::UnexpectedPacket),
        }
    }

    /// The new keys are installed; the next re-authentication starts from `secret`.
    pub(super) fn renewed(&mut self, secret: ReauthSecret) {
        self.state = State::Idle(secret);
        // Whoever asked meanwhile has got what he wanted.
        self.desk.wanted.store(false, Ordering::Release);
        let due = next(Instant::now(), &self.identity.when).max(self.earliest);
        self.due.as_mut().reset(due);
        self.finished.send_modify(|count| *count += 1);
    }

    fn start(&mut self) -> Result<Vec<u8>, Hkm1> {
        let State::Idle(secret) = std::mem::replace(&mut self.state, State::Spent) else {
            return Err(Hkm1::Misuse);
        };
        let mut os_bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *os_bytes).map_err(|_| Hkm1::Generator)?;
        let mut drbg = Drbg::broker(&os_bytes);
        let credential = self.identity.credential.view()?;
        let broker_key = BrokerKey::parse(&self.identity.broker_key)?;
        let mut request = self.buffer();
        let (len, asked) = client::start(self.suite, secret, &credential, &broker_key, &mut drbg, &mut request)?;
        request.truncate(len);
        self.earliest = Instant::now() + PAUSE;
        self.state = State::Asked(Box::new(asked), drbg);
        Ok(request)
    }

    fn buffer(&self) -> Vec<u8> {
        vec![0; message_len(self.suite.id(), self.identity.credential.mode())]
    }
}

/// When the clock asks again: up to an eighth earlier, so that a fleet that connected at one moment does not come back at
/// one moment.
fn next(now: Instant, when: &Reauthenticate) -> Instant {
    let jitter = getrandom::u32().map_or(0.0, |random| f64::from(random) / f64::from(u32::MAX));
    match when.every {
        Some(every) => now + every - (every / 8).mul_f64(jitter),
        None => now + NEVER,
    }
}

/// The broker takes one a minute; a second more, because the clocks on both sides differ by the time of a message.
const PAUSE: Duration = Duration::from_secs(61);
/// Longer than any session.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
