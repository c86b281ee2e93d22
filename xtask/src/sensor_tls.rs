//! The peer of the sensor firmware on a Cortex-M4: a TLS 1.3 client in Rust, in the same cycle model, against OpenSSL's server.

use std::{
    collections::BTreeMap,
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::firmware;

/// What the client proves.
#[derive(Args)]
pub(crate) struct Options {
    /// The device has a certificate as well, and signs with it.
    #[arg(long)]
    client_certificate: bool,
    /// Lint the image in both its forms, measure nothing.
    #[arg(long, conflicts_with = "client_certificate")]
    check: bool,
}

pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    if options.check {
        return check(shell);
    }
    let folder = tempfile::tempdir()?;
    let keys = folder.path();
    make_keys(shell, keys)?;
    let (simulator, elf) = (firmware::simulator(shell)?, build(shell, keys, options)?);
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let mut server = serve(keys, &address, options)?;
    let output = Command::new(simulator)
        .args(["node", "--broker", &address, "--until", "pub ", "--max-seconds", "60"])
        .arg(&elf)
        .stderr(Stdio::inherit())
        .output();
    server.kill()?;
    server.wait()?;
    let output = output?;
    let events = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "the client does not get through:\n{events}");
    print(&events, &firmware::sizes(&elf)?)
}

/// Lints the image in both its forms.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    let _folder = shell.push_dir(FIRMWARE);
    cmd!(shell, "cargo fmt --check").quiet().run()?;
    for features in [&[][..], &["--features", "client-certificate"]] {
        cmd!(shell, "cargo clippy --quiet --locked {features...} -- -D warnings")
            .quiet()
            .run()?;
    }
    Ok(())
}

/// An authority and two certificates of it, for server and device: P-256 with SHA-256.
fn make_keys(shell: &Shell, folder: &Path) -> Result<()> {
    let _folder = shell.push_dir(folder);
    let key = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-noenc",
        "-days",
        "3650",
    ];
    cmd!(
        shell,
        "openssl req -x509 {key...} -subj /CN=realm -keyout authority.key -out authority.pem"
    )
    .quiet()
    .ignore_stderr()
    .run()?;
    for name in ["broker", "device"] {
        let authority = ["-CA", "authority.pem", "-CAkey", "authority.key"];
        let (subject, names) = (format!("/CN={name}"), format!("subjectAltName=DNS:{name}"));
        cmd!(
            shell,
            "openssl req -x509 {key...} {authority...} -subj {subject} -addext {names} -keyout {name}.key -out {name}.pem"
        )
        .quiet()
        .ignore_stderr()
        .run()?;
    }
    for name in ["authority", "device"] {
        cmd!(shell, "openssl x509 -in {name}.pem -outform DER -out {name}.der")
            .quiet()
            .run()?;
    }
    cmd!(shell, "openssl ec -in device.key -outform DER -out device-key.der")
        .quiet()
        .ignore_stderr()
        .run()?;
    Ok(())
}

/// Builds the image with the keys of this folder in it, beside them.
fn build(shell: &Shell, keys: &Path, options: &Options) -> Result<PathBuf> {
    let _folder = shell.push_dir(FIRMWARE);
    let target = firmware::target_folder(shell)?;
    let _lock = firmware::lock(&target)?;
    let _keys = shell.push_env("BENCH_TLS_KEYS", keys);
    let features: &[&str] = if options.client_certificate {
        &["--features", "client-certificate"]
    } else {
        &[]
    };
    cmd!(shell, "cargo build --quiet --release --locked {features...}")
        .quiet()
        .run()?;
    let elf = keys.join("bench-tls.elf");
    fs::copy(target.join("thumbv7em-none-eabihf/release/bench-tls"), &elf)?;
    Ok(elf)
}

fn serve(keys: &Path, address: &str, options: &Options) -> Result<Child> {
    let mut server = Command::new("openssl");
    server
        .current_dir(keys)
        .args(["s_server", "-quiet", "-accept", address, "-num_tickets", "0"])
        .args(["-tls1_3", "-groups", "P-256", "-ciphersuites", "TLS_AES_128_GCM_SHA256"])
        .args(["-cert", "broker.pem", "-key", "broker.key"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if options.client_certificate {
        server.args(["-Verify", "1", "-verify_return_error", "-verifyCAfile", "authority.pem"]);
    }
    let mut child = server.spawn().context("openssl does not start")?;
    // The client dials once: the server has to listen by then.
    for _ in 0..500 {
        if TcpStream::connect(address).is_ok() {
            return Ok(child);
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    bail!("openssl does not listen on {address}")
}

#[derive(Deserialize)]
struct Event {
    event: String,
    #[serde(default)]
    id: u8,
    #[serde(default)]
    cycles: u64,
    #[serde(default)]
    peak: u64,
}

/// A region ends at every transfer and goes on behind it: its cycles are the sum.
fn print(events: &str, sizes: &firmware::Sizes) -> Result<()> {
    let mut regions = BTreeMap::<u8, (u64, u64)>::new();
    for line in events.lines() {
        let Event {
            event,
            id,
            cycles,
            peak,
        } = serde_json::from_str(line)?;
        if event == "mark" {
            let region = regions.entry(id).or_default();
            *region = (region.0 + cycles, region.1.max(peak));
        }
    }
    println!("| phase | cycles | stack, B |\n|---|---:|---:|");
    for (id, phase) in PHASES {
        let (cycles, stack) = regions.get(&id).context("the image marks every phase")?;
        println!("| {phase} | {cycles} | {stack} |");
    }
    println!("\nflash {} B, static RAM {} B", sizes.flash, sizes.ram);
    Ok(())
}

const FIRMWARE: &str = "sensor-node/bench/tls";

/// The regions of the image.
const PHASES: [(u8, &str); 3] = [
    (2, "ephemeral key and ClientHello"),
    (5, "all behind the ServerHello, up to the client's Finished"),
    (8, "one message"),
];
