//! A gateway under load: builds programs and runs `kemqtt-load`.

use anyhow::Result;
use clap::Args;
use xshell::{Shell, cmd};

/// Passed on to `kemqtt-load`.
#[derive(Args)]
pub(crate) struct Options {
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
    let _binaries = shell.push_env("KEMQTT_TEST_BINARIES", crate::root().join("target/release"));
    let (raised, program) = ("ulimit -n $(ulimit -Hn); exec \"$@\"", "target/release/kemqtt-load");
    let arguments = &options.arguments;
    Ok(cmd!(shell, "sh -c {raised} sh {program} {arguments...}").run()?)
}
