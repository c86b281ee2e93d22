//! A byte stream through the secure channel.

pub(crate) mod control;
pub(crate) mod handshake;
pub(crate) mod incoming;
mod outgoing;
pub(crate) mod packet;
pub(crate) mod prepared;
pub(crate) mod reauth;
mod waker;

use std::fmt;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hybrid_handshake::aead::{AnyAead, TAG_LEN};
use hybrid_handshake::message::Capabilities;
use hybrid_handshake::record::{Content, Opener, Sealer};
use hybrid_handshake::schedule::{Exporter, Rms};
use hybrid_handshake::suite::{AnySuite, Suite, SuiteId};
use hybrid_handshake::{Error as Hkm1, Established};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use self::control::{Control, News};
use self::incoming::Incoming;
use self::outgoing::Outgoing;
use self::reauth::{Identity, Reauth, Reauthentication, Step};
use self::waker::{BothHalves, Half};
use crate::config::Config;
use crate::error::{Error, Step as Place};
use crate::wire::{Direction, Observer, WireEvent};

/// The application's MQTT stream, carried in records over `T`.
///
/// Writes are gathered: call `flush` when a packet is complete. What was written leaves at the latest when a record is
/// full, when the stream is read, or on shutdown. Reads and writes may be cancelled at any point without losing bytes.
///
/// Every error is final. An error of the channel is an [`io::Error`] that holds an [`Error`]; after it the transport
/// should be dropped without saying goodbye, so that the broker publishes the will.
pub struct SecureStream<T> {
    transport: T,
    incoming: Incoming,
    /// Plaintext at the front of `incoming` that was not delivered yet, and the length of its record.
    opened: Option<(Range<usize>, usize)>,
    outgoing: Outgoing,
    session: Session,
    control: Control,
    /// `None` where the broker does not offer it, or there is no credential to prove.
    reauth: Option<Reauth>,
    /// Records that were opened so far, and their bytes.
    received: (u64, u64),
    wakers: BothHalves,
    failed: bool,
    observer: Option<Arc<dyn Observer>>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> SecureStream<T> {
    /// Runs the handshake over `transport` around `inner_connect`, the application's whole CONNECT of any protocol level.
    ///
    /// Gives the stream and the answer to that CONNECT: the broker's CONNACK in the same protocol level, byte for byte.
    /// It may be a refusal; the broker then closes.
    ///
    /// # Errors
    /// Sorted by blame in [`Error`]. No weaker attempt follows: the caller decides when to try the same again.
    pub async fn connect(config: &Config, mut transport: T, inner_connect: &[u8]) -> Result<(Self, Vec<u8>), Error> {
        let done = handshake::run(config, &mut transport, inner_connect).await?;
        let news = News {
            pins: config.pins.clone(),
            tickets: config.tickets.clone(),
            owner: done.owner,
            resumed: done.resumed,
        };
        let control = Control::client(done.session.options, news);
        let identity = Identity {
            credential: config.credential.clone(),
            broker_key: done.broker_key,
            when: config.reauthenticate,
        };
        let identity = Some(identity).filter(|_| done.session.options.has(Capabilities::REAUTH));
        let observer = config.observer.clone();
        let stream = Self::new(transport, done.session, done.incoming, control, identity, observer);
        Ok((stream, done.connack))
    }
}

/// A finished handshake, but for the secret of the next re-authentication.
pub(crate) struct Session {
    pub(crate) suite: AnySuite,
    pub(crate) broker_time: u64,
    pub(crate) rms: Rms,
    sealer: Sealer<AnyAead>,
    opener: Opener<AnyAead>,
    exporter: Exporter,
}

impl<T> SecureStream<T> {
    pub(crate) fn new(
        transport: T,
        established: Established<AnySuite>,
        incoming: Incoming,
        control: Control,
        identity: Option<Identity>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        let Established {
            suite,
            sealer,
            opener,
            broker_time,
            rms,
            exporter,
            reauth,
            ..
        } = established;
        Self {
            transport,
            incoming,
            opened: None,
            outgoing: Outgoing::new(sealer.limit()),
            session: Session {
                suite,
                broker_time,
                rms,
                sealer,
                opener,
                exporter,
            },
            control,
            reauth: identity.map(|identity| Reauth::new(suite, reauth, identity)),
            received: (0, 0),
            wakers: BothHalves::default(),
            failed: false,
            observer,
        }
    }

