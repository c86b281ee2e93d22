//! The TOML file as it is written, and its checks.

use std::{net::SocketAddr, ops::Range, path::PathBuf, time::Duration};

use serde::Deserialize;
use toml::Spanned;

use super::{BackendConfig, Config, ConfigError, LogConfig, LogFormat, Overrides};
use crate::{limits::Limits, policy::ClientIdPolicy};

/// A commented file that holds every default.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

pub(super) fn parse(text: &str, name: &str, overrides: &Overrides) -> Result<Config, ConfigError> {
    let file: File = toml::from_str(text).map_err(|error| ConfigError {
        place: name.to_owned(),
        line: error.span().map(|span| line_of(text, &span)),
        problem: error.message().trim().replace('\n', "; "),
        fix: "compare with the output of `kemqtt-broker print-default-config`".to_owned(),
    })?;
    let source = Source { text, name };
    Checked {
        source: &source,
        overrides,
    }
    .config(file)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<Spanned<String>>,
    registry: Option<PathBuf>,
    seal_key: Option<PathBuf>,
    ticket_file: Option<PathBuf>,
    #[serde(default)]
    allow_anonymous: bool,
    #[serde(default)]
    backend: BackendTable,
    #[serde(default)]
    identity: IdentityTable,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    metrics: MetricsTable,
    #[serde(default)]
    log: LogTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackendTable {
    kind: Option<Spanned<String>>,
    address: Option<Spanned<String>>,
    path: Option<Spanned<PathBuf>>,
    guard: Option<bool>,
    trusted_network: Option<bool>,
    max_packet: Option<Spanned<usize>>,
    max_connections: Option<Spanned<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentityTable {
    client_id: Option<Spanned<String>>,
    user_prefix: Option<Spanned<String>>,
    password_file: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    connections: Option<Spanned<usize>>,
    half_open: Option<Spanned<usize>>,
    half_open_kib: Option<Spanned<usize>>,
    source_rate: Option<Spanned<u32>>,
    source_burst: Option<Spanned<u32>>,
    connect_timeout_s: Option<Spanned<u64>>,
    m3_timeout_s: Option<Spanned<u64>>,
    backend_timeout_s: Option<Spanned<u64>>,
    record: Option<Spanned<u16>>,
    connect: Option<Spanned<u16>>,
    workers: Option<Spanned<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricsTable {
    listen: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogTable {
    format: Option<Spanned<String>>,
    filter: Option<String>,
}

/// The text that spans point into.
struct Source<'a> {
    text: &'a str,
    name: &'a str,
}

impl Source<'_> {
    fn error(&self, span: Range<usize>, problem: impl Into<String>, fix: impl Into<String>) -> ConfigError {
        ConfigError {
            place: self.name.to_owned(),
            line: Some(line_of(self.text, &span)),
            problem: problem.into(),
            fix: fix.into(),
        }
    }
}

struct Checked<'a> {
    source: &'a Source<'a>,
    overrides: &'a Overrides,
}

impl Checked<'_> {
    fn config(&self, file: File) -> Result<Config, ConfigError> {
        let listen = self.address("--listen", &self.overrides.listen, file.listen.as_ref(), "listen")?;
        let metrics = self.address(
            "--metrics",
            &self.overrides.metrics,
            file.metrics.listen.as_ref(),
            "listen",
        )?;
        if let Some(address) = metrics
            && !address.ip().is_loopback()
        {
            return Err(self.elsewhere(
                "--metrics",
                self.overrides.metrics.is_some(),
                file.metrics.listen.as_ref().map(Spanned::span),
                format!("metrics address {address} is not on loopback"),
                "use 127.0.0.1 or [::1] and let a local agent scrape it",
            ));
        }
        Ok(Config {
            listen: listen.unwrap_or(SocketAddr::from(([0, 0, 0, 0], 1884))),
            registry: self
                .overrides
                .registry
                .clone()
                .or(file.registry)
                .unwrap_or_else(|| "kemqtt.db".into()),
            seal_key: self
                .overrides
                .seal_key
                .clone()
                .or(file.seal_key)
                .unwrap_or_else(|| "kemqtt.key".into()),
            allow_anonymous: self.overrides.allow_anonymous || file.allow_anonymous,
            backend: self.backend(file.backend)?,
            client_id: self.client_id(file.identity.client_id.as_ref())?,
            user_prefix: self.user_prefix(file.identity.user_prefix.as_ref())?,
            password_file: file.identity.password_file,
            ticket_file: file.ticket_file,
            limits: self.limits(&file.limits)?,
            metrics,
            log: self.log(file.log)?,
        })
    }

    fn address(
        &self,
        flag: &str,
        over: &Option<String>,
        file: Option<&Spanned<String>>,
        key: &str,
    ) -> Result<Option<SocketAddr>, ConfigError> {
        let fix = "write an address and a port, for example \"0.0.0.0:1884\" or \"[::]:1884\"";
        match (over, file) {
            (Some(text), _) => text
                .parse()
                .map(Some)
                .map_err(|_| at_flag(flag, format!("`{text}` is not an IP address with a port"), fix)),
            (None, Some(text)) => text.get_ref().parse().map(Some).map_err(|_| {
                let problem = format!("`{key} = \"{}\"` is not an IP address with a port", text.get_ref());
                self.source.error(text.span(), problem, fix)
            }),
            (None, None) => Ok(None),
        }
    }

    fn backend(&self, table: BackendTable) -> Result<BackendConfig, ConfigError> {
        if let Some(spec) = &self.overrides.backend {
            return backend_from_flag(spec, table.guard.unwrap_or(true));
        }
        let guard = table.guard.unwrap_or(true);
        let kind = table.kind.as_ref().map_or("rumqttd", |kind| kind.get_ref().as_str());
        let span = table.kind.as_ref().map_or(0..0, Spanned::span);
        match kind {
            "rumqttd" => {
                if table.guard == Some(false) {
                    let fix = "remove `guard = false`: the embedded broker must not face clients without it";
                    return Err(self
                        .source
                        .error(span, "`guard` cannot be switched off for rumqttd", fix));
                }
                Ok(BackendConfig::Rumqttd {
                    max_packet: self.within(table.max_packet.as_ref(), "max_packet", 1024, 256 << 20, 1 << 20)?,
                    max_connections: self.within(
                        table.max_connections.as_ref(),
                        "max_connections",
                        1,
                        1 << 20,
                        10_000,
                    )?,
                })
            }
            "tcp" => {
                let address = table.address.ok_or_else(|| {
                    let fix = "add `address = \"127.0.0.1:1883\"` below `kind`";
                    self.source
                        .error(span.clone(), "`kind = \"tcp\"` needs an `address`", fix)
                })?;
                let fix =
                    "put the broker on loopback, or write `trusted_network = true` if that network is yours alone";
                if !table.trusted_network.unwrap_or(false) && !is_loopback(address.get_ref()) {
                    let problem = format!(
                        "back end {} is not on loopback: MQTT would travel there in clear",
                        address.get_ref()
                    );
                    return Err(self.source.error(address.span(), problem, fix));
                }
                Ok(BackendConfig::Tcp {
                    address: address.into_inner(),
                    guard,
                })
            }
            "unix" => {
                let path = table.path.ok_or_else(|| {
                    let fix = "add `path = \"/run/mosquitto/mqtt.sock\"` below `kind`";
                    self.source.error(span.clone(), "`kind = \"unix\"` needs a `path`", fix)
                })?;
                Ok(BackendConfig::Unix {
                    path: path.into_inner(),
                    guard,
                })
            }
            other => {
                let problem = format!("unknown back end `{other}`");
                Err(self
                    .source
                    .error(span, problem, "write \"rumqttd\", \"tcp\" or \"unix\""))
            }
        }
    }

    fn client_id(&self, value: Option<&Spanned<String>>) -> Result<ClientIdPolicy, ConfigError> {
        match value.map(|v| (v.get_ref().as_str(), v.span())) {
            None | Some(("equal", _)) => Ok(ClientIdPolicy::Equal),
            Some(("prefix", _)) => Ok(ClientIdPolicy::Prefix),
            Some(("map", _)) => Ok(ClientIdPolicy::Map),
            Some((other, span)) => {
                let fix =
                    "write \"equal\", \"prefix\" (id or id/...) or \"map\" (the list given to `enroll --client-id`)";
                Err(self
                    .source
                    .error(span, format!("unknown client id policy `{other}`"), fix))
            }
        }
    }

    fn user_prefix(&self, value: Option<&Spanned<String>>) -> Result<String, ConfigError> {
        let Some(value) = value else {
            return Ok(crate::policy::DEFAULT_USER_PREFIX.to_owned());
        };
        let prefix = value.get_ref();
        if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(|b| b.is_ascii_graphic()) {
            let problem = format!("user_prefix `{prefix}` must be 1 to 64 printable ASCII characters without spaces");
            return Err(self.source.error(value.span(), problem, "write for example \"kem:\""));
        }
        Ok(prefix.clone())
    }

    fn limits(&self, table: &LimitsTable) -> Result<Limits, ConfigError> {
        let base = Limits::default();
        let seconds = |value: Option<&Spanned<u64>>, key, default: Duration| {
            self.within(value, key, 1, 3600, default.as_secs())
                .map(Duration::from_secs)
        };
        let half_open_kib = base.half_open_bytes >> 10;
        Ok(Limits {
            connections: self.within(table.connections.as_ref(), "connections", 1, 1 << 20, base.connections)?,
            half_open: self.within(table.half_open.as_ref(), "half_open", 1, 1 << 16, base.half_open)?,
            half_open_bytes: self.within(
                table.half_open_kib.as_ref(),
                "half_open_kib",
                64,
                4 << 20,
                half_open_kib,
            )? << 10,
            source_rate: self.within(table.source_rate.as_ref(), "source_rate", 1, 1 << 20, base.source_rate)?,
            source_burst: self.within(
                table.source_burst.as_ref(),
                "source_burst",
                1,
                1 << 20,
                base.source_burst,
            )?,
            connect_timeout: seconds(
                table.connect_timeout_s.as_ref(),
                "connect_timeout_s",
                base.connect_timeout,
            )?,
            m3_timeout: seconds(table.m3_timeout_s.as_ref(), "m3_timeout_s", base.m3_timeout)?,
            backend_timeout: seconds(
                table.backend_timeout_s.as_ref(),
                "backend_timeout_s",
                base.backend_timeout,
            )?,
            record: self.within(table.record.as_ref(), "record", 64, 16_384, base.record)?,
            connect: self.within(table.connect.as_ref(), "connect", 1024, 61_440, base.connect)?,
            workers: self.within(table.workers.as_ref(), "workers", 1, 256, base.workers)?,
            ..base
        })
    }

    fn log(&self, table: LogTable) -> Result<LogConfig, ConfigError> {
        let format = match table.format.as_ref().map(|f| (f.get_ref().as_str(), f.span())) {
            None | Some(("text", _)) => LogFormat::Text,
            Some(("json", _)) => LogFormat::Json,
            Some((other, span)) => {
                let problem = format!("unknown log format `{other}`");
                return Err(self.source.error(span, problem, "write \"text\" or \"json\""));
            }
        };
        Ok(LogConfig {
            format: self.overrides.log_format.unwrap_or(format),
            filter: self
                .overrides
                .log_filter
                .clone()
                .or(table.filter)
                .unwrap_or_else(|| "info".to_owned()),
        })
    }

    fn within<T>(&self, value: Option<&Spanned<T>>, key: &str, low: T, high: T, default: T) -> Result<T, ConfigError>
    where
        T: Copy + PartialOrd + std::fmt::Display,
    {
        match value {
            None => Ok(default),
            Some(value) if (low..=high).contains(value.get_ref()) => Ok(*value.get_ref()),
            Some(value) => {
                let problem = format!("`{key} = {}` is out of range", value.get_ref());
                Err(self
                    .source
                    .error(value.span(), problem, format!("write a number from {low} to {high}")))
            }
        }
    }

    fn elsewhere(
        &self,
        flag: &str,
        from_flag: bool,
        span: Option<Range<usize>>,
        problem: String,
        fix: &str,
    ) -> ConfigError {
        match span {
            Some(span) if !from_flag => self.source.error(span, problem, fix),
            _ => at_flag(flag, problem, fix),
        }
    }
}

