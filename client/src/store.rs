//! What a client keeps in files: the broker's pinned key and its own credential.

mod credential;
mod file;
mod pins;
mod text;

use std::path::Path;

use crate::error::{Error, FileProblem};

pub use credential::Credential;
pub use pins::Pins;

pub(crate) use file::create_private_directory;

fn format_error(path: &Path, what: &'static str) -> Error {
    Error::File {
        path: path.to_owned(),
        problem: FileProblem::Format(what),
    }
}
