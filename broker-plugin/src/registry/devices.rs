//! Enrolled devices.

use std::collections::{BTreeMap, HashMap};

use hybrid_handshake::identity::{DeviceId, Psk, PskLine};
use sqlx::{
    Row as _,
    any::{AnyQueryResult, AnyRow},
};
use zeroize::Zeroizing;

use super::{Registry, RegistryError, SealError, topics};
use crate::{clock::unix_now, policy::TopicRules};

/// Allowed handshake modes as a bit set: bit n stands for mode n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes(u8);

impl Modes {
    /// KEM-auth and its resumptions.
    pub const KEM: Self = Self(1 << 1 | 1 << 4);
    /// PSK-auth and its resumptions.
    pub const PSK: Self = Self(1 << 2 | 1 << 4);

    /// Whether mode `number` (1..=4) is in the set.
    #[must_use]
    pub const fn allow(self, number: u8) -> bool {
        number < 8 && self.0 & (1 << number) != 0
    }
}

/// What a device proves its identity with.
pub enum Credential {
    /// A static public key (mode 1): `kem | group | pk_P | gx_P`.
    Kem(Vec<u8>),
    /// A pre-shared key (mode 2).
    Psk(Zeroizing<[u8; 32]>),
}

impl Credential {
    /// Code in the registry, bytes, and the modes it is good for.
    fn parts(&self) -> (i64, &[u8], Modes) {
        match self {
            Self::Kem(key) => (KIND_KEM, key, Modes::KEM),
            Self::Psk(psk) => (KIND_PSK, psk.as_slice(), Modes::PSK),
        }
    }
}

/// One enrolled device.
pub struct Device {
    /// id_P.
    pub id: String,
    /// Its credential.
    pub credential: Credential,
    /// Grows with each change of the credential; bound into tickets.
    pub generation: u32,
    /// Revoked devices go on to fail inside M4.
    pub revoked: bool,
    /// Client ids allowed besides the id, with the `map` policy.
    pub client_ids: Vec<String>,
    /// Allowed modes.
    pub modes: Modes,
    /// Lowest suite id the device may use.
    pub lowest_suite: Option<u16>,
    /// Its own topic rules.
    pub topics: TopicRules,
    /// How often these were changed.
    pub rules: u32,
    /// Enrolment, Unix seconds.
    pub enrolled: u64,
    /// Last finished handshake, Unix seconds.
    pub last_seen: Option<u64>,
}

/// What is not secret about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// id_P.
    pub id: String,
    /// Whether its credential is a pre-shared key; else it is a static public key.
    pub psk: bool,
    /// Whether it is revoked.
    pub revoked: bool,
    /// Its own topic rules.
    pub topics: TopicRules,
    /// Enrolment, Unix seconds.
    pub enrolled: u64,
    /// Last finished handshake, Unix seconds.
    pub last_seen: Option<u64>,
}

/// What `enroll` stores.
pub struct Enrolment<'a> {
    /// id_P, already validated.
    pub id: &'a str,
    /// Its credential.
    pub credential: &'a Credential,
    /// Client ids allowed besides the id, with the `map` policy.
    pub client_ids: &'a [String],
    /// Lowest suite id the device may use.
    pub lowest_suite: Option<u16>,
    /// Its own topic rules; `None` for those of the configuration.
    pub topics: Option<&'a TopicRules>,
    /// Unix seconds.
    pub now: u64,
}

/// What sessions of a device are measured by.
pub(crate) struct Changed {
    /// id_P.
    pub(crate) id: String,
    /// The lowest generation of a credential that still counts.
    pub(crate) valid: u32,
    /// How often the topic rules were changed.
    pub(crate) rules: u32,
}

