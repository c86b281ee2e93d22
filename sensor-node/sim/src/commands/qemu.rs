//! A node's image on QEMU's mps2-an386 against a broker: another implementation of the core than our cycle model, without cycles.

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use kemqtt_sim::{link::Bridge, node::Event};

#[derive(Args)]
pub(crate) struct Options {
    /// The Cortex-M4 image, built without the feature board-l4r5.
    elf: PathBuf,
    /// Where the broker listens.
    #[arg(long, default_value = "127.0.0.1:1884")]
    broker: SocketAddr,
    /// The non-volatile memory at the start; what the node writes is lost at the end.
    #[arg(long, value_name = "FILE")]
    nv: PathBuf,
    /// Stop after a log line that starts with this; without it when the firmware ends.
    #[arg(long, value_name = "TEXT")]
    until: Option<String>,
    /// How many such lines.
    #[arg(long, default_value_t = 1, requires = "until")]
    times: u32,
    /// Give up after that many seconds.
    #[arg(long, default_value_t = 60)]
    max_seconds: u64,
}

impl Options {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let mut board = Board::start(&self)?;
        let mut bridge = Bridge::new(self.broker);
        let end = Instant::now() + Duration::from_secs(self.max_seconds);
        let mut lines = 0;
        while Instant::now() < end {
            let mut to_node = bridge.to_node();
            let sent = match board.sent.recv_timeout(SLICE) {
                Ok(bytes) => bytes,
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                // The firmware has ended the run.
                Err(RecvTimeoutError::Disconnected) => {
                    let status = board.qemu.wait()?;
                    let code = status.code().and_then(|code| u8::try_from(code).ok());
                    return Ok(ExitCode::from(code.unwrap_or(u8::MAX)));
                }
            };
            for said in bridge.from_node(&sent, &mut to_node) {
                let event = Event::from(said);
                println!("{}", serde_json::to_string(&event)?);
                if let (Event::Log { text }, Some(wanted)) = (&event, &self.until) {
                    lines += u32::from(text.starts_with(wanted.as_str()));
                }
            }
            if self.until.is_some() && lines >= self.times {
                return Ok(ExitCode::SUCCESS);
            }
            board.receive(&to_node)?;
        }
        bail!("nothing of the kind in {} s", self.max_seconds);
    }
}

/// QEMU with the board's UART on its standard input and output.
struct Board {
    qemu: Child,
    sent: Receiver<Vec<u8>>,
}

impl Board {
    fn start(options: &Options) -> Result<Self> {
        let memory = format!("loader,file={},addr={NV_AT:#x},force-raw=on", options.nv.display());
        let mut qemu = Command::new("qemu-system-arm")
            .args(["-machine", "mps2-an386", "-display", "none", "-monitor", "none"])
            .args(["-serial", "stdio", "-semihosting-config", "enable=on,target=native"])
            .args(["-device", &memory, "-kernel"])
            .arg(&options.elf)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("qemu-system-arm does not start (Debian package qemu-system-arm)")?;
        let mut output = qemu.stdout.take().context("QEMU has an output")?;
        let (bytes, sent) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(len @ 1..) = output.read(&mut buffer) {
                if bytes.send(buffer[..len].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { qemu, sent })
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.qemu.stdin.as_mut().context("QEMU has an input")?;
        match input.write_all(bytes).and_then(|()| input.flush()) {
            // It has ended; its output tells how.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// Where `memory/mps2-an386.x` has the non-volatile memory.
const NV_AT: u32 = 0x2001_0000;
const SLICE: Duration = Duration::from_millis(2);
