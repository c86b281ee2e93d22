//! Rotation of broker keys: a successor is made and announced long before it is used, and its private half stays away
//! from the gateways until then.
//!
//! ```text
//! current  -- rotate-key --> retiring -- rotate-key --retire --> gone
//! successor: announced by its fingerprint, its key in a sealed file elsewhere -- rotate-key --> current
//! ```

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hybrid_handshake::{
    identity::{BrokerKey, Fingerprint, Kid},
    suite::{Group, KemId},
};
use zeroize::Zeroizing;

use crate::{
    clock::unix_now,
    keys::{KeyError, generate},
    registry::{KeyState, Registry, RegistryError, SealError, StoredKey},
};

/// A broker key that is announced and not yet in use.
pub struct Successor {
    /// Its fingerprint, which clients learn beforehand.
    pub fingerprint: Fingerprint,
    /// The line of its file, `hkm1-successor ...`; the private half in it is sealed under the registry's key file.
    pub line: String,
}

impl Registry {
    /// Makes a successor for the current key `kid` and notes its fingerprint. The caller stores the line, away from the
    /// gateways: without it the key can never be rotated.
    ///
    /// # Errors
    /// [`RegistryError::SuccessorKnown`] if the key has one already, [`RegistryError::UnknownKey`], or no randomness.
    pub async fn announce_successor(&self, kid: &Kid) -> Result<Successor, RotationError> {
        let keys = self.broker_keys().await?;
        let current = keys
            .iter()
            .find(|key| key.kid == *kid)
            .ok_or(RegistryError::UnknownKey)?;
        let successor = self.make_successor(&current.public)?;
        self.set_successor(kid, &successor.fingerprint).await?;
        Ok(successor)
    }

    /// Makes the announced successor of the current key `kid` current, from the line of its file. The old key goes on to
    /// be accepted until [`Registry::retire`]. Gives the successor of the new key, to be stored like the last one.
    ///
    /// # Errors
    /// [`RotationError`] if the line is damaged, sealed for another registry, or not the announced successor's.
    pub async fn rotate(&self, kid: &Kid, line: &str) -> Result<Successor, RotationError> {
        let (public, secret) = self.open_successor(line)?;
        let next = self.make_successor(&public)?;
        let new = StoredKey {
            kid: BrokerKey::parse(&public).map_err(|_| RotationError::Line)?.kid(),
            public,
            secret,
            state: KeyState::Current,
            successor: Some(next.fingerprint),
        };
        self.succeed(kid, &new, unix_now()).await?;
        Ok(next)
    }

    fn make_successor(&self, current: &[u8]) -> Result<Successor, RotationError> {
        let (kem, group) = kind(current)?;
        let (public, secret) = generate(kem, group).map_err(KeyError::from)?;
        let fingerprint = *BrokerKey::parse(&public).map_err(KeyError::from)?.fingerprint();
        let sealed = self.seal().seal(&[PLACE, fingerprint.as_bytes()], &secret)?;
        let line = format!("{TAG} {} {}", STANDARD.encode(&public), STANDARD.encode(sealed));
        Ok(Successor { fingerprint, line })
    }

    fn open_successor(&self, line: &str) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), RotationError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[TAG, public, sealed] = words.as_slice() else {
            return Err(RotationError::Line);
        };
        let decode = |word: &str| STANDARD.decode(word).map_err(|_| RotationError::Line);
        let (public, sealed) = (decode(public)?, decode(sealed)?);
        let fingerprint = *BrokerKey::parse(&public)
            .map_err(|_| RotationError::Line)?
            .fingerprint();
        let secret = self.seal().open(&[PLACE, fingerprint.as_bytes()], &sealed)?;
        Ok((public, secret))
    }
}

/// Why a key is not rotated.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// The file does not hold a successor.
    #[error("not a line `hkm1-successor ...`")]
    Line,
    /// The registry's reasons.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The successor's private half does not open.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// No new key could be made.
    #[error(transparent)]
    Key(#[from] KeyError),
}

fn kind(public: &[u8]) -> Result<(KemId, Group), RotationError> {
    let key = BrokerKey::parse(public).map_err(KeyError::from)?;
    Ok((key.public().kem(), key.public().group()))
}

const TAG: &str = "hkm1-successor";
const PLACE: &[u8] = b"successor";
