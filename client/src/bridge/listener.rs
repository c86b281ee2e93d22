//! Accepts local clients and gives each its own secure connection.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::{Bridge, Endpoint};
use crate::error::Error;

/// A local port of a [`Bridge`]. Dropping it closes the port and every connection that came through it.
#[derive(Debug)]
pub struct Listener {
    endpoint: Endpoint,
    accept: JoinHandle<()>,
    shared: Arc<Shared>,
    _socket: Option<SocketFile>,
}

/// What the accepting task and the handle share.
#[derive(Debug)]
struct Shared {
    last_error: Mutex<Option<Error>>,
    open: watch::Sender<usize>,
}

impl Listener {
    pub(super) async fn bind(bridge: Bridge, endpoint: &Endpoint, max_clients: u32) -> Result<Self, Error> {
        let fail = |source| Error::Network {
            what: format!("cannot listen on {endpoint}"),
            source,
        };
        let shared = Arc::new(Shared {
            last_error: Mutex::default(),
            open: watch::Sender::new(0),
        });
        let permits = Arc::new(Semaphore::new(max_clients as usize));
        let clients = Clients {
            bridge,
            shared: shared.clone(),
            permits,
        };
        match endpoint {
            Endpoint::Tcp { host, port } => {
                let listener = TcpListener::bind((host.as_str(), *port)).await.map_err(fail)?;
                let port = listener.local_addr().map_err(fail)?.port();
                let accept = tokio::spawn(clients.accept(listener));
                Ok(Self {
                    endpoint: Endpoint::Tcp {
                        host: host.clone(),
                        port,
                    },
                    accept,
                    shared,
                    _socket: None,
                })
            }
            #[cfg(unix)]
            Endpoint::Unix(path) => {
                let (listener, socket) = bind_unix(path).map_err(fail)?;
                let accept = tokio::spawn(clients.accept(listener));
                Ok(Self {
                    endpoint: endpoint.clone(),
                    accept,
                    shared,
                    _socket: Some(socket),
                })
            }
            #[cfg(not(unix))]
            Endpoint::Unix(_) => Err(fail(io::ErrorKind::Unsupported.into())),
        }
    }

    /// The address it listens on, with the port that was taken.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Why the last connection that failed did so; `None` if none failed since the last call.
    pub fn take_error(&self) -> Option<Error> {
        self.shared
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Waits until no connection is open: what local clients sent before they closed has left by then.
    pub async fn idle(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.shared.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accept.abort();
    }
}

/// TCP or Unix, for the accepting task.
trait Accept: Send + 'static {
    fn next(&self) -> impl Future<Output = io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static>> + Send;
}

impl Accept for TcpListener {
    async fn next(&self) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

#[cfg(unix)]
impl Accept for UnixListener {
    async fn next(&self) -> io::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
        Ok(self.accept().await?.0)
    }
}

struct Clients {
    bridge: Bridge,
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
}

impl Clients {
    async fn accept(self, listener: impl Accept) {
        let mut connections = JoinSet::new();
        loop {
            // The permit comes first: clients over the limit wait in the backlog, unread.
            let Ok(permit) = self.permits.clone().acquire_owned().await else {
                return;
            };
            let stream = match listener.next().await {
                Ok(stream) => stream,
                Err(error) => {
                    // Out of file descriptors, or a client that left already: neither ends the port.
                    tracing::warn!(%error, "cannot accept a local client");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            while connections.try_join_next().is_some() {}
            let (bridge, open) = (self.bridge.clone(), Open::new(self.shared.clone()));
            connections.spawn(async move {
                let result = bridge.serve(stream).await;
                drop(permit);
                open.close(result);
            });
        }
    }
}

/// Counts one open connection, also if its task is aborted.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: Arc<Shared>) -> Self {
        shared.open.send_modify(|open| *open += 1);
        Self(shared)
    }

    fn close(self, result: Result<(), Error>) {
        if let Err(error) = result {
            tracing::warn!(%error, "connection failed");
            *self.0.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

/// Removes the socket file when the listener goes.
#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(unix)]
fn bind_unix(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;

    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        crate::store::create_private_directory(parent)?;
    }
    // A socket that nobody answers is what a killed process left behind; anything else is not ours to remove.
    if fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket()) && UnixStream::connect(path).is_err() {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    let socket = SocketFile(path.to_owned());
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok((listener, socket))
}
