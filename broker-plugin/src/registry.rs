//! Devices and keys of one realm in an SQLite file. Secrets are sealed under a key file beside it.

mod devices;
mod keys;
mod seal;
mod tickets;

use std::{io, path::Path, path::PathBuf, time::Duration};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

pub use devices::{Credential, Device, Enrolment, Modes};
pub use keys::{KeyState, StoredKey};
pub use seal::{SealError, SealKey};

/// An open registry. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    pool: SqlitePool,
    seal: std::sync::Arc<SealKey>,
}

impl Registry {
    /// Opens the registry file, which must exist, and brings its tables up to date.
    ///
    /// # Errors
    /// [`RegistryError`] if it is missing, unreadable or from a newer version.
    pub async fn open(path: &Path, seal: SealKey) -> Result<Self, RegistryError> {
        if !path.exists() {
            return Err(RegistryError::Missing(path.to_owned()));
        }
        Self::connect(SqliteConnectOptions::new().filename(path), seal).await
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
        Self::connect(SqliteConnectOptions::new().filename(path), seal).await
    }

    /// A registry in memory that ends with the process: for tests, demonstrations and embedders that enrol at start.
    ///
    /// # Errors
    /// [`RegistryError::Database`] if SQLite gives up.
    pub async fn in_memory() -> Result<Self, RegistryError> {
        let seal = SealKey::generate()?;
        let options = SqliteConnectOptions::new().in_memory(true);
        // A second connection would see another, empty database, and an idle one would be closed with all data.
        let pool = SqlitePoolOptions::new().min_connections(1).max_connections(1);
        let pool = pool.idle_timeout(None).max_lifetime(None).connect_with(options).await?;
        Self::migrate(pool, seal).await
    }

    /// Closes all database connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    async fn connect(options: SqliteConnectOptions, seal: SealKey) -> Result<Self, RegistryError> {
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(5))
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options)
            .await?;
        Self::migrate(pool, seal).await
    }

    async fn migrate(pool: SqlitePool, seal: SealKey) -> Result<Self, RegistryError> {
        sqlx::migrate!().run(&pool).await?;
        let registry = Self {
            pool,
            seal: std::sync::Arc::new(seal),
        };
        registry.check_seal().await?;
        Ok(registry)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

/// Why the registry could not answer.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The file is not there.
    #[error("registry {} does not exist; make it with `kemqtt-broker init`", .0.display())]
    Missing(PathBuf),
    /// `init` would overwrite a registry.
    #[error("{} exists already; choose another path or keep using it", .0.display())]
    Exists(PathBuf),
    /// The file system failed.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// The key file does not fit, or a sealed value was changed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// SQLite failed.
    #[error("registry database: {0}")]
    Database(#[from] sqlx::Error),
    /// The tables are not ours or are newer than this program.
    #[error("registry tables: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// Not an id that the protocol has.
    #[error("`{0}` is no device id: 1 to 32 printable ASCII characters without space, `/`, `+` and `#`")]
    DeviceId(String),
    /// The device id is enrolled already.
    #[error("device `{0}` is enrolled already; revoke it first or choose another id")]
    DuplicateId(String),
    /// The same credential belongs to another device.
    #[error("this credential already belongs to device `{0}`; every device needs its own")]
    SharedCredential(String),
    /// No such device.
    #[error("no device `{0}`; see `kemqtt-broker list`")]
    UnknownDevice(String),
    /// A realm has one current key per KEM and group.
    #[error("there is a current key of this kind already")]
    DuplicateKey,
    /// A stored value does not parse: another program wrote it.
    #[error("registry holds a damaged {0}")]
    Damaged(&'static str),
}
