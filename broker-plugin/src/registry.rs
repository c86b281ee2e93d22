//! Devices and keys of one realm: in an SQLite file, or in PostgreSQL where several gateways share them. Secrets are
//! sealed under a key file that the database never sees.

mod devices;
mod keys;
mod postgres;
mod rotation;
mod seal;
mod sqlite;
mod tickets;
mod topics;

use std::{io, path::PathBuf, sync::Arc};

use sqlx::AnyPool;

pub(crate) use devices::Changed;
pub use devices::{Credential, Device, Enrolment, Modes, Overview};
pub use keys::{KeyState, StoredKey};
pub use postgres::Changes;
pub use seal::{SealError, SealKey, write_private};

/// An open registry. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    pool: AnyPool,
    seal: Arc<SealKey>,
    store: Store,
}

/// The kind of database.
#[derive(Clone)]
enum Store {
    Sqlite,
    /// With its URL.
    Postgres(Arc<str>),
}

impl Registry {
    /// Closes all database connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// The key that seals secrets outside of the tables too.
    pub(crate) fn seal(&self) -> &SealKey {
        &self.seal
    }

    async fn migrate(pool: AnyPool, seal: SealKey, store: Store) -> Result<Self, RegistryError> {
        let migrations = match &store {
            Store::Sqlite => sqlx::migrate!("migrations/sqlite"),
            Store::Postgres(_) => sqlx::migrate!("migrations/postgres"),
        };
        migrations.run(&pool).await?;
        let registry = Self {
            pool,
            seal: Arc::new(seal),
            store,
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
    /// The database does not answer in time.
    #[error("registry database does not answer in time; check that it runs, and that its address is right")]
    Timeout,
    /// The database failed.
    #[error("registry database: {0}")]
    Database(sqlx::Error),
    /// The tables are not ours or are newer than this program.
    #[error("registry tables: {0}")]
    Migrate(sqlx::migrate::MigrateError),
    /// Not an id that the protocol has.
    #[error("`{0}` is no device id: 1 to 32 printable ASCII characters without space, `/`, `+` and `#`")]
    DeviceId(String),
    /// The device id is enrolled already.
    #[error("device `{0}` is enrolled already; revoke it first or choose another id")]
    DuplicateId(String),
    /// The same credential belongs to another device.
    #[error("this credential already belongs to device `{0}`; every device needs its own")]
    SharedCredential(String),
    /// Not a filter that can be a rule.
    #[error("`{0}` is no topic filter for a rule; write one such as `sensors/{{id}}/#`, without `$share`")]
    TopicFilter(String),
    /// No such device.
    #[error("no device `{0}`; see `kemqtt-broker list`")]
    UnknownDevice(String),
    /// A realm has one current key per KEM and group.
    #[error("there is a current key of this kind already; `kemqtt-broker rotate-key` goes on to its successor")]
    DuplicateKey,
    /// No such broker key.
    #[error("no such broker key")]
    UnknownKey,
    /// Clients keep the first successor that they hear of, so there is no second one.
    #[error("this broker key has a successor already, or is not current")]
    SuccessorKnown,
    /// Clients follow only to the announced key.
    #[error("this is not the key that was announced as the successor of the current one")]
    NotSuccessor,
    /// A stored value does not parse: another program wrote it.
    #[error("registry holds a damaged {0}")]
    Damaged(&'static str),
}

// Not as `source`: the message has the cause already, and who prints both would say it twice.
impl From<sqlx::Error> for RegistryError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<sqlx::migrate::MigrateError> for RegistryError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self::Migrate(error)
    }
}
