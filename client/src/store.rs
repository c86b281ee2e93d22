//! What a client keeps in files: the broker's pinned key, its own credential, the last session's ticket.

mod credential;
mod device;
mod file;
mod pins;
mod text;
mod tickets;

use std::path::Path;

use crate::error::{Error, FileProblem};

pub use credential::Credential;
pub use device::DeviceKey;
pub use pins::Pins;
pub use tickets::Tickets;

pub(crate) use file::create_private_directory;
pub(crate) use tickets::Owner;

fn format_error(path: &Path, what: &'static str) -> Error {
    Error::File {
        path: path.to_owned(),
        problem: FileProblem::Format(what),
    }
}
