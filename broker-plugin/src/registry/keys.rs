//! The realm's own keys: broker keys and single secrets.

use hybrid_handshake::identity::{BrokerKey, Fingerprint};
use sqlx::{Any, Row as _, Transaction};
use zeroize::Zeroizing;

use super::{Registry, RegistryError, SealError, devices::seconds};

/// Where a broker key stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Given out to new clients.
    Current,
    /// Still accepted.
    Retiring,
}

impl KeyState {
    const fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Retiring => "retiring",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Current, Self::Retiring]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// A broker key with its private half.
pub struct StoredKey {
    /// kid_B.
    pub kid: [u8; 8],
    /// kem | group | pk_B | gx_B.
    pub public: Vec<u8>,
    /// The private half, in the layout of the caller.
    pub secret: Zeroizing<Vec<u8>>,
    /// Its place in the rotation.
    pub state: KeyState,
    /// h0 of the key after this one, if it has been made: its private half is not in the registry.
    pub successor: Option<Fingerprint>,
}

impl Registry {
    /// Adds a broker key.
    ///
    /// # Errors
    /// [`RegistryError::DuplicateKey`] if it is to be current and there is a current key of the same KEM and group.
    pub async fn add_broker_key(&self, key: &StoredKey, now: u64) -> Result<(), RegistryError> {
        let mut transaction = self.pool.begin().await?;
        self.insert_key(&mut transaction, key, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    pub(super) async fn insert_key(
        &self,
        transaction: &mut Transaction<'_, Any>,
        key: &StoredKey,
        now: u64,
    ) -> Result<(), RegistryError> {
        let sealed = self.seal.seal(&[BROKER_KEYS, &key.kid], &key.secret)?;
        if key.state == KeyState::Current {
            let kind = key.public.get(..2).ok_or(RegistryError::Damaged("broker key"))?;
            let taken: Option<i64> = sqlx::query_scalar(
                "SELECT created FROM broker_keys WHERE state = 'current' AND substr(public, 1, 2) = $1 LIMIT 1",
            )
            .bind(kind)
            .fetch_optional(&mut **transaction)
            .await?;
            if taken.is_some() {
                return Err(RegistryError::DuplicateKey);
            }
        }
        sqlx::query(
            "INSERT INTO broker_keys (kid, public, sealed, state, successor, created) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(&key.kid[..])
        .bind(&key.public)
        .bind(sealed)
        .bind(key.state.name())
        .bind(key.successor.map(|successor| successor.as_bytes().to_vec()))
        .bind(seconds(now))
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }

    /// All broker keys, oldest first.
    ///
    /// # Errors
    /// The database's, or [`RegistryError::Damaged`].
    pub async fn broker_keys(&self) -> Result<Vec<StoredKey>, RegistryError> {
        let rows = sqlx::query("SELECT * FROM broker_keys ORDER BY created, rowid")
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                let kid: Vec<u8> = row.try_get("kid")?;
                let kid = <[u8; 8]>::try_from(kid.as_slice()).map_err(|_| RegistryError::Damaged("broker key"))?;
                let state: String = row.try_get("state")?;
                let successor: Option<Vec<u8>> = row.try_get("successor")?;
                let successor = successor.map(|bytes| <[u8; Fingerprint::LEN]>::try_from(bytes.as_slice()));
                let successor = successor
                    .transpose()
                    .map_err(|_| RegistryError::Damaged("broker key"))?;
                Ok(StoredKey {
                    kid,
                    public: row.try_get("public")?,
                    secret: self.seal.open(&[BROKER_KEYS, &kid], row.try_get("sealed")?)?,
                    state: KeyState::parse(&state).ok_or(RegistryError::Damaged("broker key"))?,
                    successor: successor.map(Fingerprint::from_bytes),
                })
            })
            .collect()
    }

    /// The realm's decoy secret D, made when first asked for.
    ///
    /// # Errors
    /// The database's, or no randomness.
    pub async fn decoy_secret(&self) -> Result<Zeroizing<[u8; 32]>, RegistryError> {
        self.secret_or_random("decoy").await
    }

    /// Fails with [`SealError::Sealed`] if the key file belongs to another registry.
    pub(super) async fn check_seal(&self) -> Result<(), RegistryError> {
        self.decoy_secret().await.map(drop)
    }

    async fn secret_or_random(&self, name: &str) -> Result<Zeroizing<[u8; 32]>, RegistryError> {
        let stored = match self.value(name).await? {
            Some(stored) => stored,
            None => {
                let mut fresh = Zeroizing::new([0; 32]);
                getrandom::fill(fresh.as_mut_slice()).map_err(|_| SealError::Random)?;
                self.value_or(name, fresh.as_slice()).await?
            }
        };
        let secret = <[u8; 32]>::try_from(stored.as_slice()).map_err(|_| RegistryError::Damaged("secret"))?;
        Ok(Zeroizing::new(secret))
    }

    /// A single value of the realm.
    pub(crate) async fn value(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, RegistryError> {
        let stored: Option<Vec<u8>> = sqlx::query_scalar("SELECT sealed FROM secrets WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(stored
            .map(|stored| self.seal.open(&[SECRETS, name.as_bytes()], &stored))
            .transpose()?)
    }

    /// Stores a single value unless there is one already; returns the one that counts.
    pub(crate) async fn value_or(&self, name: &str, value: &[u8]) -> Result<Zeroizing<Vec<u8>>, RegistryError> {
        let sealed = self.seal.seal(&[SECRETS, name.as_bytes()], value)?;
        // Two gateways may come first at the same time; the one that is stored counts for both.
        sqlx::query("INSERT INTO secrets (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(name)
            .bind(sealed)
            .execute(&self.pool)
            .await?;
        self.value(name).await?.ok_or(RegistryError::Damaged("secret"))
    }
}

/// h0 of a key in its encoding.
pub(super) fn fingerprint(public: &[u8]) -> Result<Fingerprint, RegistryError> {
    let key = BrokerKey::parse(public).map_err(|_| RegistryError::Damaged("broker key"))?;
    Ok(*key.fingerprint())
}

const BROKER_KEYS: &[u8] = b"broker_keys";
const SECRETS: &[u8] = b"secrets";
