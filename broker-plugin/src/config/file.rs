//! The TOML file as it is written, and its checks.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use hybrid_handshake::suite::SuiteId;
use serde::Deserialize;
use toml::{Table, de::DeTable};

use super::{
    BackendConfig, Config, ConfigError, LogConfig, LogFormat, Overrides, RegistryConfig, registry, settings::at_flag,
};
use crate::{
    limits::Limits,
    policy::{ClientIdPolicy, TopicRules, UserForm, is_rule},
};

/// A commented file that holds every default.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

pub(super) fn parse(text: &str, name: &str, overrides: &Overrides) -> Result<Config, ConfigError> {
    let source = Source { text, name, overrides };
    // Alone first: only then its mistakes have a line.
    toml::from_str::<File>(text).map_err(|error| source.broken(&error))?;
    let mut table: Table = toml::from_str(text).map_err(|error| source.broken(&error))?;
    overrides.lay_over(&mut table);
    let file = table.try_into().map_err(|error| source.broken(&error))?;
    source.config(file)
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<String>,
    registry: Option<String>,
    seal_key: Option<PathBuf>,
    ticket_file: Option<PathBuf>,
    allow_anonymous: bool,
    lowest_suite: Option<String>,
    backend: BackendTable,
    identity: IdentityTable,
    topics: TopicsTable,
    limits: LimitsTable,
    metrics: MetricsTable,
    log: LogTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BackendTable {
    kind: Option<String>,
    address: Option<String>,
    path: Option<PathBuf>,
    guard: Option<bool>,
    proxy_protocol: bool,
    server_reference: Option<String>,
    trusted_network: bool,
    max_packet: Option<usize>,
    max_connections: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct IdentityTable {
    client_id: Option<String>,
    user_prefix: Option<String>,
    user_form: Option<String>,
    password_file: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TopicsTable {
    publish: Option<Vec<String>>,
    subscribe: Option<Vec<String>>,
    anonymous_publish: Option<Vec<String>>,
    anonymous_subscribe: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsTable {
    connections: Option<usize>,
    half_open: Option<usize>,
    half_open_kib: Option<usize>,
    source_rate: Option<u32>,
    source_burst: Option<u32>,
    connect_timeout_s: Option<u64>,
    m3_timeout_s: Option<u64>,
    backend_timeout_s: Option<u64>,
    record: Option<u16>,
    connect: Option<u16>,
    workers: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MetricsTable {
    listen: Option<String>,
    trusted_network: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LogTable {
    format: Option<String>,
    filter: Option<String>,
}

/// Where values come from, so that errors can say it.
struct Source<'a> {
    text: &'a str,
    name: &'a str,
    overrides: &'a Overrides,
}

impl Source<'_> {
    fn config(&self, file: File) -> Result<Config, ConfigError> {
        let listen = self.address(file.listen.as_deref(), "listen")?;
        let user_form = self.user_form(file.identity.user_form.as_deref())?;
        let (topics, anonymous_topics) = self.topics(file.topics)?;
        let guarded = file.backend.guard != Some(false);
        if !(guarded || topics.allow_everything() && anonymous_topics.or(&topics).allow_everything()) {
            let fix = "remove `guard = false`: the guard is what checks topics";
            return Err(self.error("backend.guard", "`topics` needs the guard", fix));
        }
        Ok(Config {
            listen: listen.unwrap_or(SocketAddr::from(([0, 0, 0, 0], 1884))),
            registry: self.registry(file.registry)?,
            seal_key: file.seal_key.unwrap_or_else(|| "kemqtt.key".into()),
            allow_anonymous: file.allow_anonymous,
            lowest_suite: self.suite(file.lowest_suite.as_deref())?,
            server_reference: file.backend.server_reference.clone(),
            backend: self.backend(file.backend)?,
            client_id: self.client_id(file.identity.client_id.as_deref())?,
            user_prefix: self.user_prefix(file.identity.user_prefix, user_form)?,
            user_form,
            password_file: file.identity.password_file,
            ticket_file: file.ticket_file,
            topics,
            anonymous_topics,
            limits: self.limits(&file.limits)?,
            metrics: self.metrics(&file.metrics)?,
            log: self.log(file.log)?,
        })
    }

    fn address(&self, text: Option<&str>, key: &str) -> Result<Option<SocketAddr>, ConfigError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| {
                let fix = "write an address and a port, for example \"0.0.0.0:1884\" or \"[::]:1884\"";
                self.error(key, format!("`{text}` is not an IP address with a port"), fix)
            })
        };
        text.map(parse).transpose()
    }

    fn metrics(&self, table: &MetricsTable) -> Result<Option<SocketAddr>, ConfigError> {
        let address = self.address(table.listen.as_deref(), "metrics.listen")?;
        if let Some(address) = address
            && !address.ip().is_loopback()
            && !table.trusted_network
        {
            let fix = "use 127.0.0.1 or [::1], or write `trusted_network = true`: the page names every device";
            let problem = format!("metrics address {address} is not on loopback");
            return Err(self.error("metrics.listen", problem, fix));
        }
        Ok(address)
    }

    fn registry(&self, value: Option<String>) -> Result<RegistryConfig, ConfigError> {
        let value = value.unwrap_or_else(|| "kemqtt.db".to_owned());
        registry::parse(value).map_err(|(problem, fix)| self.error("registry", problem, fix))
    }

    fn suite(&self, name: Option<&str>) -> Result<Option<SuiteId>, ConfigError> {
        let parse = |name: &str| {
            let fix = "write a name such as \"x25519-ctrulight-ascon\" (see docs/kems.md)";
            name.parse()
                .map_err(|_| self.error("lowest_suite", format!("unknown suite `{name}`"), fix))
        };
        name.map(parse).transpose()
    }

    fn backend(&self, table: BackendTable) -> Result<BackendConfig, ConfigError> {
        let kind = table.kind.as_deref().unwrap_or("rumqttd");
        let guard = table.guard.unwrap_or(true);
        match kind {
            "rumqttd" => {
                if !guard {
                    let fix = "remove `guard = false`: the embedded broker must not face clients without it";
                    return Err(self.error("backend.guard", "`guard` cannot be switched off for rumqttd", fix));
                }
                if table.proxy_protocol {
                    let fix = "remove it: the embedded broker knows the addresses";
                    return Err(self.error("backend.proxy_protocol", "`proxy_protocol` is not for rumqttd", fix));
                }
                let (packet, connections) = (table.max_packet, table.max_connections);
                Ok(BackendConfig::Rumqttd {
                    max_packet: self.within(packet, "backend.max_packet", 1024, 256 << 20, 1 << 20)?,
                    max_connections: self.within(connections, "backend.max_connections", 1, 1 << 20, 10_000)?,
                })
            }
            "tcp" => {
                let address = table.address.ok_or_else(|| {
                    let fix = "add `address = \"127.0.0.1:1883\"` below `kind`";
                    self.error("backend.kind", "`kind = \"tcp\"` needs an `address`", fix)
                })?;
                if !table.trusted_network && !is_loopback(&address) {
                    let fix =
                        "put the broker on loopback, or write `trusted_network = true` if that network is yours alone";
                    let problem = format!("back end {address} is not on loopback: MQTT would travel there in clear");
                    return Err(self.error("backend.address", problem, fix));
                }
                Ok(BackendConfig::Tcp {
                    address,
                    guard,
                    proxy_protocol: table.proxy_protocol,
                })
            }
            "unix" => {
                let path = table.path.ok_or_else(|| {
                    let fix = "add `path = \"/run/mosquitto/mqtt.sock\"` below `kind`";
                    self.error("backend.kind", "`kind = \"unix\"` needs a `path`", fix)
                })?;
                Ok(BackendConfig::Unix {
                    path,
                    guard,
                    proxy_protocol: table.proxy_protocol,
                })
            }
            other => {
                let problem = format!("unknown back end `{other}`");
                Err(self.error("backend.kind", problem, "write \"rumqttd\", \"tcp\" or \"unix\""))
            }
        }
    }

    fn client_id(&self, value: Option<&str>) -> Result<ClientIdPolicy, ConfigError> {
        match value {
            None | Some("equal") => Ok(ClientIdPolicy::Equal),
            Some("prefix") => Ok(ClientIdPolicy::Prefix),
            Some("map") => Ok(ClientIdPolicy::Map),
            Some(other) => {
                let fix =
                    "write \"equal\", \"prefix\" (id or id/...) or \"map\" (the list given to `enroll --client-id`)";
                Err(self.error("identity.client_id", format!("unknown client id policy `{other}`"), fix))
            }
        }
    }

    fn user_form(&self, value: Option<&str>) -> Result<UserForm, ConfigError> {
        match value {
            None | Some("plain") => Ok(UserForm::Plain),
            Some("jid") => Ok(UserForm::Jid),
            Some(other) => {
                let problem = format!("unknown form of user names `{other}`");
                Err(self.error(
                    "identity.user_form",
                    problem,
                    "write \"plain\", or \"jid\" for ejabberd",
                ))
            }
        }
    }

    fn user_prefix(&self, value: Option<String>, form: UserForm) -> Result<String, ConfigError> {
        let prefix = value.unwrap_or_else(|| crate::policy::DEFAULT_USER_PREFIX.to_owned());
        if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(|b| b.is_ascii_graphic()) {
            let problem = format!("user_prefix `{prefix}` must be 1 to 64 printable ASCII characters without spaces");
            return Err(self.error("identity.user_prefix", problem, "write for example \"kem:\""));
        }
        if !form.allows_prefix(&prefix) {
            let problem = format!("user_prefix `{prefix}` cannot begin a JID");
            let fix = "write for example `user_prefix = \"kem.\"`: small letters, digits, `-`, `.` and `_`";
            return Err(self.error("identity.user_prefix", problem, fix));
        }
        Ok(prefix)
    }

    /// Those of all clients, and those of anonymous ones before them.
    fn topics(&self, table: TopicsTable) -> Result<(TopicRules, TopicRules), ConfigError> {
        let rules = |publish, subscribe, keys: [&str; 2]| {
            let rules = TopicRules { publish, subscribe };
            for (list, key) in [&rules.publish, &rules.subscribe].into_iter().zip(keys) {
                if let Some(filter) = list.iter().flatten().find(|filter| !is_rule(filter)) {
                    let fix = "write filters such as \"sensors/{id}/#\", without $share";
                    return Err(self.error(key, format!("`{filter}` is no topic filter for a rule"), fix));
                }
            }
            Ok(rules)
        };
        let keys = ["topics.publish", "topics.subscribe"];
        let every = || vec!["#".to_owned()];
        let publish = table.publish.unwrap_or_else(every);
        let subscribe = table.subscribe.unwrap_or_else(every);
        let topics = rules(Some(publish), Some(subscribe), keys)?;
        let keys = ["topics.anonymous_publish", "topics.anonymous_subscribe"];
        Ok((topics, rules(table.anonymous_publish, table.anonymous_subscribe, keys)?))
    }

    fn limits(&self, table: &LimitsTable) -> Result<Limits, ConfigError> {
        let base = Limits::default();
        let seconds = |value: Option<u64>, key, default: Duration| {
            self.within(value, key, 1, 3600, default.as_secs())
                .map(Duration::from_secs)
        };
        let (kib, most) = (base.half_open_bytes >> 10, 1 << 20);
        Ok(Limits {
            connections: self.within(table.connections, "limits.connections", 1, 1 << 20, base.connections)?,
            half_open: self.within(table.half_open, "limits.half_open", 1, 1 << 16, base.half_open)?,
            half_open_bytes: self.within(table.half_open_kib, "limits.half_open_kib", 64, 4 << 20, kib)? << 10,
            source_rate: self.within(table.source_rate, "limits.source_rate", 1, most, base.source_rate)?,
            source_burst: self.within(table.source_burst, "limits.source_burst", 1, most, base.source_burst)?,
            connect_timeout: seconds(
                table.connect_timeout_s,
                "limits.connect_timeout_s",
                base.connect_timeout,
            )?,
            m3_timeout: seconds(table.m3_timeout_s, "limits.m3_timeout_s", base.m3_timeout)?,
            backend_timeout: seconds(
                table.backend_timeout_s,
                "limits.backend_timeout_s",
                base.backend_timeout,
            )?,
            record: self.within(table.record, "limits.record", 64, 16_384, base.record)?,
            connect: self.within(table.connect, "limits.connect", 1024, 61_440, base.connect)?,
            workers: self.within(table.workers, "limits.workers", 1, 256, base.workers)?,
            ..base
        })
    }

    fn log(&self, table: LogTable) -> Result<LogConfig, ConfigError> {
        let format = match table.format.as_deref() {
            None | Some("text") => LogFormat::Text,
            Some("json") => LogFormat::Json,
            Some(other) => {
                let problem = format!("unknown log format `{other}`");
                return Err(self.error("log.format", problem, "write \"text\" or \"json\""));
            }
        };
        let filter = table.filter.unwrap_or_else(|| "info".to_owned());
        Ok(LogConfig { format, filter })
    }

    fn within<T>(&self, value: Option<T>, key: &str, low: T, high: T, default: T) -> Result<T, ConfigError>
    where
        T: Copy + PartialOrd + std::fmt::Display,
    {
        match value {
            None => Ok(default),
            Some(value) if (low..=high).contains(&value) => Ok(value),
            Some(value) => {
                let name = key.rsplit_once('.').map_or(key, |(_, name)| name);
                let problem = format!("`{name} = {value}` is out of range");
                Err(self.error(key, problem, format!("write a number from {low} to {high}")))
            }
        }
    }

    /// An error of the value at `key`, wherever it was written.
    fn error(&self, key: &str, problem: impl Into<String>, fix: impl Into<String>) -> ConfigError {
        match self.overrides.flag_of(key) {
            Some(flag) => at_flag(flag, problem, fix),
            None => ConfigError {
                place: self.name.to_owned(),
                line: self.line_of(key),
                problem: problem.into(),
                fix: fix.into(),
            },
        }
    }

    fn broken(&self, error: &toml::de::Error) -> ConfigError {
        ConfigError {
            place: self.name.to_owned(),
            line: error.span().map(|span| line_at(self.text, span.start)),
            problem: error.message().trim().replace('\n', "; "),
            fix: "compare with the output of `kemqtt-broker print-default-config`".to_owned(),
        }
    }

    /// One-based line of the value at `key`.
    fn line_of(&self, key: &str) -> Option<usize> {
        let document = DeTable::parse(self.text).ok()?;
        let mut table = document.get_ref();
        let mut span = 0..0;
        for name in key.split('.') {
            let (_, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
            span = value.span();
            if let Some(inner) = value.get_ref().as_table() {
                table = inner;
            }
        }
        Some(line_at(self.text, span.start))
    }
}

fn is_loopback(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => address.rsplit_once(':').is_some_and(|(host, _)| host == "localhost"),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&b| b == b'\n').count()
}
