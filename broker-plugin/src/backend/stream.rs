//! Brokers behind a socket: one connection per client.

use std::{io, path::PathBuf};

use async_trait::async_trait;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpStream, UnixStream},
};

use super::{BoxedStream, Connector, Duplex, Origin, proxy};

/// Where the broker is.
#[derive(Clone)]
enum Place {
    Tcp(String),
    Unix(PathBuf),
}

/// A broker behind a socket.
#[derive(Clone)]
pub(super) struct Socket {
    place: Place,
    /// Whether it wants a PROXY header.
    pub(super) proxy: bool,
}

impl Socket {
    pub(super) const fn tcp(address: String) -> Self {
        Self {
            place: Place::Tcp(address),
            proxy: false,
        }
    }

    pub(super) const fn unix(path: PathBuf) -> Self {
        Self {
            place: Place::Unix(path),
            proxy: false,
        }
    }

    async fn greet<S: Duplex>(&self, mut stream: S, origin: Origin) -> io::Result<BoxedStream> {
        if self.proxy {
            stream.write_all(&proxy::header(origin.client, origin.listener)).await?;
        }
        Ok(Box::new(stream))
    }
}

#[async_trait]
impl Connector for Socket {
    async fn connect(&self, origin: Origin) -> io::Result<BoxedStream> {
        match &self.place {
            Place::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                self.greet(stream, origin).await
            }
            Place::Unix(path) => self.greet(UnixStream::connect(path).await?, origin).await,
        }
    }
}
