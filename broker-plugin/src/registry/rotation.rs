//! One broker key after the other.

use hybrid_handshake::identity::{Fingerprint, Kid};

use super::{KeyState, Registry, RegistryError, StoredKey, keys};

impl Registry {
    /// Notes the fingerprint of the key that follows the current key `kid`. Once: clients keep the first one they hear.
    ///
    /// # Errors
    /// [`RegistryError::SuccessorKnown`] if the key has one, or is not current.
    pub async fn set_successor(&self, kid: &Kid, successor: &Fingerprint) -> Result<(), RegistryError> {
        let done = sqlx::query(
            "UPDATE broker_keys SET successor = $1 WHERE kid = $2 AND successor IS NULL AND state = 'current'",
        )
        .bind(&successor.as_bytes()[..])
        .bind(&kid[..])
        .execute(&self.pool)
        .await?;
        if done.rows_affected() == 1 {
            Ok(())
        } else {
            Err(RegistryError::SuccessorKnown)
        }
    }

    /// Makes `new` the current key in the place of `old`, which retires. `now` is in Unix seconds.
    ///
    /// # Errors
    /// [`RegistryError::NotSuccessor`] unless `old` is current and has announced the fingerprint of `new`.
    pub async fn succeed(&self, old: &Kid, new: &StoredKey, now: u64) -> Result<(), RegistryError> {
        let fingerprint = keys::fingerprint(&new.public)?;
        let mut transaction = self.pool.begin().await?;
        let done = sqlx::query(
            "UPDATE broker_keys SET state = 'retiring' WHERE kid = $1 AND state = 'current' AND successor = $2",
        )
        .bind(&old[..])
        .bind(&fingerprint.as_bytes()[..])
        .execute(&mut *transaction)
        .await?;
        if done.rows_affected() != 1 {
            return Err(RegistryError::NotSuccessor);
        }
        self.insert_key(&mut transaction, new, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Forgets all retiring keys, with their private halves; gives their fingerprints. Clients that have not moved on by
    /// then need a new pin.
    ///
    /// # Errors
    /// The database's, or [`RegistryError::Damaged`].
    pub async fn retire(&self) -> Result<Vec<Fingerprint>, RegistryError> {
        let keys = self.broker_keys().await?;
        let retiring = keys.into_iter().filter(|key| key.state == KeyState::Retiring);
        let mut retired = Vec::new();
        for key in retiring {
            sqlx::query("DELETE FROM broker_keys WHERE kid = $1 AND state = 'retiring'")
                .bind(&key.kid[..])
                .execute(&self.pool)
                .await?;
            retired.push(keys::fingerprint(&key.public)?);
        }
        Ok(retired)
    }
}
