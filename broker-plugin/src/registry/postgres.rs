//! A registry in PostgreSQL, shared by several gateways.

use std::time::Duration;

use sqlx::{any::AnyPoolOptions, postgres::PgListener};
use tokio::time::sleep;

use super::{Registry, RegistryError, SealKey, Store};

impl Registry {
    /// Connects to a PostgreSQL database, `postgres://user@host/database`, and brings its tables up to date. All gateways
    /// of a realm need the same `seal` key.
    ///
    /// # Errors
    /// [`RegistryError`] if the server cannot be reached, or the tables are from a newer version or another realm.
    pub async fn postgres(url: &str, seal: SealKey) -> Result<Self, RegistryError> {
        sqlx::any::install_default_drivers();
        let pool = AnyPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(ACQUIRE)
            .connect(url)
            .await
            // The pool tries for as long as it may, and does not say what went wrong.
            .map_err(|error| match error {
                sqlx::Error::PoolTimedOut => RegistryError::Timeout,
                error => error.into(),
            })?;
        Self::migrate(pool, seal, Store::Postgres(url.into())).await
    }

    /// Tells when another gateway, or a command, changed what gateways keep in memory. Only PostgreSQL can; with SQLite
    /// it never does.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes {
            store: self.store.clone(),
            listener: None,
        }
    }
}

/// See [`Registry::changes`].
pub struct Changes {
    store: Store,
    listener: Option<PgListener>,
}

impl Changes {
    /// Waits until devices, broker keys or ticket keys may have changed. Also returns when a lost connection to the
    /// server is back, since changes may have been missed. May be dropped at any time.
    pub async fn next(&mut self) {
        let Store::Postgres(url) = &self.store else {
            return std::future::pending().await;
        };
        loop {
            if let Some(listener) = &mut self.listener {
                match listener.try_recv().await {
                    Ok(Some(_)) => return,
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, "registry: notifications"),
                }
                self.listener = None;
            }
            match listen(url).await {
                Ok(listener) => {
                    self.listener = Some(listener);
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "registry: cannot listen for changes");
                    sleep(RETRY).await;
                }
            }
        }
    }
}

async fn listen(url: &str) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// As in the migrations.
const CHANNEL: &str = "kemqtt";
const ACQUIRE: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_secs(1);
