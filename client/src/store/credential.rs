//! How this device proves who it is.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::client;
use hybrid_handshake::identity::{DeviceId, Psk};
use hybrid_handshake::suite::{Mode, SuiteId};
use zeroize::Zeroizing;

use super::device::DeviceKey;
use super::file::{self, Privacy};
use super::text;
use crate::error::Error;

/// How this device proves who it is. Cheap to clone; the secret exists once and is wiped with the last clone.
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// Not at all: for brokers that let anybody connect, or that trust a login inside.
    Anonymous,
    /// By a pre-shared key.
    Psk {
        /// The enrolled name.
        id: DeviceId,
        /// 32 random bytes that only the device and the broker know.
        psk: Arc<Psk>,
    },
    /// By a static key whose secret half never leaves the device.
    Kem {
        /// The enrolled name.
        id: DeviceId,
        /// The key pair; it serves suites of its own KEM and group.
        key: Arc<DeviceKey>,
    },
}

impl Credential {
    /// Reads a credential file: one line `hkm1-psk <id> <base64>`, or the two lines that [`Credential::create`] writes for
    /// a key pair.
    ///
    /// # Errors
    /// [`Error::File`], also if others than the owner may read or write the file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = file::read(path, Privacy::Secret)?;
        text::parse_credential(&text).map_err(|what| super::format_error(path, what))
    }

    /// Takes the line of a credential file from elsewhere.
    ///
    /// # Errors
    /// [`Error::File`] with the path `credential`.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        text::parse_credential(text).map_err(|what| super::format_error(Path::new("credential"), what))
    }

    /// Makes a pre-shared key for the device `id`.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn generate_psk(id: DeviceId) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; Psk::LEN]);
        getrandom::fill(&mut *bytes).map_err(|_| Error::Random)?;
        Ok(Self::Psk {
            id,
            psk: Arc::new(Psk::from_bytes(*bytes)),
        })
    }

    /// Makes a key pair for the device `id`, to be used with `suite` and others of its KEM and group.
    ///
    /// # Errors
    /// [`Error::Config`] if this build has no such suite, [`Error::Random`].
    pub fn generate_key(id: DeviceId, suite: SuiteId) -> Result<Self, Error> {
        Ok(Self::Kem {
            id,
            key: Arc::new(DeviceKey::generate(suite)?),
        })
    }

    /// The line `hkm1-device <id> <base64>` by which a key pair is enrolled; holds nothing secret. `None` for others.
    pub fn public_line(&self) -> Option<String> {
        match self {
            Self::Kem { id, key } => key.public_line(*id).ok(),
            _ => None,
        }
    }

    /// Writes the credential to a new file of mode 0600.
    ///
    /// # Errors
    /// [`Error::File`]; an existing file is never overwritten.
    pub fn create(&self, path: &Path) -> Result<(), Error> {
        match text::format_credential(self) {
            Some(text) => file::create(path, &text),
            None => Err(super::format_error(
                path,
                "an anonymous client has no credential to write",
            )),
        }
    }

    /// The enrolled name; `None` for an anonymous client.
    pub fn id(&self) -> Option<DeviceId> {
        match self {
            Self::Anonymous => None,
            Self::Psk { id, .. } | Self::Kem { id, .. } => Some(*id),
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        match self {
            Self::Anonymous => Mode::Anonymous,
            Self::Psk { .. } => Mode::Psk,
            Self::Kem { .. } => Mode::Kem,
        }
    }

    /// What the client machine takes.
    ///
    /// # Errors
    /// None: keys were checked when they were loaded.
    pub(crate) fn view(&self) -> Result<client::Credential<'_>, Hkm1> {
        Ok(match self {
            Self::Anonymous => client::Credential::Anonymous,
            Self::Psk { id, psk } => client::Credential::Psk { id, psk },
            Self::Kem { id, key } => client::Credential::Kem {
                id,
                secret: key.secret()?,
            },
        })
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::Psk { id, .. } => write!(f, "Psk({id})"),
            Self::Kem { id, key } => write!(f, "Kem({id}, {key:?})"),
        }
    }
}