fn backend_from_flag(spec: &str, guard: bool) -> Result<BackendConfig, ConfigError> {
    if spec == "rumqttd" {
        return Ok(BackendConfig::Rumqttd {
            max_packet: 1 << 20,
            max_connections: 10_000,
        });
    }
    if let Some(path) = spec.strip_prefix("unix:") {
        return Ok(BackendConfig::Unix {
            path: path.into(),
            guard,
        });
    }
    let fix = "write `rumqttd`, `tcp://127.0.0.1:1883` or `unix:/path/to/socket`";
    let Some(address) = spec.strip_prefix("tcp://") else {
        return Err(at_flag("--backend", format!("`{spec}` is no back end"), fix));
    };
    if !is_loopback(address) {
        let problem = format!("back end {address} is not on loopback: MQTT would travel there in clear");
        return Err(at_flag(
            "--backend",
            problem,
            "use the file's [backend] table with `trusted_network = true`",
        ));
    }
    Ok(BackendConfig::Tcp {
        address: address.to_owned(),
        guard,
    })
}

fn is_loopback(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().is_loopback(),
        Err(_) => address.rsplit_once(':').is_some_and(|(host, _)| host == "localhost"),
    }
}

fn at_flag(flag: &str, problem: String, fix: &str) -> ConfigError {
    ConfigError {
        place: flag.to_owned(),
        line: None,
        problem,
        fix: fix.to_owned(),
    }
}

/// One-based line of the first byte of `span`.
fn line_of(text: &str, span: &Range<usize>) -> usize {
    1 + text.bytes().take(span.start).filter(|&b| b == b'\n').count()
}
