//! A registry in an SQLite file, or in memory.

use std::{fmt::Write as _, fs, io, path::Path, path::absolute, time::Duration};

use sqlx::{
    Executor as _,
    any::{AnyConnectOptions, AnyPoolOptions},
};

use super::{Registry, RegistryError, SealKey, Store, seal};

impl Registry {
    /// Opens the registry file, which must exist, and brings its tables up to date.
    ///
    /// # Errors
    /// [`RegistryError`] if it is missing, unreadable or from a newer version.
    pub async fn open(path: &Path, seal: SealKey) -> Result<Self, RegistryError> {
        if !path.exists() {
            return Err(RegistryError::Missing(path.to_owned()));
        }
        connect(path, seal).await
    }

    /// Makes a new registry file, readable by its owner only.
    ///
    /// # Errors
    /// [`RegistryError::Exists`] if the file is there already.
    pub async fn create(path: &Path, seal: SealKey) -> Result<Self, RegistryError> {
        seal::create_private(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => RegistryError::Exists(path.to_owned()),
            _ => RegistryError::Io(path.to_owned(), error),
        })?;
        connect(path, seal).await.inspect_err(|_| {
            // Tables without their secrets, such as a full disk leaves them, would only be in the way of the next try.
            for suffix in ["", "-wal", "-shm"] {
                let mut file = path.as_os_str().to_owned();
                file.push(suffix);
                let _ = fs::remove_file(file);
            }
        })
    }

    /// A registry in memory that ends with the process: for tests, demonstrations and embedders that enrol at start.
    ///
    /// # Errors
    /// [`RegistryError::Database`] if SQLite gives up.
    pub async fn in_memory() -> Result<Self, RegistryError> {
        sqlx::any::install_default_drivers();
        let seal = SealKey::generate()?;
        // A second connection would see another, empty database, and an idle one would be closed with all data.
        let pool = AnyPoolOptions::new().min_connections(1).max_connections(1);
        let pool = pool
            .idle_timeout(None)
            .max_lifetime(None)
            .connect("sqlite::memory:")
            .await?;
        Self::migrate(pool, seal, Store::Sqlite).await
    }
}

async fn connect(path: &Path, seal: SealKey) -> Result<Registry, RegistryError> {
    sqlx::any::install_default_drivers();
    let pool = AnyPoolOptions::new()
        .max_connections(4)
        // A file does not hang up; to ask first whether it is there doubles the time of a query.
        .test_before_acquire(false)
        .acquire_timeout(ACQUIRE)
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection
                    .execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
                    .await
                    .map(drop)
            })
        })
        .connect_with(options(path)?)
        .await?;
    Registry::migrate(pool, seal, Store::Sqlite).await
}

/// The file as a URL, which is what the driver takes: absolute, and with every unusual byte escaped.
fn options(path: &Path) -> Result<AnyConnectOptions, RegistryError> {
    let file = absolute(path).map_err(|error| RegistryError::Io(path.to_owned(), error))?;
    let mut url = String::from("sqlite://");
    for &byte in file.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url.push_str("?mode=rw");
    Ok(url.parse()?)
}

/// A file that does not open, such as on a full disk, is tried again until then.
const ACQUIRE: Duration = Duration::from_secs(3);
