//! From the client: records in, packets out.

use std::{future::poll_fn, io, pin::pin, sync::Arc, task::Poll, time::Duration};

use bytes::{Buf as _, BytesMut};
use hybrid_handshake::{
    Error,
    aead::AnyAead,
    control::{self, HEADER_LEN, MAX_BODY_LEN, Message, Rate, Receiver},
    message::Capabilities,
    mqtt::ReasonCode,
    reauth::broker::read_request,
    record::{Content, Opener},
    schedule::ReauthSecret,
    suite::AnySuite,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf},
    net::tcp::ReadHalf as TcpReadHalf,
    time::{Instant, timeout},
};

use super::renewal::{Asked, Exchange};
use crate::{
    backend::BoxedStream,
    guard::{Guard, Violation},
    metrics::{Direction, Metrics},
};

/// One direction of a session.
pub(super) struct Inward<'a> {
    client: TcpReadHalf<'a>,
    backend: WriteHalf<BoxedStream>,
    opener: Opener<AnyAead>,
    guard: Option<Guard>,
    control: Control,
    input: BytesMut,
    /// How much to read at once.
    read_len: usize,
    output: Vec<u8>,
    metrics: &'a Metrics,
}

/// What the client says beside its MQTT.
pub(super) struct Control {
    suite: AnySuite,
    reader: control::Reader,
    message: Vec<u8>,
    started: Instant,
    rate: Rate,
    /// Where the next re-authentication starts; `None` while one is under way.
    secret: Option<ReauthSecret>,
    /// New keys were announced, and no record of the client has had them yet.
    proof_due: bool,
    exchange: Arc<Exchange>,
}

/// Why it ended.
pub(super) enum InwardEnd {
    /// The client closed its side behind a whole record.
    Closed,
    /// The connection failed, or ended inside a record.
    Lost,
    /// A record did not open, or a control message broke the rules.
    Broken,
    /// The back end takes no more.
    BackendLost,
    /// The guard stopped the client.
    Violation(Violation),
}

impl<'a> Inward<'a> {
    pub(super) fn new(
        client: TcpReadHalf<'a>,
        backend: WriteHalf<BoxedStream>,
        opener: Opener<AnyAead>,
        control: Control,
        guard: Option<Guard>,
        metrics: &'a Metrics,
    ) -> Self {
        Self {
            client,
            backend,
            opener,
            guard,
            control,
            input: BytesMut::new(),
            read_len: READ_LEN,
            output: Vec::new(),
            metrics,
        }
    }

    /// Runs until the direction ends.
    pub(super) async fn run(&mut self) -> InwardEnd {
        loop {
            let opened = self.open_all();
            // What came before a bad record still counts.
            if !self.output.is_empty() {
                if self.backend.write_all(&self.output).await.is_err() || self.backend.flush().await.is_err() {
                    return InwardEnd::BackendLost;
                }
                self.output.clear();
            }
            if let Err(end) = opened {
                return end;
            }
            match self.read().await {
                Ok(0) if self.input.is_empty() => return InwardEnd::Closed,
                Ok(0) | Err(_) => return InwardEnd::Lost,
                Ok(_) => {}
            }
        }
    }

    /// Reads what is there. An idle connection holds no buffer while it waits.
    async fn read(&mut self) -> io::Result<usize> {
        poll_fn(|cx| {
            self.input.reserve(self.read_len);
            // Unlike `try_read` it remembers that a short read was the last for now, and does not ask again.
            let read = pin!(self.client.read_buf(&mut self.input)).poll(cx);
            match &read {
                Poll::Ready(Ok(len)) if *len >= self.read_len => self.read_len = MAX_READ_LEN,
                Poll::Ready(_) => {}
                Poll::Pending => {
                    if self.input.is_empty() {
                        self.input = BytesMut::new();
                    } else if self.read_len > READ_LEN {
                        // What has come of a record waits in a buffer of its own size.
                        self.input = BytesMut::from(&*self.input);
                    }
                    self.read_len = READ_LEN;
                    self.output = Vec::new();
                }
            }
            read
        })
        .await
    }

