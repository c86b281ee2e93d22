//! What one sensor node costs: its real image in the simulator, against the real broker.

mod table;

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use xshell::{Shell, cmd};

use crate::firmware::{self, Board, Credential, IMAGES, Image};

/// Which node, and on which battery.
#[derive(Args)]
pub(crate) struct Options {
    /// The chip.
    #[arg(long, value_enum, default_value = "atmega1284p")]
    mcu: Mcu,
    /// The suite's name.
    #[arg(long, default_value = "x25519-ctrulight-ascon")]
    suite: String,
    /// How the node proves who it is.
    #[arg(long, value_enum, default_value = "psk")]
    mode: Credential,
    /// Messages to publish.
    #[arg(long, default_value_t = 3)]
    messages: u32,
    /// Let the node re-authenticate behind its first message, and end with that instead: one more row, the sum of its three steps.
    #[arg(long, conflicts_with = "messages")]
    reauthenticate: bool,
    /// Clock in MHz, which turns cycles into time; by default that of the simulated board, 16 or 20.
    #[arg(long)]
    mhz: Option<f64>,
    /// Current of the running chip in mA; by default an assumed round value, 10 or 2.5, no data sheet's.
    #[arg(long)]
    milliampere: Option<f64>,
    /// Supply in V; by default assumed, 5 or 3.
    #[arg(long)]
    volt: Option<f64>,
    /// In which simulator; `qemu` runs the self-test and a session on its mps2-an386, for a look at the image on another
    /// implementation of the core, and has no cycles to print. It needs the Debian package qemu-system-arm.
    #[arg(long, value_enum, default_value = "model")]
    simulator: Simulator,
    /// JSON rows of name, cycles, stack, flash, ram and bytes.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mcu {
    /// ATmega1284P in simavr: exact cycles.
    Atmega1284p,
    /// STM32L4R5 in m4sim: modeled cycles.
    CortexM4,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Simulator {
    /// simavr or m4sim.
    Model,
    /// QEMU, for a Cortex-M4.
    Qemu,
}

pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    let board = match options.mcu {
        Mcu::Atmega1284p => Board::Avr,
        Mcu::CortexM4 => Board::CortexM4,
    };
    // The broker's command line makes no keys for the lab images.
    let serves = |image: &Image| !options.reauthenticate || image.reauthenticates();
    let runs_here = |image: &&Image| image.board == board && !image.is_lab() && serves(image);
    let mut images = IMAGES.iter().filter(runs_here);
    let Some(image) = images.find(|image| image.suite == options.suite) else {
        let suites = IMAGES.iter().filter(runs_here).map(|image| image.suite);
        let how = if options.reauthenticate {
            " with re-authentication"
        } else {
            ""
        };
        bail!("{} runs{how} {}", board.mcu(), suites.collect::<Vec<_>>().join(", "));
    };
    ensure!(
        image.credentials().contains(&options.mode),
        "{}: 4 KB of EEPROM hold a key pair of x25519-ctrulight-ascon only, and 8 KB of RAM none that re-authenticates",
        image.name(options.mode)
    );
    let in_qemu = options.simulator == Simulator::Qemu;
    ensure!(
        !options.reauthenticate || !in_qemu,
        "images re-authenticate when asked in our models only"
    );
    ensure!(!in_qemu || board == Board::CortexM4, "QEMU has no {}", board.mcu());
    let elf = if in_qemu {
        image.build_for_qemu(shell, options.mode)?
    } else {
        image.build(shell, options.mode)?
    };
    let simulator = firmware::simulator(shell)?;
    let home = Home::new(shell, image, options.mode)?;
    let mut broker = home.broker()?;
    if in_qemu {
        let done = home.qemu(shell, &simulator, &elf, options.messages);
        broker.kill()?;
        broker.wait()?;
        return done;
    }
    let events = home.node(&simulator, &elf, options);
    // It has nothing to lose: the registry goes as well.
    broker.kill()?;
    broker.wait()?;
    let rows = table::rows(&prefix(image, options.mode), &events?, &firmware::sizes(&elf)?)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        table::print(&rows, &options.supply(board));
    }
    Ok(())
}

impl Options {
    fn supply(&self, board: Board) -> table::Supply {
        let (mhz, milliampere, volt) = match board {
            Board::Avr => (16.0, 10.0, 5.0),
            Board::CortexM4 => (20.0, 2.5, 3.0),
        };
        table::Supply {
            mhz: self.mhz.unwrap_or(mhz),
            milliampere: self.milliampere.unwrap_or(milliampere),
            volt: self.volt.unwrap_or(volt),
        }
    }
}

