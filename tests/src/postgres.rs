//! A PostgreSQL server of its own, on a Unix socket in a temporary folder.

use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::process::{Peer, recipe};

/// A running server; killed on drop.
pub struct Postgres {
    peer: Peer,
    folder: TempDir,
}

impl Postgres {
    /// Makes an empty database and starts the server (`recipes/postgres.sh`).
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let peer = serve(folder.path()).await?;
        Ok(Self { peer, folder })
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!(
            "postgres://kemqtt@localhost/postgres?host={}",
            self.folder.path().display()
        )
    }

    /// Ends the server at once, as a crash would.
    pub async fn kill(&mut self) -> Result<()> {
        self.peer.kill().await
    }

    /// Starts it again with its data.
    pub async fn restart(&mut self) -> Result<()> {
        self.peer = serve(self.folder.path()).await?;
        Ok(())
    }
}

async fn serve(folder: &Path) -> Result<Peer> {
    let log = folder.with_extension("postgres.log");
    let mut peer = Peer::start(recipe("postgres.sh"), [folder.as_os_str()], &log)?;
    peer.logs("ready to accept connections").await.context("PostgreSQL")?;
    // Its file is open already; the folder of the server is no place for it, since that belongs to another user.
    std::fs::remove_file(&log)?;
    Ok(peer)
}
