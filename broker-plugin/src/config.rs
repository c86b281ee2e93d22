//! The broker's configuration: a TOML file, environment and flags, checked into a type that cannot be wrong.
//!
//! Every error names the file, the line and what to write instead.

mod file;
mod registry;
mod settings;

use std::{fmt, fs, io, net::SocketAddr, path::PathBuf};

use hybrid_handshake::suite::SuiteId;

pub use file::DEFAULT_FILE;
pub use registry::RegistryConfig;
pub use settings::{Kind, Overrides, SETTINGS, Setting};

use crate::{
    limits::Limits,
    policy::{ClientIdPolicy, TopicRules, UserForm},
};

/// A checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address of the secure listener.
    pub listen: SocketAddr,
    /// Devices and keys.
    pub registry: RegistryConfig,
    /// File with the key that seals the registry's secrets (mode 0600).
    pub seal_key: PathBuf,
    /// Whether clients without an enrolled identity may connect (mode 3).
    pub allow_anonymous: bool,
    /// The weakest suite that any client may use.
    pub lowest_suite: Option<SuiteId>,
    /// Where the application's MQTT goes.
    pub backend: BackendConfig,
    /// What clients see in place of a Server Reference of the back end.
    pub server_reference: Option<String>,
    /// How a device id binds its MQTT client id.
    pub client_id: ClientIdPolicy,
    /// Prefix of the user name that back ends see for an enrolled device.
    pub user_prefix: String,
    /// How the device id stands behind it.
    pub user_form: UserForm,
    /// File whose first line is the password handed to the back end for enrolled devices.
    pub password_file: Option<PathBuf>,
    /// File with the ticket keys that a fleet of gateways shares; without it they live in the registry.
    pub ticket_file: Option<PathBuf>,
    /// Topics of devices without rules of their own, and of anonymous clients.
    pub topics: TopicRules,
    /// Topics of anonymous clients, before those.
    pub anonymous_topics: TopicRules,
    /// Budgets and time limits.
    pub limits: Limits,
    /// Address of the admin page, metrics and health.
    pub metrics: Option<SocketAddr>,
    /// Log output.
    pub log: LogConfig,
}

/// The kinds of back end and their settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendConfig {
    /// The embedded broker.
    Rumqttd {
        /// Largest MQTT packet, in bytes.
        max_packet: usize,
        /// Largest number of MQTT connections.
        max_connections: usize,
    },
    /// Any MQTT broker over TCP, one connection per client.
    Tcp {
        /// Host and port.
        address: String,
        /// Whether the packet guard runs before it.
        guard: bool,
        /// Whether it is told the client's address by PROXY protocol v2.
        proxy_protocol: bool,
    },
    /// Any MQTT broker behind a Unix socket.
    Unix {
        /// Path of the socket.
        path: PathBuf,
        /// Whether the packet guard runs before it.
        guard: bool,
        /// Whether it is told the client's address by PROXY protocol v2.
        proxy_protocol: bool,
    },
}

/// Log output settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// Text or JSON lines.
    pub format: LogFormat,
    /// Filter in the syntax of `tracing-subscriber`'s `EnvFilter`.
    pub filter: String,
}

/// Log line formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// Reads `path` (or takes the defaults where there is none), lays `overrides` over it and checks the result.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line and fix.
    pub fn load(path: Option<&std::path::Path>, overrides: &Overrides) -> Result<Self, ConfigError> {
        match path {
            None => Self::parse("", "built-in defaults", overrides),
            Some(path) => {
                let name = path.display().to_string();
                let text = fs::read_to_string(path).map_err(|error| ConfigError::unreadable(&name, &error))?;
                Self::parse(&text, &name, overrides)
            }
        }
    }

    /// Parses TOML `text`; `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str, name: &str, overrides: &Overrides) -> Result<Self, ConfigError> {
        file::parse(text, name, overrides)
    }
}

/// What is wrong with a configuration, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, or the flag or variable that the value came from.
    pub place: String,
    /// One-based line, where there is one.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

impl ConfigError {
    fn unreadable(name: &str, error: &io::Error) -> Self {
        Self {
            place: name.to_owned(),
            line: None,
            problem: format!("cannot be read: {error}"),
            fix: "check the path, or write one with `kemqtt-broker print-default-config > kemqtt-broker.toml`"
                .to_owned(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}\n  fix: {}", self.place, self.problem, self.fix),
            None => write!(f, "{}: {}\n  fix: {}", self.place, self.problem, self.fix),
        }
    }
}

impl std::error::Error for ConfigError {}
