//! Child processes that end with the test.

use std::{
    ffi::OsStr,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

/// A running program, killed on drop; its output goes to a log file.
pub struct Peer {
    child: Child,
    log: PathBuf,
}

impl Peer {
    /// Starts `program` with its output in `log`.
    pub fn start<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
        log: &Path,
    ) -> Result<Self> {
        let program = program.as_ref();
        let file = std::fs::File::create(log)?;
        let child = Command::new(program)
            .args(arguments)
            .env("PATH", path())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} does not start; `cargo xtask setup` installs it", program.display()))?;
        Ok(Self {
            child,
            log: log.to_owned(),
        })
    }

    /// Waits until something listens on `address`, and fails with the log if the program ends before.
    pub async fn listens_on(&mut self, address: SocketAddr) -> Result<()> {
        let end = Instant::now() + START;
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("ended with {status} before it listened on {address}:\n{}", self.log());
            }
            ensure!(Instant::now() < end, "does not listen on {address}:\n{}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Waits until `text` stands in the log.
    pub async fn logs(&mut self, text: &str) -> Result<()> {
        let end = Instant::now() + START;
        while !self.log().contains(text) {
            ensure!(Instant::now() < end, "never logged {text:?}:\n{}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// What the program printed so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends the program at once, as a crash would.
    pub async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Asks the program to stop and waits for it.
    pub async fn terminate(&mut self) -> Result<std::process::ExitStatus> {
        if let Some(id) = self.child.id() {
            Command::new("kill").arg(id.to_string()).status().await?;
        }
        Ok(timeout(START, self.child.wait())
            .await
            .context("does not stop on SIGTERM")??)
    }
}

/// Runs `program` to its end, or fails after ten seconds.
pub async fn output<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Result<Output> {
    let program = program.as_ref();
    let run = Command::new(program)
        .args(arguments)
        .env("PATH", path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    timeout(START, run)
        .await
        .with_context(|| format!("{} does not end", program.display()))?
        .with_context(|| format!("{} does not start; `cargo xtask setup` installs it", program.display()))
}

/// The path of a binary of this workspace: where `KEMQTT_TEST_BINARIES` says, or built here unless it is up to date.
pub fn binary(package: &str, name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(BINARIES) {
        return Ok(PathBuf::from(folder).join(name));
    }
    let build = escargot::CargoBuild::new()
        .package(package)
        .bin(name)
        .current_target()
        .current_release();
    let build = build.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"));
    Ok(build
        .run()
        .with_context(|| format!("{name} does not build"))?
        .path()
        .to_owned())
}

/// Names the folder of the binaries that a run of all tests has built already. A second build, of one package alone,
/// would take other features of the dependencies and compile most of them again.
const BINARIES: &str = "KEMQTT_TEST_BINARIES";

/// A TCP port on the loopback interface that was free a moment ago.
pub fn free_address() -> Result<SocketAddr> {
    Ok(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Debian keeps servers in /usr/sbin, which is not on everybody's PATH.
fn path() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin"
}

/// Generous: the machines that run these tests are small and busy.
const START: Duration = Duration::from_secs(30);