fn prefix(image: &Image, mode: Credential) -> String {
    let mode = match mode {
        Credential::Psk => "psk",
        Credential::KeyPair => "kem",
    };
    format!("{}/{}/{mode}", image.board.mcu(), image.suite)
}

/// A realm of its own: registry, keys, one enrolled node.
struct Home {
    folder: tempfile::TempDir,
    broker: PathBuf,
    address: String,
}

impl Home {
    fn new(shell: &Shell, image: &Image, mode: Credential) -> Result<Self> {
        let programs = programs(shell)?;
        let (broker, client) = (programs.join("kemqtt-broker"), programs.join("kemqtt"));
        let this = Self {
            folder: tempfile::tempdir()?,
            broker,
            // Free a moment ago.
            address: TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string(),
        };
        let (registry, key) = (this.file("registry.db"), this.file("seal.key"));
        let (program, kind) = (&this.broker, image.broker_key);
        let files = ["--registry", &registry, "--seal-key", &key];
        let lines = cmd!(shell, "{program} init --key {kind} {files...}").quiet().read()?;
        let pin = lines
            .lines()
            .find(|line| line.starts_with("hkm1-broker "))
            .context("init prints a key")?;
        fs::write(this.file("broker.pin"), pin)?;
        let credential = this.file("node.credential");
        match mode {
            Credential::Psk => {
                cmd!(shell, "{program} enroll node --out {credential} {files...}")
                    .quiet()
                    .read()?;
            }
            Credential::KeyPair => {
                let (suite, public) = (image.suite, this.file("node.public"));
                let line = cmd!(
                    shell,
                    "{client} keygen device --id node --suite {suite} --out {credential}"
                )
                .quiet()
                .read()?;
                fs::write(&public, line)?;
                cmd!(shell, "{program} enroll node --device-key {public} {files...}")
                    .quiet()
                    .read()?;
            }
        }
        let (simulator, nv, pin) = (
            firmware::folder().join("kemqtt-sim"),
            this.file("node.nv"),
            this.file("broker.pin"),
        );
        let size = image.board.nv_len();
        cmd!(
            shell,
            "{simulator} provision --nv {nv} --pin {pin} --credential {credential} --size {size}"
        )
        .quiet()
        .run()?;
        Ok(this)
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn broker(&self) -> Result<Child> {
        let log = fs::File::create(self.file("broker.log"))?;
        let mut child = Command::new(&self.broker)
            .args([
                "run",
                "--listen",
                &self.address,
                "--registry",
                &self.file("registry.db"),
            ])
            .args(["--seal-key", &self.file("seal.key")])
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let end = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(&self.address).is_err() {
            let running = child.try_wait()?.is_none() && Instant::now() < end;
            ensure!(
                running,
                "the broker does not start: {}",
                fs::read_to_string(self.file("broker.log"))?
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(child)
    }

    /// The self-test and one session in QEMU; prints their events.
    fn qemu(&self, shell: &Shell, simulator: &Path, elf: &Path, messages: u32) -> Result<()> {
        let (test, nv) = (self.file("self-test.nv"), self.file("node.nv"));
        let size = Board::CortexM4.nv_len();
        cmd!(
            shell,
            "{simulator} provision --nv {test} --size {size} --at-boot self-test"
        )
        .quiet()
        .run()?;
        cmd!(shell, "{simulator} qemu {elf} --nv {test}").quiet().run()?;
        let (address, messages) = (&self.address, messages.to_string());
        let until = ["--until", "pub ", "--times", &messages];
        cmd!(shell, "{simulator} qemu {elf} --nv {nv} --broker {address} {until...}")
            .quiet()
            .run()?;
        Ok(())
    }

    /// The events of one session.
    fn node(&self, simulator: &Path, elf: &Path, options: &Options) -> Result<String> {
        let messages = options.messages.to_string();
        let until = if options.reauthenticate {
            ["--until", "reauth ", "--reauthenticate-at", "pub 0"]
        } else {
            ["--until", "pub ", "--times", &messages]
        };
        let output = Command::new(simulator)
            .args(["node", "--broker", &self.address, "--nv", &self.file("node.nv")])
            .args(until)
            .args(["--max-seconds", "300"])
            .arg(elf)
            .stderr(Stdio::inherit())
            .output()?;
        let events = String::from_utf8(output.stdout)?;
        ensure!(output.status.success(), "the node did too little:\n{events}");
        Ok(events)
    }
}

/// Builds broker and client, and gives their folder.
fn programs(shell: &Shell) -> Result<PathBuf> {
    cmd!(
        shell,
        "cargo build --quiet --locked -p kemqtt-broker -p kemqtt-client --bins"
    )
    .quiet()
    .run()?;
    crate::test::binaries()
}
