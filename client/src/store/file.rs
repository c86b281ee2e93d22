//! Small private files: owner-only permissions checked on load, replaced atomically on save.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use zeroize::Zeroizing;

use crate::error::{Error, FileProblem};

/// Who else may touch a file before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Nobody may read or write it: credentials, tickets.
    Secret,
    /// Anybody may read it, nobody else may write it: pins are public, but whoever changes one becomes the broker.
    Pinned,
}

/// Reads a text file of at most [`MAX_LEN`] bytes whose permissions satisfy `privacy`.
///
/// The permissions are those of the opened file, so that a swap between check and read changes nothing.
pub(crate) fn read(path: &Path, privacy: Privacy) -> Result<Zeroizing<String>, Error> {
    let fail = |problem| Error::File {
        path: path.to_owned(),
        problem,
    };
    let io = |e| fail(FileProblem::from_io(e));
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(fail(FileProblem::NotAFile));
    }
    if let Some(mode) = too_open(&metadata, privacy) {
        return Err(fail(FileProblem::TooOpen { mode }));
    }
    let mut text = Zeroizing::new(String::with_capacity(MAX_LEN));
    let read = file
        .take(MAX_LEN as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => fail(FileProblem::Format("not a text file")),
            _ => io(e),
        })?;
    if read > MAX_LEN {
        return Err(fail(FileProblem::Format("too large for a key file")));
    }
    Ok(text)
}

/// Replaces (or creates) `path` with `text`, mode 0600: readers see the old content or the new one, never a part.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let io = |e| Error::File {
        path: path.to_owned(),
        problem: FileProblem::from_io(e),
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_private_directory(directory).map_err(io)?;
    let temporary = Temporary::create(directory).map_err(io)?;
    temporary
        .fill(text)
        .and_then(|()| temporary.publish(path, directory))
        .map_err(io)
}

/// Creates `path` with mode 0600; refuses to overwrite anything.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), Error> {
    let io = |e| Error::File {
        path: path.to_owned(),
        problem: FileProblem::from_io(e),
    };
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        create_private_directory(parent).map_err(io)?;
    }
    let mut file = private_options().open(path).map_err(io)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(io)
}

/// A new file beside the one it will replace; removed unless it was published.
struct Temporary {
    path: PathBuf,
    file: File,
    published: std::cell::Cell<bool>,
}

impl Temporary {
    fn create(directory: &Path) -> io::Result<Self> {
        // Two writers in one process differ by the counter, two processes by their id; anything left over by a crash
        // is stepped over because `create_new` fails on it.
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        for _ in 0..64 {
            let name = format!(
                ".kemqtt-{}-{}",
                std::process::id(),
                COUNTER.fetch_add(1, Ordering::Relaxed)
            );
            let path = directory.join(name);
            match private_options().open(&path) {
                Ok(file) => {
                    return Ok(Self {
                        path,
                        file,
                        published: false.into(),
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn fill(&self, text: &str) -> io::Result<()> {
        (&self.file).write_all(text.as_bytes())?;
        self.file.sync_all()
    }

    fn publish(&self, path: &Path, directory: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.published.set(true);
        // The rename itself must survive a power cut; not every file system can sync a directory.
        let _ = File::open(directory).and_then(|d| d.sync_all());
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.published.get() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates missing directories with mode 0700; leaves existing ones as they are.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn too_open(metadata: &fs::Metadata, privacy: Privacy) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
    let forbidden = match privacy {
        Privacy::Secret => 0o077,
        Privacy::Pinned => 0o022,
    };
    (mode & forbidden != 0).then_some(mode)
}

#[cfg(not(unix))]
fn too_open(_: &fs::Metadata, _: Privacy) -> Option<u32> {
    None
}

/// Largest key file: two broker keys with an ML-KEM-1024 encapsulation key are about 4.4 KB.
const MAX_LEN: usize = 16 * 1024;
