//! `kemqtt-sim`: run sensor firmware in a simulator, alone or against a broker.

mod commands;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Run sensor firmware in a simulator.
#[derive(Parser)]
#[command(name = "kemqtt-sim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an AVR image in simavr and report its marked regions.
    ///
    /// Exits as the firmware does, or with 70 after a crash, 71 stack overflow, 72 halt, 73 out of cycles or output.
    Avr(commands::run::Avr),
    /// The same for a Cortex-M4 image in m4sim.
    M4(commands::run::M4),
    /// Write seed, credential and pinned key into a node's non-volatile memory.
    Provision(commands::provision::Options),
    /// Run a node's image against a broker; events on stdout, one JSON object a line.
    Node(commands::node::Options),
    /// Run a Cortex-M4 node's image in QEMU (mps2-an386) against a broker; events on stdout.
    Qemu(commands::qemu::Options),
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Avr(options) => options.run(),
        Command::M4(options) => options.run(),
        Command::Provision(options) => options.run(),
        Command::Node(options) => options.run(),
        Command::Qemu(options) => options.run(),
    }
}
