//! Public keys of no device: what mode 1 shows for an id that is not enrolled.

use std::collections::HashMap;

use hybrid_handshake::{
    Error,
    identity::PublicKey,
    suite::{Group, KemId, SuiteId},
};

use crate::{
    Registry,
    keys::{self, KeyError},
};

/// One key per KEM and group; the private halves are thrown away.
pub(super) struct Decoys(HashMap<(KemId, Group), Vec<u8>>);

impl Decoys {
    /// Loads the realm's keys for `suites`, and makes those that are missing: a probe has to see the same key each time.
    pub(super) async fn load(registry: &Registry, suites: impl Iterator<Item = SuiteId>) -> Result<Self, KeyError> {
        let mut decoys = HashMap::new();
        for suite in suites {
            let kind = (suite.kem(), suite.group());
            if decoys.contains_key(&kind) {
                continue;
            }
            let name = format!("decoy-key-{:02x}{:02x}", kind.0.code(), kind.1.code());
            let key = match registry.value(&name).await? {
                Some(key) => key,
                None => registry.value_or(&name, &keys::decoy(kind.0, kind.1)?).await?,
            };
            decoys.insert(kind, key.to_vec());
        }
        Ok(Self(decoys))
    }

    pub(super) fn get(&self, suite: SuiteId) -> Result<PublicKey<'_>, Error> {
        let key = self.0.get(&(suite.kem(), suite.group())).ok_or(Error::Misuse)?;
        PublicKey::parse(key)
    }
}
