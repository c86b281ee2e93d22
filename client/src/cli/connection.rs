//! Where the broker is, who it is, who we are: the flags every connecting subcommand shares.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kemqtt_client::{Config, Credential, Pins, Reauthenticate, SuiteId, Tickets, Timeouts};

use super::wire::WireLog;

/// Broker, keys and suite.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct Connection {
    /// Broker address, HOST:PORT or HOST (port 1884).
    #[arg(
        long,
        env = "KEMQTT_BROKER",
        default_value = "localhost:1884",
        value_name = "ADDRESS"
    )]
    broker: String,
    #[command(flatten)]
    keys: Keys,
    /// Cipher suite.
    #[arg(long, env = "KEMQTT_SUITE", default_value_t = SuiteId::HOST_DEFAULT, value_name = "NAME")]
    suite: SuiteId,
    /// Never use a suite weaker than this one.
    #[arg(long, env = "KEMQTT_FLOOR", value_name = "NAME")]
    floor: Option<SuiteId>,
    /// Seconds the broker may take for each answer of the handshake.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600), value_name = "SECONDS")]
    timeout: u64,
    /// Keep no session ticket: every connection makes a full handshake.
    #[arg(long)]
    no_ticket: bool,
    /// Prove anew who this device is, with new keys, every so many seconds while a session lasts; 0 switches it off.
    #[arg(long, default_value_t = 86_400, value_parser = reauthenticate_every, value_name = "SECONDS")]
    reauthenticate: u64,
    /// Print every packet of the handshake and its length, on stderr.
    #[arg(short, long)]
    debug: bool,
}

/// The broker's pinned key and this device's credential.
#[derive(Debug, Args)]
pub(super) struct Keys {
    /// File with the broker's key line [default: ~/.config/kemqtt/broker.pin].
    #[arg(long, env = "KEMQTT_PIN", value_name = "FILE")]
    pin: Option<PathBuf>,
    /// File with this device's credential [default: ~/.config/kemqtt/credential.key].
    #[arg(long, env = "KEMQTT_CREDENTIAL", value_name = "FILE")]
    credential: Option<PathBuf>,
    /// Connect without a device credential, if the broker allows it; a login inside may say who you are.
    #[arg(long, conflicts_with = "credential")]
    anonymous: bool,
}

impl Connection {
    /// The address with its port.
    pub(super) fn address(&self) -> String {
        with_port(&self.broker)
    }

    /// Loads the key files and builds the library's configuration.
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        warn_of_research(self.suite);
        let step = Duration::from_secs(self.timeout);
        let tickets = match self.no_ticket {
            true => None,
            false => Some(Tickets::in_file(&path_or_default(None, "session.ticket")?)),
        };
        let timeouts = Timeouts { dial: step, step };
        let when = Reauthenticate {
            every: Some(Duration::from_secs(self.reauthenticate)).filter(|every| !every.is_zero()),
            ..Reauthenticate::default()
        };
        let config = self.keys.load()?.suite(self.suite).timeouts(timeouts).tickets(tickets);
        let mut config = config.reauthenticate(when);
        if let Some(floor) = self.floor {
            config = config.floor(floor);
        }
        if self.debug {
            config = config.observer(Arc::new(WireLog));
        }
        Ok(config)
    }
}

impl Keys {
    /// Loads the files; the rest of the configuration has its defaults.
    pub(super) fn load(&self) -> anyhow::Result<Config> {
        let pin = path_or_default(self.pin.as_deref(), "broker.pin")?;
        let pins = Pins::load(&pin).context(
            "no usable key of the broker; ask its operator for the `hkm1-broker` line and store it in this file",
        )?;
        Ok(Config::new(pins, self.credential()?))
    }

    fn credential(&self) -> anyhow::Result<Credential> {
        if self.anonymous {
            return Ok(Credential::Anonymous);
        }
        let path = path_or_default(self.credential.as_deref(), "credential.key")?;
        Credential::load(&path).context(
            "no usable device credential; make one by `kemqtt keygen psk --id NAME` and enrol it, or connect without one by \
             --anonymous",
        )
    }
}

/// The broker takes one a minute, and ends a session after seven days without.
fn reauthenticate_every(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seconds @ (0 | 60..=604_800)) => Ok(seconds),
        _ => Err("write 0, or 60 to 604800 seconds".to_owned()),
    }
}

/// Appends the default port to an address without one.
pub(super) fn with_port(address: &str) -> String {
    let has_port = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, behind)) => behind.starts_with(':'),
        // More than one colon without brackets is a bare IPv6 address.
        None => match address.matches(':').count() {
            0 => false,
            1 => true,
            _ => return format!("[{address}]:{DEFAULT_PORT}"),
        },
    };
    if has_port {
        address.to_owned()
    } else {
        format!("{address}:{DEFAULT_PORT}")
    }
}

/// Says on stderr, once per process, what a research KEM is.
pub(super) fn warn_of_research(suite: SuiteId) {
    static ONCE: Once = Once::new();
    if let Some(warning) = suite.kem().status().warning() {
        ONCE.call_once(|| eprintln!("kemqtt: warning: {suite}: {warning}. Use an mlkem suite where it matters."));
    }
}

/// `given`, else `name` in the user's configuration directory.
pub(super) fn path_or_default(given: Option<&Path>, name: &str) -> anyhow::Result<PathBuf> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => Ok(config_directory()
            .context("neither HOME nor a file was given; name the file by its flag")?
            .join(name)),
    }
}

fn config_directory() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return set("APPDATA").map(|base| base.join("kemqtt"));
    }
    set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .map(|base| base.join("kemqtt"))
}

/// Where `kemqtt-broker` listens for HKM1 unless told otherwise.
const DEFAULT_PORT: u16 = 1884;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_added_only_where_none_is() {
        for (given, expected) in [
            ("broker", "broker:1884"),
            ("broker:7", "broker:7"),
            ("10.0.0.1", "10.0.0.1:1884"),
            ("[::1]", "[::1]:1884"),
            ("[::1]:7", "[::1]:7"),
            ("fe80::1", "[fe80::1]:1884"),
        ] {
            assert_eq!(with_port(given), expected);
        }
    }
}
