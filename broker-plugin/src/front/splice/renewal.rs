//! Re-authentication of a session: what the client asks goes to the registry and the workers, while records flow on.
//!
//! ```text
//! inward -- Asked --> Renewal -- Say --> outward, which seals 0x00 and leaves the new keys, from where inward takes them
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use hybrid_handshake::{
    Error,
    broker::Enrolled,
    control::{HEADER_LEN, Reauth},
    identity::{Psk, PublicKey},
    mqtt::ReasonCode,
    reauth::{
        NewKeys,
        broker::{AwaitAnswer, SendOffer},
        message_len,
    },
    suite::{AnySuite, Mode, SuiteId},
};
use tokio::time::{Instant, sleep_until, timeout};

use super::{End, key_news::KeyNews, queue::Queue};
use crate::{
    admission::{Urgency, Weight},
    front::{Shared, flights, inner},
    keys::{KeyPair, fresh_drbg},
    registry::{Credential, Device},
};

/// What the parts of a session have for each other.
pub(super) struct Exchange {
    asked: Queue<Asked>,
    say: Queue<Say>,
    keys: Mutex<Option<Box<NewKeys>>>,
}

impl Exchange {
    pub(super) fn new() -> Self {
        Self {
            asked: Queue::new(),
            say: Queue::new(),
            keys: Mutex::new(None),
        }
    }

    /// Passes on what the client asks.
    ///
    /// # Errors
    /// [`Error::UnexpectedPacket`] if it sends more than one re-authentication consists of.
    pub(super) fn ask(&self, asked: Asked) -> Result<(), Error> {
        self.asked.push(asked, MAX_WAITING).map_err(|_| Error::UnexpectedPacket)
    }

    /// The next thing to say to the client.
    pub(super) async fn to_say(&self) -> Say {
        self.say.next().await
    }

    /// New keys on their way from the sealer to the opener. They are there from the moment 0x00 is sealed, so that a client
    /// that uses them earlier breaks the rules.
    pub(super) fn put_keys(&self, keys: Box<NewKeys>) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = Some(keys);
    }

    pub(super) fn take_keys(&self) -> Option<Box<NewKeys>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What the client has sent.
pub(super) enum Asked {
    /// 0x19.
    Request(Box<SendOffer<AnySuite>>),
    /// 0x18, the whole message.
    Answer(Vec<u8>),
    /// The first record with the new keys: only now it has proved itself.
    Proved,
}

/// What the client gets, in this order.
pub(in crate::front) enum Say {
    /// A control message.
    Message(Vec<u8>),
    /// 0x00, behind which these keys count.
    Keys(Vec<u8>, Box<NewKeys>),
}

/// The re-authentications of one session, its age, and news of the broker keys while it lasts.
pub(super) struct Renewal<'a> {
    shared: &'a Arc<Shared>,
    suite: SuiteId,
    key: Arc<KeyPair>,
    device: Option<String>,
    exchange: Arc<Exchange>,
    news: KeyNews<'a>,
    deadline: Instant,
}

impl<'a> Renewal<'a> {
    pub(super) fn new(
        shared: &'a Arc<Shared>,
        suite: SuiteId,
        key: Arc<KeyPair>,
        device: Option<String>,
        exchange: Arc<Exchange>,
        news: KeyNews<'a>,
    ) -> Self {
        Self {
            deadline: Instant::now() + shared.limits.session_age,
            shared,
            suite,
            key,
            device,
            exchange,
            news,
        }
    }