    /// The suite in use.
    pub fn suite(&self) -> SuiteId {
        self.session.suite.id()
    }

    /// The transport.
    pub fn get_ref(&self) -> &T {
        &self.transport
    }

    /// 32 secret bytes that only this client and the broker can compute, to bind another protocol to this session. A
    /// re-authentication changes them.
    pub fn export(&self, label: &[u8], context: &[u8]) -> [u8; 32] {
        let mut out = [0; 32];
        self.session.exporter.export(label, context, &mut out);
        out
    }

    /// A handle that asks this session for a re-authentication, from any task.
    pub fn reauthentication(&self) -> Reauthentication {
        self.reauth.as_ref().map_or_else(reauth::closed, Reauth::handle)
    }

    /// Queues a control message behind everything written so far; the next flush or read sends it.
    #[cfg(feature = "responder")]
    pub(crate) fn queue_control(&mut self, message: &[u8]) -> Result<(), Hkm1> {
        let note = sent_to(self.observer.as_deref());
        self.outgoing.control(&mut self.session.sealer, message, note)
    }

    fn check(&self) -> io::Result<()> {
        if self.failed {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            Ok(())
        }
    }

    fn fail(&mut self, error: Hkm1) -> io::Error {
        self.failed = true;
        Error::at(Place::Session, error).into()
    }
}

impl<T: AsyncRead + Unpin> SecureStream<T> {
    /// Opens the record at the front, reading as long as it is not whole. `false` is the end of the stream.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let have = self.incoming.bytes().len();
            let needed = self
                .session
                .opener
                .needed(self.incoming.bytes())
                .map_err(|e| self.fail(e))?;
            if needed <= have && have > 0 {
                return Poll::Ready(self.open(needed).map(|()| true).map_err(|e| self.fail(e)));
            }
            if ready!(self.incoming.poll_fill(Pin::new(&mut self.transport), cx))? == 0 {
                return Poll::Ready(if have == 0 {
                    Ok(false)
                } else {
                    self.failed = true;
                    Err(Error::Closed(Place::Session).into())
                });
            }
        }
    }

    fn open(&mut self, len: usize) -> Result<(), Hkm1> {
        let record = self.incoming.bytes_mut().get_mut(..len).ok_or(Hkm1::Misuse)?;
        let opened = self.session.opener.open(record)?;
        let control = opened.content == Content::Control;
        WireEvent::Record {
            direction: Direction::FromBroker,
            len,
            control,
        }
        .emit(self.observer.as_deref());
        self.received = (self.received.0 + 1, self.received.1 + len as u64);
        if control {
            let step = self.control.record(&self.session, self.reauth.as_mut(), opened.text)?;
            self.incoming.wipe(len);
            if let Some(step) = step {
                self.follow(step)?;
            }
        } else {
            let end = len - TAG_LEN;
            self.opened = Some((end - opened.text.len()..end, len));
        }
        Ok(())
    }

    /// Goes on with a re-authentication after a message of the broker.
    fn follow(&mut self, step: Step) -> Result<(), Hkm1> {
        let note = sent_to(self.observer.as_deref());
        let Session {
            sealer,
            opener,
            exporter,
            ..
        } = &mut self.session;
        match step {
            Step::Answer(message) => self.outgoing.control(sealer, &message, note),
            Step::Done(keys) => {
                keys.install_at_client(sealer, opener)?;
                *exporter = keys.exporter;
                self.outgoing.show_key(sealer, note)?;
                if let Some(reauth) = &mut self.reauth {
                    reauth.renewed(keys.reauth);
                }
                WireEvent::Reauthenticated.emit(self.observer.as_deref());
                Ok(())
            }
        }
    }

    /// Begins a re-authentication if one is due.
    fn poll_reauth(&mut self, cx: &mut Context<'_>) -> Result<(), Hkm1> {
        let Some(reauth) = &mut self.reauth else { return Ok(()) };
        let (sent, received) = (self.outgoing.total(), self.received);
        let total = (sent.0 + received.0, sent.1 + received.1);
        match reauth.poll_start(cx, total)? {
            Some(request) => {
                let note = sent_to(self.observer.as_deref());
                self.outgoing.control(&mut self.session.sealer, &request, note)
            }
            None => Ok(()),
        }
    }

    /// Delivers what is left of the opened record, and wipes it once it is done.
    fn deliver(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        let Some((text, record_len)) = &mut self.opened else {
            return false;
        };
        let take = text.len().min(buf.remaining());
        let next = text.start + take;
        buf.put_slice(&self.incoming.bytes()[text.start..next]);
        text.start = next;
        if text.start == text.end {
            let len = *record_len;
            self.incoming.wipe(len);
            self.opened = None;
        }
        true
    }
}

