//! `kemqtt-broker` as a process.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kemqtt_client::{Config, Credential, Pins};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep},
};

use crate::process::{Peer, binary, free_address, output};

/// A running gateway.
pub struct Gateway {
    /// The process.
    pub peer: Peer,
    address: SocketAddr,
    admin: SocketAddr,
}

impl Gateway {
    /// `kemqtt-broker run` with these arguments, and a free port for its listener and its admin page each.
    pub async fn start(log: &Path, arguments: &[&str]) -> Result<Self> {
        let (address, admin) = (free_address()?, free_address()?);
        let (listen, metrics) = (address.to_string(), admin.to_string());
        let own = ["run", "--listen", &listen, "--metrics", &metrics];
        let mut peer = Peer::start_unlimited(
            binary("kemqtt-broker", "kemqtt-broker")?,
            own.iter().chain(arguments),
            log,
        )?;
        peer.listens_on(admin).await?;
        peer.listens_on(address).await?;
        Ok(Self { peer, address, admin })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the operator looks.
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// Sum of all series of a metric whose text contains `part`.
    pub async fn metric(&self, part: &str) -> Result<f64> {
        self.sum(|line| line.contains(part)).await
    }

    /// Handshakes that finished in this mode.
    pub async fn handshakes(&self, mode: u8) -> Result<f64> {
        let mode = format!("mode=\"{mode}\"");
        self.sum(|line| line.starts_with("kemqtt_handshakes_total{") && line.contains(&mode))
            .await
    }

    /// Waits until so many have: a client knows of its own before it is counted.
    pub async fn finishes(&self, mode: u8, count: f64) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.handshakes(mode).await? < count {
            ensure!(Instant::now() < end, "mode {mode}, not {count}:\n{}", self.peer.log());
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn sum(&self, counts: impl Fn(&str) -> bool) -> Result<f64> {
        let (_, text) = get(self.admin, "/metrics").await?;
        let series = text.lines().filter(|line| !line.starts_with('#') && counts(line));
        Ok(series
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum())
    }

    /// Resident memory of the process in bytes.
    pub fn resident(&self) -> Result<u64> {
        self.peer.resident()
    }

    /// Waits until [`Gateway::metric`] of `part` is at least `value`.
    pub async fn reaches(&self, part: &str, value: f64) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let now = self.metric(part).await?;
            if now >= value {
                return Ok(());
            }
            ensure!(Instant::now() < end, "{part} stays at {now}:\n{}", self.peer.log());
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Status line and body of an HTTP page.
pub async fn get(address: SocketAddr, path: &str) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

/// A realm on disk or in PostgreSQL, kept by the commands of `kemqtt-broker`.
pub struct Office {
    folder: tempfile::TempDir,
    registry: String,
    pin: String,
}

impl Office {
    /// `init` of a registry in a file of a temporary folder, or at `url`.
    pub async fn open(url: Option<String>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let registry = url.unwrap_or_else(|| folder.path().join("kemqtt.db").display().to_string());
        let mut office = Self {
            folder,
            registry,
            pin: String::new(),
        };
        let printed = office.run(&["init"]).await?;
        let pin = printed.lines().find(|line| line.starts_with("hkm1-broker "));
        office.pin = pin.context("no pin")?.to_owned();
        Ok(office)
    }

    /// Runs a command and gives what it printed.
    pub async fn run(&self, arguments: &[&str]) -> Result<String> {
        let own = self.arguments();
        let all = arguments.iter().copied().chain(own.iter().map(String::as_str));
        let run = output(binary("kemqtt-broker", "kemqtt-broker")?, all).await?;
        ensure!(
            run.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        Ok(String::from_utf8(run.stdout)?)
    }

    /// Where registry and key file are.
    pub fn arguments(&self) -> [String; 4] {
        let key = self.folder.path().join("seal.key").display().to_string();
        ["--registry".into(), self.registry.clone(), "--seal-key".into(), key]
    }

    /// A file in the realm's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Enrols a device with a pre-shared key and returns its client's settings.
    pub async fn device(&self, id: &str) -> Result<Config> {
        let printed = self.run(&["enroll", id]).await?;
        let line = printed.lines().find(|line| line.starts_with("hkm1-psk "));
        let line = line.context("no credential")?;
        std::fs::write(self.file(id), line)?;
        self.again(id)
    }

    /// The settings of a device that is enrolled already.
    pub fn again(&self, id: &str) -> Result<Config> {
        let credential = Credential::from_text(&std::fs::read_to_string(self.file(id))?)?;
        Ok(Config::new(Pins::from_text(&self.pin)?, credential))
    }

    /// Starts a gateway of this realm.
    pub async fn gateway(&self, name: &str, arguments: &[&str]) -> Result<Gateway> {
        let own = self.arguments();
        let all: Vec<&str> = own
            .iter()
            .map(String::as_str)
            .chain(arguments.iter().copied())
            .collect();
        Gateway::start(&self.file(&format!("{name}.log")), &all).await
    }
}

const PATIENCE: Duration = Duration::from_secs(30);
