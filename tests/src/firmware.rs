//! Sensor nodes: the real firmware image in a simulator, enrolled at the real broker.

mod events;
mod proxy;
pub mod scenarios;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use tokio::{process::Command, time::timeout};

pub use events::{Events, mark};
pub use proxy::{Fault, Proxy};

use crate::{Peer, binary, free_address, output};

/// An image, and what its device needs.
#[derive(Clone, Copy)]
pub struct Image {
    /// As `cargo xtask firmware` names it.
    pub name: &'static str,
    /// The suite's name.
    pub suite: &'static str,
    /// The broker key it is built for, as `kemqtt-broker init` takes it.
    pub broker_key: &'static str,
    /// Bytes of its non-volatile memory.
    pub nv_len: u16,
}

/// A realm on disk with one enrolled node.
pub struct Field {
    folder: tempfile::TempDir,
    image: PathBuf,
    simulator: PathBuf,
    broker: PathBuf,
    client: PathBuf,
    address: SocketAddr,
    nv_len: u16,
    suite: &'static str,
}

impl Field {
    /// Makes keys, and enrols and provisions a node named `node`.
    pub async fn new(image: Image) -> Result<Self> {
        let this = Self::bare(image)?;
        let lines = this.broker(&["init", "--key", image.broker_key]).await?;
        let pin = lines.lines().find(|line| line.starts_with("hkm1-broker "));
        std::fs::write(this.file("broker.pin"), pin.context("init prints a key")?)?;
        this.enrol("node").await?;
        this.provision("node", None).await?;
        Ok(this)
    }

    /// A node of a broker in this process: `pin` and `credential` are lines as the broker's command line prints them.
    pub async fn of_broker(image: Image, address: SocketAddr, pin: &str, credential: &str) -> Result<Self> {
        let this = Self {
            address,
            ..Self::bare(image)?
        };
        std::fs::write(this.file("broker.pin"), pin)?;
        std::fs::write(this.file("node"), credential)?;
        this.provision("node", None).await?;
        Ok(this)
    }

    /// Enrols another device with a key of its own.
    pub async fn enrol(&self, id: &str) -> Result<()> {
        let credential = self.file(id);
        self.broker(&["enroll", id, "--out", &credential]).await?;
        Ok(())
    }

    /// Enrols another device with a key pair of its own.
    pub async fn enrol_with_key_pair(&self, id: &str) -> Result<()> {
        let (credential, public) = (self.file(id), self.file("public"));
        let words = [
            "keygen",
            "device",
            "--id",
            id,
            "--suite",
            self.suite,
            "--out",
            &credential,
        ];
        let line = succeeded(output(&self.client, words).await?)?;
        std::fs::write(&public, line)?;
        self.broker(&["enroll", id, "--device-key", &public]).await?;
        Ok(())
    }

    /// Gives the node a fresh memory with the credential of that device, and with this seed instead of a random one.
    pub async fn provision(&self, id: &str, seed: Option<&str>) -> Result<()> {
        let (nv, pin, credential, size) = (
            self.file("node.nv"),
            self.file("broker.pin"),
            self.file(id),
            self.nv_len.to_string(),
        );
        let mut words = vec![
            "provision",
            "--nv",
            &nv,
            "--pin",
            &pin,
            "--credential",
            &credential,
            "--size",
            &size,
        ];
        words.extend(seed.iter().flat_map(|seed| ["--seed", seed]));
        succeeded(output(&self.simulator, words).await?).map(drop)
    }

    /// Starts the broker with its embedded rumqttd, always on the same address.
    pub async fn start_broker(&self) -> Result<Peer> {
        let listen = self.address.to_string();
        let mut words = vec!["run", "--listen", &listen, "--allow-anonymous"];
        let files = self.files();
        words.extend(files.iter().map(String::as_str));
        let mut peer = Peer::start(&self.broker, words, Path::new(&self.file("broker.log")))?;
        peer.listens_on(self.address).await?;
        Ok(peer)
    }

    /// Makes the announced successor of the broker key current, or with `retire` forgets the one before.
    pub async fn rotate_key(&self, retire: bool) -> Result<()> {
        let words: &[&str] = if retire {
            &["rotate-key", "--retire"]
        } else {
            &["rotate-key"]
        };
        self.broker(words).await.map(drop)
    }

