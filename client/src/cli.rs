//! Arguments, exit codes, and one module per subcommand.

mod bench;
mod bridge;
mod connection;
mod keygen;
mod progress;
mod publish;
mod session;
mod subscribe;
mod wire;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kemqtt_client::{Blame, Error};

/// Parses the command line, runs the subcommand and turns its result into an exit code.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("KEMQTT_LOG"))
        .with_writer(io::stderr)
        .init();
    let result = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(cli.command.run()));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // `kemqtt sub | head -1`: the reader had enough, nothing went wrong.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kemqtt: {}", explained(&error));
            exit_code(&error)
        }
    }
}

/// MQTT over a hybrid post-quantum channel (HKM1: X25519 or P-256 with ML-KEM or a research KEM).
#[derive(Debug, Parser)]
#[command(name = "kemqtt", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Publish messages.
    Pub(publish::Arguments),
    /// Subscribe and print what arrives.
    Sub(subscribe::Arguments),
    /// Let unmodified MQTT clients use the secure channel (sidecar).
    Bridge(bridge::Arguments),
    /// Measure handshakes: per suite, and against TLS 1.3 with X25519MLKEM768.
    Bench(bench::Arguments),
    /// Make credentials, and show what a key file holds.
    Keygen(keygen::Arguments),
}

impl Command {
    async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Pub(arguments) => publish::run(arguments).await,
            Self::Sub(arguments) => subscribe::run(arguments).await,
            Self::Bridge(arguments) => bridge::run(arguments).await,
            Self::Bench(arguments) => bench::run(arguments).await,
            Self::Keygen(arguments) => keygen::run(arguments),
        }
    }
}

/// What a finished handshake cannot prevent.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The broker said no inside the secure channel.
    #[error("the broker refused {0}")]
    Refused(String),
    /// The connection broke half way through.
    #[error("the connection was lost; {done} of {count} messages are known to have arrived")]
    Lost { done: u64, count: u64 },
}

/// The error and its causes, without those that a message before them has named.
fn explained(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    text
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.chain().find_map(|cause| cause.downcast_ref::<Failure>()) {
        Some(Failure::Lost { .. }) => return ExitCode::from(3),
        Some(Failure::Refused(_)) => return ExitCode::from(4),
        None => {}
    }
    let code = match error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Error>())
        .map(Error::blame)
    {
        None => 1,
        Some(Blame::Network) => 3,
        Some(Blame::Broker) => 4,
        Some(Blame::Security) => 5,
        Some(Blame::Setup) => 6,
    };
    ExitCode::from(code)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

const AFTER_HELP: &str = "\
First steps:
  kemqtt keygen psk --id sensor-7          make a credential, then enrol it at the broker
  kemqtt pub -t room/temp -m 21.5          publish one message
  kemqtt sub -t 'room/#' -v                print topics and payloads
  kemqtt bridge --listen tcp:127.0.0.1:1883   let mosquitto_pub and others use the channel

Files (mode 0600), unless flags or KEMQTT_PIN and KEMQTT_CREDENTIAL name others:
  ~/.config/kemqtt/broker.pin       the broker's key:      hkm1-broker <base64> [successor fingerprint]
  ~/.config/kemqtt/credential.key   this device's secret:  hkm1-psk <id> <base64>

Exit codes:
  0  done
  1  any other failure
  2  wrong arguments
  3  the broker could not be reached, or the connection broke
  4  the broker refused the connection, the subscription or a message
  5  the peer did not prove to be the pinned broker, or data was tampered with
  6  a key file or a setting cannot be used

KEMQTT_LOG=debug shows the library's log on stderr (syntax of tracing's EnvFilter).";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_tables_are_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
