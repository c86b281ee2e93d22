//! Where the registry is.

use std::{fmt, net::IpAddr, path::PathBuf};

use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// The kinds of registry.
#[derive(Clone, PartialEq, Eq)]
pub enum RegistryConfig {
    /// An SQLite file.
    File(PathBuf),
    /// The URL of a PostgreSQL database.
    Postgres(String),
}

impl fmt::Display for RegistryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => without_password(url).fmt(f),
        }
    }
}

impl fmt::Debug for RegistryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// A file, or a URL that leads to PostgreSQL without showing the registry to others. Errors are problem and fix.
pub(super) fn parse(value: String) -> Result<RegistryConfig, (String, &'static str)> {
    let Some((scheme, _)) = value.split_once("://") else {
        return Ok(RegistryConfig::File(value.into()));
    };
    if !matches!(scheme, "postgres" | "postgresql") {
        let fix = "write a file name, or postgres://user@host/database";
        return Err((format!("`{scheme}://` is no registry"), fix));
    }
    let shown = without_password(&value);
    let options: PgConnectOptions = value.parse().map_err(|_| {
        (
            format!("`{shown}` does not parse"),
            "write postgres://user@host/database",
        )
    })?;
    let local = options.get_socket().is_some() || is_local(options.get_host());
    let verified = matches!(options.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull);
    if local || verified {
        Ok(RegistryConfig::Postgres(value))
    } else {
        let fix = "append `?sslmode=verify-full&sslrootcert=FILE`, or reach it over loopback or a Unix socket";
        Err((format!("anybody on the way could change the registry at {shown}"), fix))
    }
}

fn is_local(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.starts_with('/') || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.split_once('@') {
        Some((login, place)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => url.to_owned(),
    }
}
