//! Key pairs of a broker: made, stored, loaded.

use std::{collections::HashMap, sync::Arc};

use hybrid_handshake::{
    Error,
    dh::DhSecret,
    drbg::Drbg,
    identity::{BrokerKey, BrokerKeyPair, BrokerLine, Fingerprint, Kid, generate_key},
    suite::{AnyKem, Group, KemId, KemScheme as _},
};
use tokio::sync::watch;
use zeroize::{Zeroize as _, Zeroizing};

use crate::{
    Metrics,
    clock::unix_now,
    registry::{KeyState, Registry, RegistryError, StoredKey},
};

/// A broker key that was checked when it was loaded; its secrets are wiped with the last user.
pub(crate) type KeyPair = BrokerKeyPair<Zeroizing<Vec<u8>>>;

/// The broker keys of a front, kept fresh while it runs.
pub(crate) struct Keys(watch::Sender<Arc<KeyRing>>);

/// The broker keys that a front accepts.
pub(crate) struct KeyRing(HashMap<Kid, Entry>);

/// A key, and its place in the rotation.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) pair: Arc<KeyPair>,
    pub(crate) public: Arc<[u8]>,
    pub(crate) state: KeyState,
    pub(crate) successor: Option<Fingerprint>,
}

impl Keys {
    /// Loads and checks every key of the realm.
    pub(crate) async fn load(registry: &Registry) -> Result<Self, KeyError> {
        let ring = KeyRing::load(registry, &KeyRing(HashMap::new())).await?;
        Ok(Self(watch::Sender::new(Arc::new(ring))))
    }

    /// The key that a client names.
    pub(crate) fn get(&self, kid: &Kid) -> Option<Entry> {
        self.0.borrow().get(kid).cloned()
    }

    /// Loads the keys again, tells the sessions if something is new, and says so. A registry that fails leaves them as
    /// they are.
    pub(crate) async fn refresh(&self, registry: &Registry, metrics: &Metrics) -> bool {
        let known = self.0.borrow().clone();
        match KeyRing::load(registry, &known).await {
            Ok(ring) => self.0.send_if_modified(|known| {
                let changed = !known.is_like(&ring);
                if changed {
                    tracing::info!("broker keys have changed");
                    *known = Arc::new(ring);
                }
                changed
            }),
            Err(error) => {
                tracing::warn!(%error, "broker keys stay as they are");
                metrics.registry_failed("broker-keys");
                false
            }
        }
    }

    /// The keys now, and whenever they change.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<KeyRing>> {
        self.0.subscribe()
    }
}

impl KeyRing {
    pub(crate) fn get(&self, kid: &Kid) -> Option<&Entry> {
        self.0.get(kid)
    }

    /// The public half of the key with this fingerprint.
    pub(crate) fn public(&self, fingerprint: &Fingerprint) -> Option<&[u8]> {
        let entry = self.0.get(&fingerprint.kid())?;
        (entry.pair.fingerprint() == fingerprint).then_some(&*entry.public)
    }

    /// Checks only what is not in `known`: that takes longer than loading.
    async fn load(registry: &Registry, known: &Self) -> Result<Self, KeyError> {
        let mut ring = HashMap::new();
        for stored in registry.broker_keys().await? {
            let (kid, state, successor) = (stored.kid, stored.state, stored.successor);
            let public: Arc<[u8]> = stored.public.as_slice().into();
            let pair = match known.0.get(&kid).filter(|known| known.public == public) {
                Some(known) => known.pair.clone(),
                None => Arc::new(load(stored)?),
            };
            let entry = Entry {
                pair,
                public,
                state,
                successor,
            };
            ring.insert(kid, entry);
        }
        if ring.is_empty() {
            Err(KeyError::None)
        } else {
            Ok(Self(ring))
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let same = |(kid, entry): (&Kid, &Entry)| {
            let other = other.0.get(kid);
            other.is_some_and(|other| other.state == entry.state && other.successor == entry.successor)
        };
        self.0.len() == other.0.len() && self.0.iter().all(same)
    }
}

impl Registry {
    /// Makes a broker key and stores it as the current one of its kind. Returns the line that clients pin,
    /// `hkm1-broker ...`.
    ///
    /// # Errors
    /// [`KeyError::Crypto`] for a KEM or group that a broker key cannot have, or the registry's.
    pub async fn generate_broker_key(&self, kem: KemId, group: Group) -> Result<String, KeyError> {
        let (public, secret) = generate(kem, group)?;
        let key = BrokerKey::parse(&public)?;
        let (line, kid) = (BrokerLine { key, successor: None }.to_string(), key.kid());
        let stored = StoredKey {
            kid,
            public,
            secret,
            state: KeyState::Current,
            successor: None,
        };
        self.add_broker_key(&stored, unix_now()).await?;
        Ok(line)
    }

    /// The line that clients pin for each current broker key, oldest first, with the fingerprint of its successor.
    ///
    /// # Errors
    /// As [`Registry::broker_keys`].
    pub async fn broker_lines(&self) -> Result<Vec<String>, RegistryError> {
        let keys = self.broker_keys().await?;
        let current = keys.iter().filter(|key| key.state == KeyState::Current);
        current
            .map(|stored| match BrokerKey::parse(&stored.public) {
                Ok(key) => Ok(BrokerLine {
                    key,
                    successor: stored.successor,
                }
                .to_string()),
                Err(_) => Err(RegistryError::Damaged("broker key")),
            })
            .collect()
    }
}

/// Why there are no keys to work with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// `init` has not run.
    #[error("the registry has no broker key; run `kemqtt-broker init`")]
    None,
    /// A key is damaged, or its KEM or group cannot be used here.
    #[error("broker key: {0}")]
    Crypto(#[from] Error),
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// The public half of a key of no device.
pub(crate) fn decoy(kem: KemId, group: Group) -> Result<Vec<u8>, Error> {
    generate(kem, group).map(|(public, _)| public)
}

/// `kem | group | pk | gx`, and `dk | x`.
pub(crate) fn generate(kem: KemId, group: Group) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), Error> {
    let scheme = AnyKem::new(kem).ok_or(Error::Unsupported)?;
    let mut public = vec![0; 2 + kem.ek_len() + group.share_len()];
    let mut secret = Zeroizing::new(vec![0; scheme.dk_len() + DhSecret::LEN]);
    let (dk, x_bytes) = secret.split_at_mut(scheme.dk_len());
    let x = generate_key(scheme, group, &mut fresh_drbg()?, &mut public, dk)?;
    x_bytes.copy_from_slice(x.expose());
    Ok((public, secret))
}

fn load(stored: StoredKey) -> Result<KeyPair, Error> {
    let (dk, x) = stored
        .secret
        .split_last_chunk::<{ DhSecret::LEN }>()
        .ok_or(Error::Rejected)?;
    KeyPair::new(stored.public.into(), dk.to_vec().into(), DhSecret::from_bytes(*x))
}

/// The generator of one connection or key.
pub(crate) fn fresh_drbg() -> Result<Drbg, Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::Generator)?;
    let drbg = Drbg::broker(&seed);
    seed.zeroize();
    Ok(drbg)
}
