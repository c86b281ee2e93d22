//! Carries MQTT clients that know nothing of HKM1.

mod application;
mod endpoint;
mod listener;
mod local;
mod splice;
mod token;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpStream;
use tokio::sync::MutexGuard;
use tokio::time::{sleep_until, timeout};

use self::application::Application;
use crate::backoff::{Attempt, Backoff};
use crate::config::Config;
use crate::error::{Blame, Error, Step};
use crate::stream::SecureStream;
use crate::stream::reauth::{Idle, Reauthentication};

pub use endpoint::Endpoint;
pub use listener::Listener;
pub use local::LocalPort;

/// A way to one broker for any number of local MQTT clients.
///
/// Each client's CONNECT is carried inside a handshake of its own, and its session is then passed through untouched. If
/// there is no session to be had, the client gets a CONNACK in its own protocol level that says why.
///
/// After a failed attempt the next one, whoever asks for it, waits: half a second at first, ten minutes at most, less up
/// to a half at random. Clones share this and everything else.
#[derive(Clone)]
pub struct Bridge {
    shared: Arc<Shared>,
    max_clients: u32,
    /// What the user name of a CONNECT has to begin with.
    token: Option<Arc<str>>,
}

struct Shared {
    broker: String,
    config: Config,
    backoff: Mutex<Backoff>,
    /// The sessions that stand, and some that are over.
    sessions: Mutex<Vec<Idle>>,
    probe: tokio::sync::Mutex<()>,
}

