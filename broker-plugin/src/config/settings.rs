//! Every setting once: its place in the file, its flag, its variable, and what `--help` says.

use toml::{Table, Value};

use super::ConfigError;

/// One setting. The file, the environment and the command line all know it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Table and key in the file.
    pub key: &'static str,
    /// Flag without its dashes.
    pub flag: &'static str,
    /// Environment variable.
    pub variable: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What the value stands for.
    pub value: &'static str,
    /// One sentence.
    pub help: &'static str,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Switch,
    /// Texts; a flag or variable separates them by commas.
    List,
}

/// Values from flags and environment; each one set replaces the file's.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<Override>);

#[derive(Clone, Debug)]
struct Override {
    key: &'static str,
    flag: &'static str,
    value: Value,
}

impl Overrides {
    /// Sets `key` from the text of a flag or variable.
    ///
    /// # Errors
    /// [`ConfigError`] naming the flag, for a text of the wrong kind.
    ///
    /// # Panics
    /// If there is no such setting.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let setting = SETTINGS.iter().find(|setting| setting.key == key).expect("a known key");
        let wrong = |fix: &str| at_flag(setting.flag, format!("`{text}` is no value for it"), fix);
        let value = match setting.kind {
            Kind::Text => Value::String(text.to_owned()),
            Kind::Number => Value::Integer(text.parse().map_err(|_| wrong("write a whole number"))?),
            Kind::Switch => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Value::Boolean(true),
                "false" | "no" | "off" | "0" => Value::Boolean(false),
                _ => return Err(wrong("write `true` or `false`")),
            },
            Kind::List => Value::Array(text.split(',').map(|part| Value::String(part.to_owned())).collect()),
        };
        if setting.key == BACKEND {
            return self.set_backend(setting.flag, text);
        }
        self.push(setting.key, setting.flag, value);
        Ok(())
    }

    /// The flag that set `key`.
    pub(super) fn flag_of(&self, key: &str) -> Option<&'static str> {
        self.0.iter().rev().find(|over| over.key == key).map(|over| over.flag)
    }

    pub(super) fn lay_over(&self, file: &mut Table) {
        for over in &self.0 {
            let (table, key) = match over.key.split_once('.') {
                None => (&mut *file, over.key),
                Some((name, key)) => {
                    let entry = file.entry(name).or_insert_with(|| Value::Table(Table::new()));
                    // The file alone has the right shape by now.
                    let Value::Table(table) = entry else { continue };
                    (table, key)
                }
            };
            table.insert(key.to_owned(), over.value.clone());
        }
    }

    /// One text for three keys: `rumqttd`, `tcp://host:port` or `unix:/path`.
    fn set_backend(&mut self, flag: &'static str, text: &str) -> Result<(), ConfigError> {
        let (kind, place) = if text == "rumqttd" {
            ("rumqttd", None)
        } else if let Some(address) = text.strip_prefix("tcp://") {
            ("tcp", Some(("backend.address", address)))
        } else if let Some(path) = text.strip_prefix("unix:") {
            ("unix", Some(("backend.path", path)))
        } else {
            let fix = "write `rumqttd`, `tcp://127.0.0.1:1883` or `unix:/path/to/socket`";
            return Err(at_flag(flag, format!("`{text}` is no back end"), fix));
        };
        self.push(BACKEND, flag, Value::String(kind.to_owned()));
        if let Some((key, value)) = place {
            self.push(key, flag, Value::String(value.to_owned()));
        }
        Ok(())
    }

    fn push(&mut self, key: &'static str, flag: &'static str, value: Value) {
        self.0.push(Override { key, flag, value });
    }
}

pub(super) fn at_flag(flag: &str, problem: impl Into<String>, fix: impl Into<String>) -> ConfigError {
    ConfigError {
        place: format!("--{flag}"),
        line: None,
        problem: problem.into(),
        fix: fix.into(),
    }
}

const BACKEND: &str = "backend.kind";

macro_rules! settings {
    ($($key:literal $flag:literal $variable:literal $kind:ident $value:literal $help:literal;)*) => {
        /// All settings, in the order of the file.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            key: $key,
            flag: $flag,
            variable: $variable,
            kind: Kind::$kind,
            value: $value,
            help: $help,
        }),*];
    };
}

