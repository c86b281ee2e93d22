//! Where local clients connect.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// A local address: `tcp:HOST:PORT` or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP host and port; port 0 takes a free one.
    Tcp {
        /// Host name or IP address, without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket; only its owner can connect.
    Unix(PathBuf),
}

impl Endpoint {
    /// Whether other machines may reach it. A host name other than `localhost` counts as reachable.
    pub fn is_remote(&self) -> bool {
        match self {
            Self::Unix(_) => false,
            Self::Tcp { host, .. } => match host.parse::<IpAddr>() {
                Ok(address) => !address.is_loopback(),
                Err(_) => host != "localhost",
            },
        }
    }
}

impl FromStr for Endpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err("the path of the Unix socket is missing")
            } else {
                Ok(Self::Unix(path.into()))
            };
        }
        let Some(address) = text.strip_prefix("tcp:") else {
            return Err("write tcp:HOST:PORT or unix:PATH, such as tcp:127.0.0.1:1883");
        };
        let (host, port) = address
            .rsplit_once(':')
            .ok_or("the port is missing, such as tcp:127.0.0.1:1883")?;
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err("the host is missing, such as tcp:127.0.0.1:1883");
        }
        Ok(Self::Tcp {
            host: host.into(),
            port: port.parse().map_err(|_| "the port is a number up to 65535")?,
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_reads_back_what_it_prints() {
        for text in [
            "tcp:127.0.0.1:1883",
            "tcp:[::1]:1883",
            "tcp:localhost:0",
            "unix:/run/mqtt.sock",
        ] {
            assert_eq!(text.parse::<Endpoint>().expect(text).to_string(), text);
        }
        for text in ["", "127.0.0.1:1883", "tcp:1883", "tcp::1883", "tcp:host:65536", "unix:"] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_is_local() {
        for (text, remote) in [
            ("tcp:127.0.0.1:1", false),
            ("tcp:127.9.9.9:1", false),
            ("tcp:[::1]:1", false),
            ("tcp:localhost:1", false),
            ("unix:x", false),
            ("tcp:0.0.0.0:1", true),
            ("tcp:[::]:1", true),
            ("tcp:10.0.0.1:1", true),
            ("tcp:gateway:1", true),
        ] {
            assert_eq!(text.parse::<Endpoint>().expect(text).is_remote(), remote, "{text}");
        }
    }
}
