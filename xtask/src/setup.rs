//! What the tests need beyond a Rust toolchain and a C compiler: installed where that is allowed, named where it is not.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

use crate::parallel::{root_shell, side_by_side};

/// Installs the missing tools, or fails with the commands to type.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    // Packages come from the network and from one disk, the tools out of the compiler.
    side_by_side(
        || {
            let shell = root_shell()?;
            debian_packages(&shell)?;
            python_packages(&shell)
        },
        || {
            rustup(shell)?;
            cargo_tools(shell)
        },
    )
}

/// Debian package, and a program of it by which other systems know that it is there.
const PACKAGES: [(&str, Option<&str>); 20] = [
    ("avr-libc", None),
    ("binutils-avr", Some("avr-nm")),
    ("chromium", Some("chromium")),
    ("ejabberd", Some("ejabberdctl")),
    ("gcc-avr", Some("avr-gcc")),
    ("libclang-dev", None),
    ("libelf-dev", None),
    ("libzstd-dev", None),
    ("make", Some("make")),
    ("mosquitto", Some("mosquitto")),
    ("mosquitto-clients", Some("mosquitto_pub")),
    ("pkg-config", Some("pkg-config")),
    ("postgresql", Some("initdb")),
    ("python3-venv", Some("python3")),
    ("rabbitmq-server", Some("rabbitmqctl")),
    ("systemd", Some("systemd-analyze")),
    ("tshark", Some("tshark")),
    ("valgrind", Some("valgrind")),
    ("wireshark-common", Some("text2pcap")),
    ("zlib1g-dev", None),
];

fn debian_packages(shell: &Shell) -> Result<()> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(name, program)| !installed(name, *program))
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0");
    if !root || !on_path("apt-get") {
        bail!(
            "the tests need programs that are not installed. On Debian or Ubuntu type:\n    \
             sudo apt-get update && sudo apt-get install --no-install-recommends {}\n\
             elsewhere install the same programs with the system's package manager, then run this again",
            missing.join(" ")
        );
    }
    shell.set_var("DEBIAN_FRONTEND", "noninteractive");
    let _quiet = NoServices::new()?;
    // Mirrors have bad moments, and a fresh machine may be updating itself.
    let patient = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"];
    cmd!(shell, "apt-get {patient...} update -qq").run()?;
    cmd!(
        shell,
        "apt-get {patient...} install -y -qq --no-install-recommends {missing...}"
    )
    .run()?;
    match PACKAGES.iter().find(|(name, program)| !installed(name, *program)) {
        Some((name, _)) => bail!("package {name} is still missing after apt-get installed it"),
        None => Ok(()),
    }
}

/// While it lives, Debian's packages do not start the servers that they bring: the tests start their own, on ports of their
/// own. Where the machine has such a policy already, that one stays.
struct NoServices {
    ours: bool,
}

impl NoServices {
    const POLICY: &str = "/usr/sbin/policy-rc.d";

    fn new() -> Result<Self> {
        let ours = !Path::new(Self::POLICY).exists();
        if ours {
            fs::write(Self::POLICY, "#!/bin/sh\nexit 101\n")?;
            fs::set_permissions(Self::POLICY, fs::Permissions::from_mode(0o755))?;
        }
        Ok(Self { ours })
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.ours
            && let Err(error) = fs::remove_file(Self::POLICY)
        {
            eprintln!("remove {}, or no package will start its service: {error}", Self::POLICY);
        }
    }
}

/// Asks the package manager where there is one that we know, and looks for the program elsewhere.
fn installed(package: &str, program: Option<&str>) -> bool {
    if on_path("dpkg-query") {
        let status = Command::new("dpkg-query")
            .args(["-W", "-f=${db:Status-Status}", package])
            .output();
        return status.is_ok_and(|output| output.stdout == b"installed");
    }
    program.is_none_or(on_path)
}

fn rustup(shell: &Shell) -> Result<()> {
    if !on_path("rustup") {
        bail!(
            "the embedded builds need rustup's targets. Type:\n    \
             install rustup (https://rustup.rs), then: rustup component add rust-src clippy rustfmt && rustup target add {}",
            crate::embedded::CORTEX_M4
        );
    }
    let target = crate::embedded::CORTEX_M4;
    cmd!(shell, "rustup --quiet component add rust-src clippy rustfmt").run()?;
    cmd!(shell, "rustup --quiet target add {target}").run()?;
    Ok(())
}

fn cargo_tools(shell: &Shell) -> Result<()> {
    // Neither has much to compute: optimised builds of them would take twice as long and gain nothing. Their next versions may
    // ask for a newer compiler.
    if !on_path("cargo-deny") {
        eprintln!("installing cargo-deny (two minutes, once)");
        cmd!(
            shell,
            "cargo install --quiet --locked --debug cargo-deny --version 0.20.2"
        )
        .run()?;
    }
    if !on_path("cargo-fuzz") {
        eprintln!("installing cargo-fuzz (a minute, once)");
        cmd!(
            shell,
            "cargo install --quiet --locked --debug cargo-fuzz --version 0.13.2"
        )
        .run()?;
    }
    verifpal(shell)
}

/// Verifpal, in the version whose verdicts the table of `cargo xtask prove` holds.
pub(crate) fn verifpal(shell: &Shell) -> Result<()> {
    let version = "1.6.7";
    let installed = cmd!(shell, "verifpal --version").quiet().ignore_stderr().read();
    if installed.is_ok_and(|text| text.contains(version)) {
        return Ok(());
    }
    eprintln!("installing Verifpal (a few minutes, once)");
    // Its manifest asks for a newer compiler than it needs.
    cmd!(
        shell,
        "cargo install --quiet --locked --force --ignore-rust-version verifpal --version {version}"
    )
    .run()?;
    Ok(())
}

/// Python with the packages of the independent checkers, apart from the system's.
pub(crate) fn python() -> PathBuf {
    crate::root().join("target/python/bin/python3")
}

fn python_packages(shell: &Shell) -> Result<()> {
    let (folder, python) = (crate::root().join("target/python"), python());
    if !python.exists() {
        cmd!(shell, "python3 -m venv --system-site-packages {folder}").run()?;
    }
    let packages = ["cryptography>=42", "unicorn==2.1.4"];
    cmd!(
        shell,
        "{python} -m pip --quiet --disable-pip-version-check install {packages...}"
    )
    .run()?;
    Ok(())
}

pub(crate) fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps servers in /usr/sbin, which is not on everybody's PATH.
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .any(|folder| folder.join(program).is_file())
}