settings! {
    "listen" "listen" "KEMQTT_LISTEN" Text "ADDRESS:PORT" "Address of the secure listener";
    "registry" "registry" "KEMQTT_REGISTRY" Text "FILE|URL" "Registry: an SQLite file, or postgres://user@host/database";
    "seal_key" "seal-key" "KEMQTT_SEAL_KEY" Text "FILE" "Key file that seals the registry's secrets";
    "ticket_file" "ticket-file" "KEMQTT_TICKET_FILE" Text "FILE" "Ticket keys shared by gateways without a common registry";
    "allow_anonymous" "allow-anonymous" "KEMQTT_ALLOW_ANONYMOUS" Switch "BOOL" "Accept clients without an enrolled identity";
    "lowest_suite" "suite-floor" "KEMQTT_SUITE_FLOOR" Text "SUITE" "Weakest suite that any client may use";
    "backend.kind" "backend" "KEMQTT_BACKEND" Text "BACKEND" "Back end: `rumqttd`, `tcp://host:port` or `unix:/path`";
    "backend.address" "backend-address" "KEMQTT_BACKEND_ADDRESS" Text "HOST:PORT" "Address of a back end of kind `tcp`";
    "backend.path" "backend-path" "KEMQTT_BACKEND_PATH" Text "FILE" "Socket of a back end of kind `unix`";
    "backend.trusted_network" "trusted-network" "KEMQTT_TRUSTED_NETWORK" Switch "BOOL" "The way to a back end that is not on loopback is yours alone";
    "backend.guard" "guard" "KEMQTT_GUARD" Switch "BOOL" "Check every client packet before the back end sees it";
    "backend.proxy_protocol" "proxy-protocol" "KEMQTT_PROXY_PROTOCOL" Switch "BOOL" "Tell the back end the client's address by PROXY protocol v2";
    "backend.server_reference" "server-reference" "KEMQTT_SERVER_REFERENCE" Text "TEXT" "Server Reference that clients see in place of the back end's";
    "backend.max_packet" "max-packet" "KEMQTT_MAX_PACKET" Number "BYTES" "Largest MQTT packet of the embedded broker";
    "backend.max_connections" "max-connections" "KEMQTT_MAX_CONNECTIONS" Number "N" "Largest number of connections of the embedded broker";
    "identity.client_id" "client-id-policy" "KEMQTT_CLIENT_ID_POLICY" Text "POLICY" "MQTT client ids of a device: `equal`, `prefix` or `map`";
    "identity.user_prefix" "user-prefix" "KEMQTT_USER_PREFIX" Text "TEXT" "Prefix of the user name that the back end sees";
    "identity.user_form" "user-form" "KEMQTT_USER_FORM" Text "FORM" "How the device id stands in it: `plain`, or `jid` for ejabberd";
    "identity.password_file" "password-file" "KEMQTT_PASSWORD_FILE" Text "FILE" "File with the password that the back end sees";
    "topics.publish" "publish" "KEMQTT_PUBLISH" List "FILTERS" "Topic filters that clients may publish to; {id} is the device id";
    "topics.subscribe" "subscribe" "KEMQTT_SUBSCRIBE" List "FILTERS" "Topic filters that clients may subscribe within; {id} is the device id";
    "topics.anonymous_publish" "anonymous-publish" "KEMQTT_ANONYMOUS_PUBLISH" List "FILTERS" "The same for anonymous clients; else those of all clients without {id}";
    "topics.anonymous_subscribe" "anonymous-subscribe" "KEMQTT_ANONYMOUS_SUBSCRIBE" List "FILTERS" "The same for anonymous clients; else those of all clients without {id}";
    "limits.connections" "connections" "KEMQTT_CONNECTIONS" Number "N" "Largest number of connections";
    "limits.half_open" "half-open" "KEMQTT_HALF_OPEN" Number "N" "Largest number of unfinished handshakes";
    "limits.half_open_kib" "half-open-kib" "KEMQTT_HALF_OPEN_KIB" Number "KIB" "Memory of all unfinished handshakes together";
    "limits.source_rate" "source-rate" "KEMQTT_SOURCE_RATE" Number "N" "New connections per second and source";
    "limits.source_burst" "source-burst" "KEMQTT_SOURCE_BURST" Number "N" "New connections of one source before the rate counts";
    "limits.connect_timeout_s" "connect-timeout" "KEMQTT_CONNECT_TIMEOUT" Number "SECONDS" "Time for the first packet";
    "limits.m3_timeout_s" "m3-timeout" "KEMQTT_M3_TIMEOUT" Number "SECONDS" "Time for the client's answer to M2";
    "limits.backend_timeout_s" "backend-timeout" "KEMQTT_BACKEND_TIMEOUT" Number "SECONDS" "Time for the back end to answer a CONNECT";
    "limits.record" "record" "KEMQTT_RECORD" Number "BYTES" "Largest record plaintext taken";
    "limits.connect" "connect" "KEMQTT_CONNECT" Number "BYTES" "Largest inner CONNECT taken";
    "limits.workers" "workers" "KEMQTT_WORKERS" Number "N" "Key exchanges at work at once";
    "metrics.listen" "metrics" "KEMQTT_METRICS" Text "ADDRESS:PORT" "Address of the admin page, metrics and health";
    "metrics.trusted_network" "metrics-trusted-network" "KEMQTT_METRICS_TRUSTED_NETWORK" Switch "BOOL" "The admin page may listen on other addresses than loopback";
    "log.format" "log-format" "KEMQTT_LOG_FORMAT" Text "FORMAT" "Log lines: `text` or `json`";
    "log.filter" "log" "KEMQTT_LOG" Text "FILTER" "Log filter, for example `info,kemqtt_broker=debug`";
}