impl Bridge {
    /// A bridge to `broker`, `host:port`. Connects only when a client comes.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that contradict each other.
    pub fn new(broker: impl Into<String>, config: Config) -> Result<Self, Error> {
        config.check()?;
        let shared = Shared {
            broker: broker.into(),
            config,
            backoff: Mutex::default(),
            sessions: Mutex::default(),
            probe: tokio::sync::Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            max_clients: 1024,
            token: None,
        })
    }

    /// Lets a [`Listener`] serve at most this many clients at a time; others wait. 1024 unless set.
    #[must_use]
    pub fn max_clients(mut self, max_clients: u32) -> Self {
        self.max_clients = max_clients;
        self
    }

    /// The broker's address.
    pub fn broker(&self) -> &str {
        &self.shared.broker
    }

    /// Opens a local port.
    ///
    /// # Errors
    /// [`Error::Network`] if the system does not give it.
    pub async fn listen(&self, endpoint: &Endpoint) -> Result<Listener, Error> {
        Listener::bind(self.clone(), endpoint, self.max_clients).await
    }

    /// Asks every session that stands for a re-authentication, and does not wait for it. Gives their number.
    pub fn reauthenticate(&self) -> usize {
        let mut sessions = self.sessions();
        sessions.retain(Idle::request);
        sessions.len()
    }

    /// The near end of a connection: write a CONNECT to it. A task of its own serves the far end; why a session could not
    /// be had or ended is in the CONNACK and in the log.
    pub fn duplex(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(DUPLEX_LEN);
        let bridge = self.clone();
        tokio::spawn(async move {
            if let Err(error) = bridge.serve(far).await {
                tracing::warn!(%error, "connection failed");
            }
        });
        near
    }

    /// Serves one client: reads its CONNECT, connects to the broker over TCP and passes the session through until either
    /// side closes. A client that leaves without a word is no error.
    ///
    /// # Errors
    /// Why there was no session, or how it was broken off. The client has been told.
    pub async fn serve<A>(&self, application: A) -> Result<(), Error>
    where
        A: AsyncRead + AsyncWrite + Unpin,
    {
        self.serve_with(application, async || self.dial().await).await
    }

    /// The same over a transport that the caller has connected.
    ///
    /// # Errors
    /// As [`Bridge::serve`].
    pub async fn serve_over<A, T>(&self, application: A, transport: T) -> Result<(), Error>
    where
        A: AsyncRead + AsyncWrite + Unpin,
        T: AsyncRead + AsyncWrite + Unpin,
    {
        self.serve_with(application, async || Ok(transport)).await
    }

    fn require_token(mut self, token: &str) -> Self {
        self.token = Some(token.into());
        self
    }

    async fn serve_with<A, T>(&self, application: A, dial: impl AsyncFnOnce() -> Result<T, Error>) -> Result<(), Error>
    where
        A: AsyncRead + AsyncWrite + Unpin,
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let Some(mut application) = Application::accept(application, self.token.as_deref()).await? else {
            return Ok(());
        };
        let connect = &application.connect;
        let attempt = async {
            let probe = self.wait_for_turn().await;
            let begun = self.backoff().begin();
            let outcome = async { SecureStream::connect(&self.shared.config, dial().await?, connect).await };
            let outcome = outcome.await;
            self.note(begun, &outcome);
            drop(probe);
            outcome
        };
        // A client that has given up is not worth an attempt, and its next one must not queue behind it.
        let outcome = tokio::select! {
            outcome = attempt => outcome,
            () = application.early.closed() => return Ok(()),
        };
        let ended = match outcome {
            Ok((stream, connack)) => {
                self.remember(&stream.reauthentication());
                splice::run(application.early, stream, &connack).await
            }
            Err(error) => {
                application.refuse(error.reason()).await;
                Err(error)
            }
        };
        self.prepare().await;
        ended
    }

    /// For the client's next connection, which is not there yet.
    async fn prepare(&self) {
        let config = self.shared.config.clone();
        let prepared = tokio::task::spawn_blocking(move || config.prepare()).await;
        if let Ok(Err(error)) = prepared {
            // The next attempt will say it to somebody.
            tracing::debug!(%error, "no first message prepared");
        }
    }

    /// Waits as long as the back-off says. While the broker is failing, one client at a time finds out whether it still
    /// does, and holds what this returns meanwhile.
    async fn wait_for_turn(&self) -> Option<MutexGuard<'_, ()>> {
        if !self.backoff().is_failing() {
            return None;
        }
        let probe = self.shared.probe.lock().await;
        loop {
            let (failing, ready) = {
                let backoff = self.backoff();
                (backoff.is_failing(), backoff.ready())
            };
            match ready {
                Some(at) => sleep_until(at).await,
                None => return failing.then_some(probe),
            }
        }
    }

    fn note<T>(&self, begun: Attempt, outcome: &Result<T, Error>) {
        match outcome {
            Ok(_) => self.backoff().succeeded(),
            // The same settings fail for other reasons than the broker's, and nobody else's connection waits for that.
            Err(error) if error.blame() == Blame::Setup => {}
            // Jitter needs no secrecy; without a generator everybody waits the longest.
            Err(_) => self.backoff().failed(begun, getrandom::u32().unwrap_or(u32::MAX)),
        }
    }

    fn remember(&self, session: &Reauthentication) {
        let mut sessions = self.sessions();
        // Looked through whenever it has doubled: few steps per session, and the memory of those that stand.
        if sessions.len() == sessions.capacity() {
            sessions.retain(|session| !session.is_over());
        }
        sessions.push(session.downgrade());
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn backoff(&self) -> std::sync::MutexGuard<'_, Backoff> {
        self.shared.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn dial(&self) -> Result<TcpStream, Error> {
        let broker = &self.shared.broker;
        let limit = self.shared.config.timeouts.dial;
        let fail = |source| Error::Network {
            what: format!("cannot reach {broker} (is the broker running, and is this its address?)"),
            source,
        };
        let connected = timeout(limit, TcpStream::connect(broker))
            .await
            .map_err(|_| Error::Timeout(Step::Dial))?;
        let stream = connected.map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        Ok(stream)
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("broker", &self.shared.broker)
            .finish_non_exhaustive()
    }
}

/// Bytes that wait between a client in this process and its connection, per direction.
const DUPLEX_LEN: usize = 64 * 1024;