impl Registry {
    /// Enrols a device. One that was revoked may come back with this credential: its generation grows, so that tickets and
    /// sessions of the old one end.
    ///
    /// # Errors
    /// [`RegistryError::DuplicateId`], [`RegistryError::SharedCredential`], [`RegistryError::TopicFilter`], or the database's.
    pub async fn enroll(&self, new: Enrolment<'_>) -> Result<(), RegistryError> {
        let (publish, subscribe) = topics::columns(new.topics.unwrap_or(&TopicRules::default()))?;
        let (kind, secret, modes) = new.credential.parts();
        let fingerprint = self.seal.fingerprint(secret);
        let sealed = self.seal.seal(&[TABLE, new.id.as_bytes()], secret)?;
        let inserted = sqlx::query(
            "INSERT INTO devices (id, kind, sealed, fingerprint, client_ids, modes, lowest_suite, enrolled, \
             publish, subscribe) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, sealed = excluded.sealed, \
             fingerprint = excluded.fingerprint, client_ids = excluded.client_ids, modes = excluded.modes, \
             lowest_suite = excluded.lowest_suite, enrolled = excluded.enrolled, last_seen = NULL, \
             publish = excluded.publish, subscribe = excluded.subscribe, \
             generation = devices.generation + 1, revoked = 0 WHERE devices.revoked = 1",
        )
        .bind(new.id)
        .bind(kind)
        .bind(sealed)
        .bind(&fingerprint[..])
        .bind(new.client_ids.join("\n"))
        .bind(i64::from(modes.0))
        .bind(new.lowest_suite.map(i64::from))
        .bind(seconds(new.now))
        .bind(publish)
        .bind(subscribe)
        .execute(&self.pool)
        .await;
        match inserted {
            Ok(done) if done.rows_affected() == 1 => Ok(()),
            Ok(_) => Err(self.conflict(new.id, &fingerprint).await?),
            Err(error) if error.as_database_error().is_some_and(|e| e.is_unique_violation()) => {
                Err(self.conflict(new.id, &fingerprint).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Enrols `id` with a fresh pre-shared key and returns the device's line, `hkm1-psk ...`, a secret.
    ///
    /// # Errors
    /// [`RegistryError::DeviceId`] for an id that the protocol does not have, and as [`Registry::enroll`].
    pub async fn enroll_psk(&self, id: &str) -> Result<Zeroizing<String>, RegistryError> {
        let device = DeviceId::new(id).map_err(|_| RegistryError::DeviceId(id.to_owned()))?;
        let mut psk = Zeroizing::new([0; 32]);
        getrandom::fill(psk.as_mut_slice()).map_err(|_| SealError::Random)?;
        let line = PskLine {
            id: device,
            psk: Psk::from_bytes(*psk),
        };
        let mut text = Zeroizing::new(String::with_capacity(128));
        // Writing to a `String` cannot fail.
        let _ = line.write(&mut *text);
        let credential = Credential::Psk(psk);
        self.enroll(Enrolment {
            id,
            credential: &credential,
            client_ids: &[],
            lowest_suite: None,
            topics: None,
            now: unix_now(),
        })
        .await?;
        Ok(text)
    }

    /// The device `id`, revoked or not.
    ///
    /// # Errors
    /// The database's, or [`RegistryError::Damaged`].
    pub async fn device(&self, id: &str) -> Result<Option<Device>, RegistryError> {
        let row = sqlx::query("SELECT * FROM devices WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| self.read(&row)).transpose()
    }

    /// All devices by id.
    ///
    /// # Errors
    /// As [`Registry::device`].
    pub async fn devices(&self) -> Result<Vec<Device>, RegistryError> {
        let rows = sqlx::query("SELECT * FROM devices ORDER BY id")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| self.read(row)).collect()
    }

    /// Whether some enrolled device has this id or lists it as a client id.
    ///
    /// # Errors
    /// The database's.
    pub async fn is_reserved_client_id(&self, client_id: &str) -> Result<bool, RegistryError> {
        let found: Option<i64> = sqlx::query_scalar(
            "SELECT kind FROM devices WHERE id = $1 OR client_ids != '' \
             AND replace($2 || client_ids || $2, $2 || $1 || $2, '') != $2 || client_ids || $2 LIMIT 1",
        )
        .bind(client_id)
        .bind("\n")
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// Revokes a device; its sessions are refused from the next handshake on.
    ///
    /// # Errors
    /// [`RegistryError::UnknownDevice`], or the database's.
    pub async fn revoke(&self, id: &str) -> Result<(), RegistryError> {
        let done = sqlx::query("UPDATE devices SET revoked = 1 WHERE id = $1")
            .bind(id)
            .execute(&self.pool)
            .await?;
        one_device(&done, id)
    }

    /// The ids of revoked devices.
    ///
    /// # Errors
    /// The database's.
    pub async fn revoked(&self) -> Result<Vec<String>, RegistryError> {
        Ok(sqlx::query_scalar("SELECT id FROM devices WHERE revoked = 1")
            .fetch_all(&self.pool)
            .await?)
    }

    /// The devices that have changed since they were enrolled.
    ///
    /// # Errors
    /// The database's, or [`RegistryError::Damaged`].
    pub(crate) async fn changed(&self) -> Result<Vec<Changed>, RegistryError> {
        let query =
            "SELECT id, generation, revoked, rules FROM devices WHERE revoked = 1 OR generation > 1 OR rules > 0";
        let rows = sqlx::query(query).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                let generation: u32 = number(row, "generation")?;
                let revoked = row.try_get::<i64, _>("revoked")? != 0;
                Ok(Changed {
                    id: row.try_get("id")?,
                    valid: if revoked { u32::MAX } else { generation },
                    rules: number(row, "rules")?,
                })
            })
            .collect()
    }

    /// Notes when devices finished a handshake, in Unix seconds.
    ///
    /// # Errors
    /// The database's; then none is noted.
    pub async fn seen(&self, devices: &HashMap<String, u64>) -> Result<(), RegistryError> {
        let mut transaction = self.pool.begin().await?;
        // In one order: gateways that write the same rows must not wait for each other.
        for (id, time) in devices.iter().collect::<BTreeMap<_, _>>() {
            sqlx::query("UPDATE devices SET last_seen = $1 WHERE id = $2")
                .bind(seconds(*time))
                .bind(id)
                .execute(&mut *transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// All devices by id without their credentials, at most `limit` of them.
    ///
    /// # Errors
    /// The database's, or [`RegistryError::Damaged`].
    pub async fn overview(&self, limit: u32) -> Result<Vec<Overview>, RegistryError> {
        let query =
            "SELECT id, kind, revoked, publish, subscribe, enrolled, last_seen FROM devices ORDER BY id LIMIT $1";
        let rows = sqlx::query(query).bind(i64::from(limit)).fetch_all(&self.pool).await?;
        rows.iter()
            .map(|row| {
                Ok(Overview {
                    id: row.try_get("id")?,
                    psk: row.try_get::<i64, _>("kind")? == KIND_PSK,
                    revoked: row.try_get::<i64, _>("revoked")? != 0,
                    topics: topics::read(row)?,
                    enrolled: number(row, "enrolled")?,
                    last_seen: optional(row, "last_seen")?,
                })
            })
            .collect()
    }

    async fn conflict(&self, id: &str, fingerprint: &[u8]) -> Result<RegistryError, RegistryError> {
        let owner: Option<String> = sqlx::query_scalar("SELECT id FROM devices WHERE fingerprint = $1 AND id != $2")
            .bind(fingerprint)
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        Ok(match owner {
            Some(owner) => RegistryError::SharedCredential(owner),
            None => RegistryError::DuplicateId(id.to_owned()),
        })
    }

    fn read(&self, row: &AnyRow) -> Result<Device, RegistryError> {
        let id: String = row.try_get("id")?;
        let secret = self.seal.open(&[TABLE, id.as_bytes()], row.try_get("sealed")?)?;
        let kind: i64 = row.try_get("kind")?;
        let credential = match (kind, <[u8; 32]>::try_from(secret.as_slice())) {
            (KIND_KEM, _) => Credential::Kem(secret.to_vec()),
            (KIND_PSK, Ok(psk)) => Credential::Psk(Zeroizing::new(psk)),
            _ => return Err(RegistryError::Damaged("credential")),
        };
        let client_ids: String = row.try_get("client_ids")?;
        Ok(Device {
            id,
            credential,
            generation: number(row, "generation")?,
            revoked: row.try_get::<i64, _>("revoked")? != 0,
            client_ids: client_ids.lines().map(str::to_owned).collect(),
            modes: Modes(number(row, "modes")?),
            lowest_suite: optional(row, "lowest_suite")?,
            topics: topics::read(row)?,
            rules: number(row, "rules")?,
            enrolled: number(row, "enrolled")?,
            last_seen: optional(row, "last_seen")?,
        })
    }
}

/// [`RegistryError::UnknownDevice`] for a change that found no device.
pub(super) fn one_device(done: &AnyQueryResult, id: &str) -> Result<(), RegistryError> {
    if done.rows_affected() == 0 {
        Err(RegistryError::UnknownDevice(id.to_owned()))
    } else {
        Ok(())
    }
}

fn number<T: TryFrom<i64>>(row: &AnyRow, column: &'static str) -> Result<T, RegistryError> {
    T::try_from(row.try_get::<i64, _>(column)?).map_err(|_| RegistryError::Damaged(column))
}

fn optional<T: TryFrom<i64>>(row: &AnyRow, column: &'static str) -> Result<Option<T>, RegistryError> {
    let value: Option<i64> = row.try_get(column)?;
    value
        .map(|v| T::try_from(v).map_err(|_| RegistryError::Damaged(column)))
        .transpose()
}

/// The databases have signed integers only.
pub(super) fn seconds(unix: u64) -> i64 {
    i64::try_from(unix).unwrap_or(i64::MAX)
}

const TABLE: &[u8] = b"devices";
// The numbers of their modes.
const KIND_KEM: i64 = 1;
const KIND_PSK: i64 = 2;
