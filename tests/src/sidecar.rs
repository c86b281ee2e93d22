//! `kemqtt bridge` as a process, between stock clients and a front.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use tempfile::TempDir;

use crate::process::{Peer, binary, free_address};

/// Key files of one device, as `kemqtt-broker` hands them out.
pub struct KeyFiles {
    pub(crate) folder: TempDir,
}

impl KeyFiles {
    /// The broker key to pin.
    pub fn pin(&self) -> PathBuf {
        self.folder.path().join("broker.pin")
    }

    /// The device's credential.
    pub fn credential(&self) -> PathBuf {
        self.folder.path().join("credential.key")
    }
}

/// A running `kemqtt bridge`.
pub struct Sidecar {
    peer: Peer,
    address: SocketAddr,
}

impl Sidecar {
    /// Starts the sidecar before the broker at `broker`, with a listener on a free port.
    pub async fn start(broker: &str, keys: &KeyFiles) -> Result<Self> {
        let address = free_address()?;
        let (listen, pin, credential) = (format!("tcp:{address}"), keys.pin(), keys.credential());
        let arguments = [
            "bridge".as_ref(),
            "--listen".as_ref(),
            listen.as_ref(),
            "--broker".as_ref(),
            broker.as_ref(),
            "--pin".as_ref(),
            pin.as_os_str(),
            "--credential".as_ref(),
            credential.as_os_str(),
        ];
        let log = keys.folder.path().join("bridge.log");
        let mut peer = Peer::start(binary("kemqtt-client", "kemqtt")?, arguments, &log)?;
        peer.logs("plain MQTT on").await?;
        Ok(Self { peer, address })
    }

    /// Where stock clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it printed so far.
    pub fn log(&self) -> String {
        self.peer.log()
    }
}
