//! `kemqtt-broker`: arguments to configuration to command.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kemqtt-broker: {error:#}");
            ExitCode::FAILURE
        }
    }
}
