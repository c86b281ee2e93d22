//! Child processes that end with the test.

use std::{
    ffi::{OsStr, OsString},
    net::{Ipv4Addr, SocketAddr},
    ops::Range,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
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

    /// As [`Peer::start`], with as many open files as the system allows, and ready for [`Peer::fill_disk`].
    pub fn start_unlimited<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
        log: &Path,
    ) -> Result<Self> {
        let raised = ["-c", "trap '' XFSZ; ulimit -n $(ulimit -Hn); exec \"$@\"", "sh"].map(OsString::from);
        let program = [program.as_ref().to_owned()];
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        Self::start("sh", raised.into_iter().chain(program).chain(arguments), log)
    }

    /// The process id.
    pub fn id(&self) -> Result<u32> {
        self.child.id().context("has ended")
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
        self.logs_within(text, START).await
    }

    /// Waits for `text` at most this long; fails at once if the program ends.
    pub async fn logs_within(&mut self, text: &str, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while !self.log().contains(text) {
            if let Some(status) = self.child.try_wait()? {
                bail!("ended with {status} before it logged {text:?}:\n{}", self.log());
            }
            ensure!(Instant::now() < end, "never logged {text:?}:\n{}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// What the program printed so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> Result<u64> {
        let id = self.id()?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line.context("no VmRSS")?.trim().trim_end_matches(" kB").parse()?;
        Ok(kib << 10)
    }

    /// Open file descriptors.
    pub fn descriptors(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.id()?))?.count())
    }

    /// From now on nothing that it writes to a file finds room, as on a full disk.
    pub async fn fill_disk(&self) -> Result<()> {
        self.limit_files("0").await
    }

    /// There is room again.
    pub async fn free_disk(&self) -> Result<()> {
        self.limit_files("unlimited").await
    }

    async fn limit_files(&self, bytes: &str) -> Result<()> {
        let (id, limit) = (self.id()?.to_string(), format!("--fsize={bytes}:"));
        let set = Command::new("prlimit").args(["--pid", &id, &limit]).status().await?;
        ensure!(set.success(), "cannot set the limit");
        Ok(())
    }

    /// Sends a signal by its name, such as `HUP`.
    pub async fn signal(&self, name: &str) -> Result<()> {
        let id = self.id()?.to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await?;
        ensure!(sent.success(), "cannot send {name}");
        Ok(())
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
        self.ended().await
    }

    /// Waits for the end of a program that was asked to stop.
    pub async fn ended(&mut self) -> Result<std::process::ExitStatus> {
        let ended = timeout(START, self.child.wait()).await;
        Ok(ended.with_context(|| format!("does not stop:\n{}", self.log()))??)
    }
}

/// Runs `program` to its end, or fails after half a minute.
pub async fn output<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Result<Output> {
    output_within(program, arguments, START).await
}

/// Runs `program` to its end, or fails after this time.
pub async fn output_within<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
    time: Duration,
) -> Result<Output> {
    let program = program.as_ref();
    let run = Command::new(program)
        .args(arguments)
        .env("PATH", path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    timeout(time, run)
        .await
        .with_context(|| format!("{} does not end", program.display()))?
        .with_context(|| format!("{} does not start; `cargo xtask setup` installs it", program.display()))
}

/// The path of a binary of this workspace: where `KEMQTT_TEST_BINARIES` says, or built here unless it is up to date.
pub fn binary(package: &str, name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(BINARIES) {
        return Ok(PathBuf::from(folder).join(name));
    }
    build(escargot::CargoBuild::new().package(package).bin(name))
}

/// The path of an example, found or built as [`binary`] does.
pub fn example(name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(BINARIES) {
        return Ok(PathBuf::from(folder).join("examples").join(name));
    }
    build(escargot::CargoBuild::new().package("kemqtt-examples").example(name))
}

fn build(build: escargot::CargoBuild) -> Result<PathBuf> {
    let build = build.current_target().current_release();
    let build = build.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"));
    let run = build.run().context("a program under test does not build")?;
    Ok(run.path().to_owned())
}

/// A script that starts a peer.
pub(crate) fn recipe(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/recipes")).join(name)
}

/// Names the folder of the binaries that a run of all tests has built already. A second build, of one package alone,
/// would take other features of the dependencies and compile most of them again.
const BINARIES: &str = "KEMQTT_TEST_BINARIES";

/// A TCP port on the loopback interface that is free, and that nobody else is given: it lies below those that the system hands
/// out, so it also stays free while a program is started again.
pub fn free_address() -> Result<SocketAddr> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Programs of an earlier test may take a moment to go.
    let first = std::process::id().wrapping_mul(97);
    for _ in PORTS {
        let offset = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS.len() as u32;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORTS.start + offset as u16));
        if std::net::TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no free port in {PORTS:?}")
}

/// Debian keeps servers in /usr/sbin, which is not on everybody's PATH.
fn path() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin"
}

const PORTS: Range<u16> = 20_000..30_000;

/// Generous: the machines that run these tests are small and busy.
const START: Duration = Duration::from_secs(30);
