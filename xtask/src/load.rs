//! A gateway under load: builds programs and runs `kemqtt-load`.

use anyhow::Result;
use clap::Args;
use xshell::{Shell, cmd};

use crate::test::target_folder;

/// Passed on to `kemqtt-load`.
#[derive(Args)]
pub(crate) struct Options {
    /// Its arguments; `cargo xtask load -- --help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Measures on optimised builds, with as many open files as the system allows.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    cmd!(
        shell,
        "cargo build --locked --release -p kemqtt-broker -p kemqtt-client -p kemqtt-tests --bins"
    )
    .run()?;
    let folder = target_folder()?.join("release");
    let _binaries = shell.push_env("KEMQTT_TEST_BINARIES", &folder);
    let (raised, program) = ("ulimit -n $(ulimit -Hn); exec \"$@\"", folder.join("kemqtt-load"));
    let arguments = &options.arguments;
    Ok(cmd!(shell, "sh -c {raised} sh {program} {arguments...}").run()?)
}