impl<T: AsyncWrite + Unpin> SecureStream<T> {
    /// Seals what was gathered and sends everything, waking both halves when the transport can take more.
    fn poll_send(&mut self, half: Half, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let note = sent_to(self.observer.as_deref());
        let finished = self.outgoing.finish_record(&mut self.session.sealer, note);
        finished.map_err(|e| self.fail(e))?;
        self.poll_drain(half, cx)
    }

    fn poll_drain(&mut self, half: Half, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.outgoing.is_drained() {
            return self.outgoing.poll_drain(Pin::new(&mut self.transport), cx);
        }
        let waker = self.wakers.waker(half, cx);
        self.outgoing
            .poll_drain(Pin::new(&mut self.transport), &mut Context::from_waker(&waker))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for SecureStream<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.deliver(buf) {
                return Poll::Ready(Ok(()));
            }
            this.check()?;
            this.poll_reauth(cx).map_err(|e| this.fail(e))?;
            match this.poll_open(cx) {
                // An answer of ours must not wait until the broker has nothing more to say.
                Poll::Ready(Ok(true)) if this.opened.is_none() => {
                    let _ = this.poll_send(Half::Read, cx)?;
                }
                Poll::Ready(Ok(true)) => {}
                Poll::Ready(Ok(false)) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => {
                    // Nobody may wait for an answer to what has not left yet.
                    let _ = this.poll_send(Half::Read, cx)?;
                    return Poll::Pending;
                }
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for SecureStream<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.check()?;
        loop {
            let note = sent_to(this.observer.as_deref());
            let taken = this.outgoing.write(&mut this.session.sealer, buf, note);
            let taken = taken.map_err(|e| this.fail(e))?;
            if taken > 0 || buf.is_empty() {
                return Poll::Ready(Ok(taken));
            }
            ready!(this.poll_drain(Half::Write, cx))?;
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.check()?;
        ready!(this.poll_send(Half::Write, cx))?;
        Pin::new(&mut this.transport).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // After a failure nothing more is sealed, and the transport closes without a word.
        if !this.failed {
            ready!(this.poll_send(Half::Write, cx))?;
        }
        Pin::new(&mut this.transport).poll_shutdown(cx)
    }
}

impl<T> fmt::Debug for SecureStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecureStream")
            .field("suite", &self.session.suite.id())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

/// Reports sealed records.
fn sent_to(observer: Option<&dyn Observer>) -> impl FnMut(Content, usize) {
    move |content, len| {
        let control = content == Content::Control;
        WireEvent::Record {
            direction: Direction::ToBroker,
            len,
            control,
        }
        .emit(observer);
    }
}

/// Room for what may arrive before it is consumed: two of the largest packets or records.
fn incoming_len(config: &Config) -> usize {
    let record = Sealer::<AnyAead>::buffer_len(config.record_limit);
    2 * record.max(config.packet_limit.into())
}
