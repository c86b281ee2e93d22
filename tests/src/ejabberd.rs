//! An ejabberd node with mod_mqtt on loopback.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::process::{Peer, free_address, recipe};

/// A running node; killed on drop.
pub struct Ejabberd {
    peer: Peer,
    address: SocketAddr,
    _folder: TempDir,
}

impl Ejabberd {
    /// Starts a node (`recipes/ejabberd.sh`) whose users are `users`, all with this password.
    pub async fn start(users: &[&str], password: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let (place, port) = (folder.path().display().to_string(), address.port().to_string());
        let arguments = [&place, &port, password];
        let log = folder.path().join("out");
        let mut peer = Peer::start(recipe("ejabberd.sh"), arguments.iter().chain(users), &log)?;
        peer.logs("all users registered").await.context("ejabberd")?;
        peer.listens_on(address).await.context("ejabberd")?;
        Ok(Self {
            peer,
            address,
            _folder: folder,
        })
    }

    /// Its MQTT listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.peer.log()
    }
}
