//! Mosquitto as a back end, and its command-line clients as stock clients.

use std::{
    fmt::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Output,
};

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
        let lines = format!("persistence false\nlog_type error\n{lines}");
        Self::start_in(folder, &lines).await
    }

    /// An open broker that keeps its sessions in its folder when it is asked to stop.
    pub async fn start_lasting() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // As root it would become a user that cannot write there.
        let lines = format!(
            "user root\npersistence true\npersistence_location {}/\nallow_anonymous true\nlog_type all\n",
            folder.path().display()
        );
        Self::start_in(folder, &lines).await
    }

    /// Starts it again, on the same port and in the same folder.
    pub async fn restart(&mut self) -> Result<()> {
        self.peer = serve(self.folder.path(), self.address).await?;
        Ok(())
    }

    async fn start_in(folder: TempDir, lines: &str) -> Result<Self> {
        let address = free_address()?;
        let mut config = format!("listener {} 127.0.0.1\nsocket_domain ipv4\n", address.port());
        config.write_str(lines)?;
        std::fs::write(folder.path().join(CONFIG), config)?;
        let peer = serve(folder.path(), address).await?;
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

async fn serve(folder: &Path, address: SocketAddr) -> Result<Peer> {
    let file = folder.join(CONFIG);
    let arguments = ["-c".as_ref(), file.as_os_str()];
    let mut peer = Peer::start_unlimited("mosquitto", arguments, &folder.join("log"))?;
    peer.listens_on(address).await.context("mosquitto")?;
    Ok(peer)
}

/// `mosquitto_pub` to a TCP address; `arguments` as on its command line, separated by spaces.
pub async fn mosquitto_pub(address: SocketAddr, arguments: &str) -> Result<Output> {
    client("mosquitto_pub", address, arguments).await
}

/// `mosquitto_sub` to a TCP address; `arguments` as on its command line, separated by spaces.
pub async fn mosquitto_sub(address: SocketAddr, arguments: &str) -> Result<Output> {
    client("mosquitto_sub", address, arguments).await
}

const CONFIG: &str = "mosquitto.conf";

async fn client(program: &str, address: SocketAddr, arguments: &str) -> Result<Output> {
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let arguments = ["-h", &host, "-p", &port].into_iter().chain(arguments.split(' '));
    output(program, arguments).await
}
