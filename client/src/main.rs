//! `kemqtt`: publish, subscribe, bridge and measure MQTT over the HKM1 hybrid post-quantum channel.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