    /// Where the broker listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts a desktop client that prints the first `count` readings of all nodes.
    pub async fn subscriber(&self, count: u32) -> Result<Peer> {
        let (broker, pin, count) = (self.address.to_string(), self.file("broker.pin"), count.to_string());
        let words = ["sub", "-t", "sensors/#", "-q", "1", "-v", "-C", &count, "--anonymous"];
        let keys = ["--broker", &broker, "--pin", &pin];
        let words = words.into_iter().chain(keys);
        Peer::start(&self.client, words, Path::new(&self.file("subscriber.log")))
    }

    /// Runs the node to an end given by `words`, and gives its events.
    pub async fn node(&self, words: &[&str]) -> Result<Events> {
        self.node_at(self.address, words).await
    }

    /// The same, with the broker at another address.
    pub async fn node_at(&self, broker: SocketAddr, words: &[&str]) -> Result<Events> {
        let mut command = self.node_command(broker, words);
        // An EEPROM's time is the subject of nodes that run for long.
        command.arg("--hurry-nv");
        let run = command.kill_on_drop(true).output();
        let output = timeout(RUN, run).await.context("the node does not end")??;
        let events = Events::parse(&output.stdout)?;
        ensure!(
            output.status.success(),
            "the node ended with {}: {}\n{events:?}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(events)
    }

    /// Starts the node and lets it run.
    pub fn start_node(&self, words: &[&str]) -> Result<Peer> {
        let command = self.node_command(self.address, words);
        let words = command.as_std().get_args();
        Peer::start(&self.simulator, words, Path::new(&self.file("node.log")))
    }

    /// The node's memory as it is now.
    pub fn memory(&self) -> Result<Vec<u8>> {
        Ok(std::fs::read(self.file("node.nv"))?)
    }

    fn node_command(&self, broker: SocketAddr, words: &[&str]) -> Command {
        let mut command = Command::new(&self.simulator);
        command.args(["node", "--broker", &broker.to_string(), "--nv", &self.file("node.nv")]);
        // Its time-outs are long for a test; the broker answers in milliseconds.
        command
            .args(["--max-seconds", "300", "--idle-speed", "5"])
            .args(words)
            .arg(&self.image);
        command.stdin(Stdio::null());
        command
    }

    /// An empty folder, and the programs.
    fn bare(image: Image) -> Result<Self> {
        let folder = tools(image.name)?;
        Ok(Self {
            folder: tempfile::tempdir()?,
            image: folder.join(image.name).with_extension("elf"),
            simulator: folder.join("kemqtt-sim"),
            broker: binary("kemqtt-broker", "kemqtt-broker")?,
            client: binary("kemqtt-client", "kemqtt")?,
            address: free_address()?,
            nv_len: image.nv_len,
            suite: image.suite,
        })
    }

    async fn broker(&self, words: &[&str]) -> Result<String> {
        let files = self.files();
        let words = words.iter().copied().chain(files.iter().map(String::as_str));
        succeeded(output(&self.broker, words).await?)
    }

    fn files(&self) -> [String; 4] {
        let (registry, key) = (self.file("registry.db"), self.file("seal.key"));
        ["--registry".into(), registry, "--seal-key".into(), key]
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

fn succeeded(output: std::process::Output) -> Result<String> {
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The folder with the simulator and the images: where `KEMQTT_FIRMWARE` says, or built here once.
fn tools(image: &str) -> Result<PathBuf> {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if let Some(folder) = std::env::var_os("KEMQTT_FIRMWARE") {
        return Ok(folder.into());
    }
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.contains(image) {
        build(image)?;
        built.insert(image.to_owned());
    }
    Ok(root().join("target/firmware"))
}

fn build(image: &str) -> Result<()> {
    let status = std::process::Command::new(env!("CARGO"))
        .args(["xtask", "firmware", "--no-self-test", "--only", image])
        .current_dir(root())
        .status()?;
    ensure!(status.success(), "the image {image} does not build");
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// For one run of a node; the machines that run these tests are small and busy.
const RUN: Duration = Duration::from_secs(120);
