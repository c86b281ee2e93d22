//! Two chains of work at the same time.

use std::{panic::resume_unwind, thread};

use anyhow::Result;
use xshell::Shell;

/// Runs both to their end, so that neither leaves half a build behind; the first failure counts.
pub(crate) fn side_by_side(one: impl FnOnce() -> Result<()> + Send, other: impl FnOnce() -> Result<()>) -> Result<()> {
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| resume_unwind(panic)), other)
    });
    one.and(other)
}

/// A shell of its own for a thread: folder and environment of a shell are not shared.
pub(crate) fn root_shell() -> Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(crate::root());
    Ok(shell)
}
