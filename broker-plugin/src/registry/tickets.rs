//! Ticket keys: a fresh one a day, the one before it still opens.

use hybrid_handshake::resume::TicketKey;
use sqlx::{Row as _, any::AnyRow};
use zeroize::{Zeroize as _, Zeroizing};

use super::{Registry, RegistryError, SealError, Store, devices::seconds};

impl Registry {
    /// The key that seals tickets now and the one before it. Makes a new one when the newest is a day old; gateways that
    /// share the registry agree on it. A key of more than a day ahead is from a clock that went wrong, and goes.
    ///
    /// # Errors
    /// The database's, no randomness, or [`RegistryError::Damaged`].
    pub async fn ticket_keys(&self, now: u64) -> Result<(TicketKey, Option<TicketKey>), RegistryError> {
        // Without writing where nothing is due: a write would wake every gateway, and each of them would look again.
        let rows = sqlx::query(SELECT).fetch_all(&self.pool).await?;
        if is_fresh(&rows, now)? {
            return self.open_keys(&rows);
        }
        let rows = self.renew(now).await?;
        self.open_keys(&rows)
    }

    /// Makes a key, unless another gateway was faster, and drops those that no longer open.
    async fn renew(&self, now: u64) -> Result<Vec<AnyRow>, RegistryError> {
        let mut fresh = Zeroizing::new([0; TicketKey::LEN]);
        getrandom::fill(fresh.as_mut_slice()).map_err(|_| SealError::Random)?;
        let key = TicketKey::from_bytes(*fresh);
        let id = key.id();
        let sealed = self.seal.seal(&[TABLE, &id], key.expose())?;
        let mut transaction = self.pool.begin().await?;
        if matches!(self.store, Store::Postgres(_)) {
            // Without it two gateways would both see no fresh key. SQLite has one writer at a time anyway.
            sqlx::query("LOCK TABLE ticket_keys IN EXCLUSIVE MODE")
                .execute(&mut *transaction)
                .await?;
        }
        sqlx::query("DELETE FROM ticket_keys WHERE created > $1")
            .bind(seconds(now.saturating_add(LIFE_S)))
            .execute(&mut *transaction)
            .await?;
        let mut rows = sqlx::query(SELECT).fetch_all(&mut *transaction).await?;
        if !is_fresh(&rows, now)? {
            sqlx::query("INSERT INTO ticket_keys (key_id, sealed, created) VALUES ($1, $2, $3)")
                .bind(&id[..])
                .bind(sealed)
                .bind(seconds(now))
                .execute(&mut *transaction)
                .await?;
            sqlx::query("DELETE FROM ticket_keys WHERE key_id NOT IN (SELECT key_id FROM ticket_keys ORDER BY created DESC, rowid DESC LIMIT 2)")
                .execute(&mut *transaction)
                .await?;
            rows = sqlx::query(SELECT).fetch_all(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(rows)
    }

    fn open_keys(&self, rows: &[AnyRow]) -> Result<(TicketKey, Option<TicketKey>), RegistryError> {
        let mut keys = rows.iter().map(|row| {
            let id: Vec<u8> = row.try_get("key_id")?;
            let opened = self.seal.open(&[TABLE, &id], row.try_get("sealed")?)?;
            let mut bytes =
                <[u8; 32]>::try_from(opened.as_slice()).map_err(|_| RegistryError::Damaged("ticket key"))?;
            let key = TicketKey::from_bytes(bytes);
            bytes.zeroize();
            Ok::<_, RegistryError>(key)
        });
        let current = keys.next().ok_or(RegistryError::Damaged("ticket key"))??;
        Ok((current, keys.next().transpose()?))
    }
}

/// Whether the newest key is of the last day, and not of a day to come.
fn is_fresh(rows: &[AnyRow], now: u64) -> Result<bool, RegistryError> {
    let Some(newest) = rows.first() else {
        return Ok(false);
    };
    let created: i64 = newest.try_get("created")?;
    Ok(created > seconds(now.saturating_sub(LIFE_S)) && created <= seconds(now.saturating_add(LIFE_S)))
}

/// The newest first.
const SELECT: &str = "SELECT key_id, sealed, created FROM ticket_keys ORDER BY created DESC, rowid DESC";
const TABLE: &[u8] = b"ticket_keys";
/// Seconds between two keys.
const LIFE_S: u64 = 24 * 60 * 60;
