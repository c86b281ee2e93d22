//! Mosquitto as a back end, and its command-line clients as stock clients.

use std::{fmt::Write, net::SocketAddr, path::PathBuf, process::Output};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::process::{Peer, free_address, output};

/// A Mosquitto broker with a configuration of its own.
pub struct Mosquitto {
    /// The process; `kill` it to see what a client sees.
    pub peer: Peer,
    address: SocketAddr,
    folder: TempDir,
}

impl Mosquitto {
    /// Starts an open broker on a free port.
    pub async fn start() -> Result<Self> {
        Self::start_with("allow_anonymous true\n").await
    }

    /// Starts a broker with these lines behind the listener.
    pub async fn start_with(lines: &str) -> Result<Self> {
        Self::start_quiet(&format!("log_type all\n{lines}")).await
    }

    /// As [`Mosquitto::start_with`], but it logs errors only.
    pub async fn start_quiet(lines: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let mut config = format!(
            "listener {} 127.0.0.1\nsocket_domain ipv4\npersistence false\nlog_type error\n",
            address.port()
        );
        config.write_str(lines)?;
        let file = folder.path().join("mosquitto.conf");
        std::fs::write(&file, config)?;
        let mut peer = Peer::start_unlimited(
            "mosquitto",
            ["-c".as_ref(), file.as_os_str()],
            &folder.path().join("log"),
        )?;
        peer.listens_on(address).await.context("mosquitto")?;
        Ok(Self { peer, address, folder })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A place for files that ends with the broker.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

/// `mosquitto_pub` to a TCP address; `arguments` as on its command line, separated by spaces.
pub async fn mosquitto_pub(address: SocketAddr, arguments: &str) -> Result<Output> {
    client("mosquitto_pub", address, arguments).await
}

/// `mosquitto_sub` to a TCP address; `arguments` as on its command line, separated by spaces.
pub async fn mosquitto_sub(address: SocketAddr, arguments: &str) -> Result<Output> {
    client("mosquitto_sub", address, arguments).await
}

async fn client(program: &str, address: SocketAddr, arguments: &str) -> Result<Output> {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let arguments = ["-h", &host, "-p", &port].into_iter().chain(arguments.split(' '));
    output(program, arguments).await
}
