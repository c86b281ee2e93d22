//! The vector files of the handshake: the crate gives their bytes, and so does an independent checker.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::setup;

/// Compares the files with the crate, then with the checker in Python that knows docs/protocol.md only.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    cmd!(
        shell,
        "cargo test --quiet --locked -p hybrid-handshake --all-features --test vectors"
    )
    .run()?;
    let python = setup::python();
    cmd!(shell, "{python} -B hybrid-handshake/tests/vectors/check.py").run()?;
    Ok(())
}