    /// Whose session it is; `None` for an anonymous client.
    pub(super) fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Runs until the session has to end.
    pub(super) async fn run(&mut self) -> End {
        loop {
            let asked = tokio::select! {
                asked = self.exchange.asked.next() => asked,
                () = self.news.changed() => {
                    for say in self.news.take() {
                        if let Err(end) = self.say(say) {
                            return end;
                        }
                    }
                    continue;
                }
                () = sleep_until(self.deadline) => return End::Told("age", ReasonCode::MaximumConnectTime),
            };
            let done = match asked {
                // Rare, and large: its state is there only while it runs.
                Asked::Request(request) => Box::pin(self.renew(*request)).await,
                Asked::Proved => {
                    self.deadline = Instant::now() + self.shared.limits.session_age;
                    self.shared.metrics.reauthentications.inc();
                    tracing::info!(device = self.device.as_deref(), "re-authenticated");
                    Ok(())
                }
                Asked::Answer(_) => Err(End::Broken),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn renew(&mut self, request: SendOffer<AnySuite>) -> Result<(), End> {
        let device = self.look_up().await?;
        let (offer, state) = self.offer(request, device).await?;
        self.say(Say::Message(offer))?;
        let Ok(asked) = timeout(self.shared.limits.m3_timeout, self.exchange.asked.next()).await else {
            return Err(End::Told("re-authentication", ReasonCode::NotAuthorized));
        };
        let Asked::Answer(answer) = asked else {
            return Err(End::Broken);
        };
        let finished = self.shared.workers.run(Urgency::Begun, self.weight(), move || {
            let mut success = vec![0; HEADER_LEN + 1];
            let (len, keys) = state.finish(&parse(&answer)?, &mut success)?;
            success.truncate(len);
            Ok::<_, Error>((success, keys))
        });
        let (success, keys) = finished.await.map_err(|_| BUSY)?.map_err(|_| End::Broken)?;
        self.say(Say::Keys(success, Box::new(keys)))
    }

    /// The session's device as the registry has it now.
    async fn look_up(&self) -> Result<Device, End> {
        // The options of an anonymous session do not let a request through.
        let id = self.device.as_deref().ok_or(End::Broken)?;
        match flights::find(self.shared, id).await {
            Ok(Some(device)) if device.revoked => Err(End::Told("revoked", ReasonCode::NotAuthorized)),
            Ok(Some(device)) if inner::allows(&device, self.suite, &[mode_of(&device)]) => Ok(device),
            Ok(_) => Err(End::Told("re-authentication", ReasonCode::NotAuthorized)),
            // What stands in a DISCONNECT for the CONNACK's 0x88.
            Err(_) => Err(End::Told("registry", ReasonCode::ServerBusy)),
        }
    }

    async fn offer(
        &self,
        request: SendOffer<AnySuite>,
        device: Device,
    ) -> Result<(Vec<u8>, AwaitAnswer<AnySuite>), End> {
        let (suite, key) = (self.suite, self.key.clone());
        let made = self.shared.workers.run(Urgency::Begun, self.weight(), move || {
            let psk;
            let enrolled = match &device.credential {
                Credential::Psk(bytes) => {
                    psk = Psk::from_bytes(**bytes);
                    Enrolled::Psk(&psk)
                }
                Credential::Kem(key) => Enrolled::Kem(PublicKey::parse(key)?),
            };
            let mut offer = vec![0; message_len(suite, mode_of(&device))];
            let (len, state) = request.write(&key.secret()?, &enrolled, &mut fresh_drbg()?, &mut offer)?;
            offer.truncate(len);
            Ok::<_, Error>((offer, state))
        });
        let made = made.await.map_err(|_| BUSY)?;
        // Its credential has been replaced by one of another kind.
        made.map_err(|_| End::Told("re-authentication", ReasonCode::NotAuthorized))
    }

    fn weight(&self) -> Weight {
        flights::weight(self.suite, &self.key)
    }

    /// A client that reads nothing has at most two pieces of news, an offer and its end to come.
    fn say(&self, what: Say) -> Result<(), End> {
        self.exchange.say.push(what, MAX_WAITING).map_err(|_| End::Broken)
    }
}

const fn mode_of(device: &Device) -> Mode {
    match device.credential {
        Credential::Kem(_) => Mode::Kem,
        Credential::Psk(_) => Mode::Psk,
    }
}

/// A message that was collected whole.
fn parse(whole: &[u8]) -> Result<Reauth<'_>, Error> {
    let [_, _, _, reason, fields @ ..] = whole else {
        return Err(Error::Misuse);
    };
    let reason = ReasonCode::from_code(*reason).ok_or(Error::UnexpectedPacket)?;
    Ok(Reauth { reason, fields, whole })
}

/// At most one re-authentication is under way: two messages each way, and two pieces of news.
const MAX_WAITING: usize = 4;
const BUSY: End = End::Told("load", ReasonCode::QuotaExceeded);
