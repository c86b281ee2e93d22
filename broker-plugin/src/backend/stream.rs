//! Brokers behind a socket: one connection per client.

use std::{io, net::SocketAddr, path::PathBuf};

use async_trait::async_trait;
use tokio::net::{TcpStream, UnixStream};

use super::{BoxedStream, Connector};

/// A broker at a TCP address.
pub(super) struct Tcp {
    address: String,
}

impl Tcp {
    pub(super) const fn new(address: String) -> Self {
        Self { address }
    }
}

#[async_trait]
impl Connector for Tcp {
    async fn connect(&self, _client: SocketAddr) -> io::Result<BoxedStream> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

/// A broker behind a Unix socket.
pub(super) struct Unix {
    path: PathBuf,
}

impl Unix {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

#[async_trait]
impl Connector for Unix {
    async fn connect(&self, _client: SocketAddr) -> io::Result<BoxedStream> {
        Ok(Box::new(UnixStream::connect(&self.path).await?))
    }
}