    /// Whether the client has said goodbye, as far as the guard has seen.
    pub(super) fn has_disconnected(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::has_disconnected)
    }

    /// What the topic rules did not allow.
    pub(super) fn refused(&self) -> Option<&str> {
        self.guard.as_ref().and_then(Guard::refused)
    }

    /// Ends the back end's stream so that it sees everything that was written.
    pub(super) async fn close_backend(&mut self, rest: &mut ReadHalf<BoxedStream>) {
        let orderly = async {
            self.backend.shutdown().await?;
            // On the heap: in the state of the task it would be there for the whole session.
            let mut sink = vec![0; 4096];
            while rest.read(&mut sink).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        // It has had its time; what it still has to say interests nobody.
        let _ = timeout(BACKEND_PATIENCE, orderly).await;
    }

    /// Opens every whole record of `input` into `output`.
    fn open_all(&mut self) -> Result<(), InwardEnd> {
        let broken = |_| InwardEnd::Broken;
        // Once is enough: a record with these keys was sent after ours, so it was read after it too.
        self.control.take_keys(&mut self.opener).map_err(broken)?;
        loop {
            let needed = self.opener.needed(&self.input).map_err(broken)?;
            let Some(record) = self.input.get_mut(..needed) else {
                return Ok(());
            };
            let opened = self.opener.open(record).map_err(broken)?;
            self.control.opened(&self.opener).map_err(broken)?;
            match opened.content {
                Content::Data => {
                    self.metrics.records.get_or_create(&Direction { direction: "in" }).inc();
                    self.metrics
                        .bytes
                        .get_or_create(&Direction { direction: "in" })
                        .inc_by(opened.text.len() as u64);
                    match &mut self.guard {
                        Some(guard) => guard
                            .feed(opened.text, &mut self.output)
                            .map_err(InwardEnd::Violation)?,
                        None => self.output.extend_from_slice(opened.text),
                    }
                }
                Content::Control => self.control.record(opened.text, &self.opener).map_err(broken)?,
            }
            self.input.advance(needed);
        }
    }
}

impl Control {
    pub(super) fn new(suite: AnySuite, options: Capabilities, secret: ReauthSecret, exchange: Arc<Exchange>) -> Self {
        Self {
            suite,
            reader: control::Reader::new(Receiver::Broker, options),
            message: Vec::new(),
            started: Instant::now(),
            rate: Rate::new(REAUTHENTICATIONS_PER_MINUTE),
            secret: Some(secret),
            proof_due: false,
            exchange,
        }
    }

    /// Expects the client's change to new keys, if the announcement of such has been sealed.
    fn take_keys(&mut self, opener: &mut Opener<AnyAead>) -> Result<(), Error> {
        if let Some(keys) = self.exchange.take_keys() {
            opener.expect_rekey(keys.client.expose())?;
            self.secret = Some(keys.reauth);
            self.proof_due = true;
        }
        Ok(())
    }

    /// A record has opened: if it is the first with new keys, the client has proved itself.
    fn opened(&mut self, opener: &Opener<AnyAead>) -> Result<(), Error> {
        if self.proof_due && !opener.awaits_rekey() {
            self.proof_due = false;
            return self.exchange.ask(Asked::Proved);
        }
        Ok(())
    }

    /// Takes in the plaintext of a control record.
    fn record(&mut self, text: &[u8], opener: &Opener<AnyAead>) -> Result<(), Error> {
        // Most sessions never need it.
        self.message.resize(HEADER_LEN + MAX_BODY_LEN, 0);
        let now_s = u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX);
        let mut asked = None;
        let mut messages = self.reader.record(text, now_s)?;
        while let Some(message) = messages.next(&mut self.message)? {
            let Message::Reauth(message) = message else {
                return Err(Error::UnexpectedPacket);
            };
            let next = match message.reason {
                ReasonCode::ReAuthenticate => {
                    self.rate.admit(now_s)?;
                    let secret = self.secret.take().ok_or(Error::UnexpectedPacket)?;
                    Asked::Request(Box::new(read_request(self.suite, secret, opener, &message)?))
                }
                ReasonCode::ContinueAuthentication => Asked::Answer(message.whole.to_vec()),
                _ => return Err(Error::UnexpectedPacket),
            };
            // The answer to an offer that it cannot have seen.
            if asked.replace(next).is_some() {
                return Err(Error::UnexpectedPacket);
            }
        }
        asked.map_or(Ok(()), |asked| self.exchange.ask(asked))
    }
}

/// More ends the session.
const REAUTHENTICATIONS_PER_MINUTE: u8 = 1;
/// Bytes read from the client at once: a largest record and a little more.
const READ_LEN: usize = 20 << 10;
/// The same where the client sends faster than that.
const MAX_READ_LEN: usize = 80 << 10;
const BACKEND_PATIENCE: Duration = Duration::from_secs(2);
