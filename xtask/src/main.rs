//! Project tasks: `cargo xtask --help` is the index.

mod bench;
mod bench_avr;
mod bench_m4;
mod code_size;
mod constant_time;
mod elf;
mod embedded;
mod firmware;
mod fuzz;
mod load;
mod parallel;
mod prove;
mod sensor;
mod sensor_tls;
mod setup;
mod simulators;
mod test;
mod vectors;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xshell::Shell;

/// Project tasks of KEMQTT.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests need, then run every check and test of the repository.
    Test(test::Options),
    /// Install what the tests need and stop.
    Setup,
    /// Cycles, stack and flash on an ATmega1284P, cycle-exact.
    BenchAvr(bench_avr::Options),
    /// Cycles, stack and flash on a Cortex-M4, in the cycle model.
    BenchM4(bench_m4::Options),
    /// Run every KEM and the handshake under valgrind with its secrets marked undefined.
    ConstantTime,
    /// Run the fuzz targets for a while each.
    Fuzz(fuzz::Options),
    /// Compare the vector files of the handshake with the crate and with the independent checker.
    Vectors,
    /// Measure a gateway under load beside the broker alone and TLS 1.3 in front of it (arguments: `--help`).
    Load(load::Options),
    /// Check the formal model of the handshake with Verifpal.
    Prove(prove::Options),
    /// Build, lint and self-test the firmware images.
    Firmware(firmware::Options),
    /// Run a sensor node's image against the broker: cycles, stack, bytes and energy per phase.
    Sensor(sensor::Options),
    /// The same of a TLS 1.3 client on the same Cortex-M4.
    SensorTls(sensor_tls::Options),
    /// Build the `no_std` crates for Cortex-M4 and AVR.
    Embedded,
    /// Link every KEM into an image of its own for Cortex-M4 and AVR, and print what its code costs.
    CodeSize(code_size::Options),
}

fn main() -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    match Arguments::parse().task {
        Task::Test(options) => test::run(&shell, &options),
        Task::Setup => setup::run(&shell),
        Task::BenchAvr(options) => bench_avr::run(&shell, &options),
        Task::BenchM4(options) => bench_m4::run(&shell, &options),
        Task::ConstantTime => constant_time::run(&shell),
        Task::Fuzz(options) => fuzz::run(&shell, &options),
        Task::Vectors => vectors::run(&shell),
        Task::Load(options) => load::run(&shell, &options),
        Task::Prove(options) => prove::run(&shell, &options),
        Task::Firmware(options) => firmware::run(&shell, &options),
        Task::Sensor(options) => sensor::run(&shell, &options),
        Task::SensorTls(options) => sensor_tls::run(&shell, &options),
        Task::Embedded => embedded::run(&shell),
        Task::CodeSize(options) => code_size::run(&shell, &options),
    }
}

/// The folder of the workspace: the one that cargo was called in, also where this program was copied with a `target` folder.
fn root() -> std::path::PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    std::path::Path::new(&package).join("..")
}
