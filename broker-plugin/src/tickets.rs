//! The ticket keys of a front: from the registry or from a file, kept fresh while it runs.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use hybrid_handshake::resume::{TicketKey, TicketKeys};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use zeroize::{Zeroize as _, Zeroizing};

use crate::{Metrics, Registry, RegistryError, clock::Clock};

/// Where ticket keys come from.
#[derive(Clone, Debug, Default)]
pub(crate) enum Source {
    /// The registry, which makes a fresh one a day.
    #[default]
    Registry,
    /// A file of mode 0600 with one or two lines of 64 hexadecimal digits: the first seals, both open.
    File(PathBuf),
}

/// The current keys; none while their source fails.
pub(crate) struct Tickets {
    source: Source,
    clock: Clock,
    keys: RwLock<Option<Arc<TicketKeys>>>,
}

impl Tickets {
    pub(crate) fn new(source: Source, clock: Clock) -> Self {
        Self {
            source,
            clock,
            keys: RwLock::new(None),
        }
    }

    /// The keys to seal and open with.
    pub(crate) fn keys(&self) -> Option<Arc<TicketKeys>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Loads the keys again. A registry that fails leaves those that are there: nobody connects without it anyway, and
    /// tickets end by their own age. A file that fails leaves none: clients then make full handshakes.
    pub(crate) async fn refresh(&self, registry: &Registry, metrics: &Metrics) {
        let loaded = match &self.source {
            Source::Registry => registry.ticket_keys(self.clock.now()).await.map_err(TicketError::from),
            Source::File(path) => read(path),
        };
        let keys = match loaded {
            Ok((current, previous)) => Some(Arc::new(TicketKeys::new(current, previous))),
            Err(TicketError::Registry(error)) => {
                tracing::warn!(%error, "ticket keys are not refreshed");
                metrics.registry_failed("ticket-keys");
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "no ticket keys: every client makes a full handshake");
                None
            }
        };
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }

    /// Refreshes until the front stops.
    pub(crate) async fn watch(&self, registry: &Registry, metrics: &Metrics, stop: &CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(REFRESH) => self.refresh(registry, metrics).await,
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum TicketError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("{}: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
    #[error("{} has mode {:03o}; run `chmod 600 {}`", .0.display(), .1, .0.display())]
    Permissions(PathBuf, u32),
    #[error("{} must hold one or two lines of 64 hexadecimal digits", .0.display())]
    Format(PathBuf),
}

fn read(path: &Path) -> Result<(TicketKey, Option<TicketKey>), TicketError> {
    let at = |error| TicketError::File(path.to_owned(), error);
    let mode = fs::metadata(path).map_err(at)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TicketError::Permissions(path.to_owned(), mode));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(at)?);
    let mut lines = text.lines().map(|line| {
        let mut bytes = [0; TicketKey::LEN];
        let decoded = hex::decode_to_slice(line.trim(), &mut bytes).map(|()| TicketKey::from_bytes(bytes));
        bytes.zeroize();
        decoded.map_err(|_| TicketError::Format(path.to_owned()))
    });
    let current = lines.next().ok_or_else(|| TicketError::Format(path.to_owned()))??;
    let previous = lines.next().transpose()?;
    match lines.next() {
        None => Ok((current, previous)),
        Some(_) => Err(TicketError::Format(path.to_owned())),
    }
}

/// Well below a day, so that a fresh key and a revoked file are seen in time.
const REFRESH: Duration = Duration::from_secs(5 * 60);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_file_has_one_or_two_keys_and_is_private() {
        let (one, two) = ("11".repeat(32), "22".repeat(32));
        let (current, previous) = read(file(&one, 0o600).path()).unwrap();
        assert_eq!((current.expose(), previous.is_none()), (&[0x11; 32], true));
        let (current, previous) = read(file(&format!("{two}\n{one}\n"), 0o400).path()).unwrap();
        assert_eq!(
            (current.expose(), previous.unwrap().expose()),
            (&[0x22; 32], &[0x11; 32])
        );
        assert!(matches!(
            read(file(&one, 0o640).path()),
            Err(TicketError::Permissions(_, 0o640))
        ));
        for bad in ["", "11", &format!("{one}\n{one}\n{one}"), &format!("{one}\nxx")] {
            assert!(
                matches!(read(file(bad, 0o600).path()), Err(TicketError::Format(_))),
                "{bad}"
            );
        }
    }
}
