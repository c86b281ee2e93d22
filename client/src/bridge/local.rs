//! The port that a client library in this process uses: a Unix socket, or loopback TCP behind a token.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Bridge, Endpoint, Listener};
use crate::error::Error;

/// A [`Listener`] that only this program can use.
#[derive(Debug)]
pub struct LocalPort {
    listener: Listener,
    /// Loopback only: what a CONNECT's user name has to begin with.
    token: Option<String>,
    _directory: Option<PrivateDirectory>,
}

impl LocalPort {
    /// A Unix socket in a directory of mode 0700; on systems without, [`LocalPort::open_loopback`].
    ///
    /// # Errors
    /// [`Error::Network`] if the system gives no socket, [`Error::Random`].
    pub async fn open(bridge: Bridge) -> Result<Self, Error> {
        #[cfg(unix)]
        {
            let directory = PrivateDirectory::create()?;
            let endpoint = Endpoint::Unix(directory.0.join("mqtt"));
            let listener = bridge.listen(&endpoint).await?;
            Ok(Self {
                listener,
                token: None,
                _directory: Some(directory),
            })
        }
        #[cfg(not(unix))]
        Self::open_loopback(bridge).await
    }

    /// A free port of 127.0.0.1. Any program of this machine can connect, so that a CONNECT counts only if its user name
    /// begins with a random token; the token does not reach the broker.
    ///
    /// # Errors
    /// [`Error::Network`] if the system gives no port, [`Error::Random`].
    pub async fn open_loopback(bridge: Bridge) -> Result<Self, Error> {
        let token = random_name()?;
        let endpoint = Endpoint::Tcp {
            host: "127.0.0.1".into(),
            port: 0,
        };
        let listener = bridge.require_token(&token).listen(&endpoint).await?;
        Ok(Self {
            listener,
            token: Some(token),
            _directory: None,
        })
    }

    /// The port itself.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Host (or socket path) and port for a client library.
    pub fn address(&self) -> (String, u16) {
        match self.listener.endpoint() {
            Endpoint::Tcp { host, port } => (host.clone(), *port),
            Endpoint::Unix(path) => (path.to_string_lossy().into_owned(), 0),
        }
    }

    /// Whether it is a Unix socket.
    pub fn is_unix(&self) -> bool {
        matches!(self.listener.endpoint(), Endpoint::Unix(_))
    }

    /// The user name of a client that has no login at the broker; `None` if none is needed.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The user name of a client that logs in at the broker as `user`.
    pub fn user_name(&self, user: &str) -> String {
        match &self.token {
            Some(token) => format!("{token}:{user}"),
            None => user.to_owned(),
        }
    }
}

/// A fresh directory of mode 0700 for one socket; removed on drop.
#[cfg(unix)]
#[derive(Debug)]
struct PrivateDirectory(PathBuf);

#[cfg(not(unix))]
#[derive(Debug)]
struct PrivateDirectory(std::convert::Infallible);

#[cfg(unix)]
impl PrivateDirectory {
    fn create() -> Result<Self, Error> {
        use std::os::unix::fs::DirBuilderExt;

        // The user's own run-time directory if there is one; socket paths must stay below 108 bytes.
        let base = std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|p| p.is_dir());
        let path = base
            .unwrap_or_else(std::env::temp_dir)
            .join(format!("kemqtt-{}", &random_name()?[..16]));
        // Not recursive: an existing directory, whoever made it, is an error.
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(source) => Err(Error::Network {
                what: format!("cannot create {}", path.display()),
                source,
            }),
        }
    }
}

#[cfg(unix)]
impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // The listener, which is dropped first, removed the socket.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// 128 random bits in hexadecimal.
fn random_name() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    }))
}
