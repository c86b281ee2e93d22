//! `kemqtt keygen`.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use kemqtt_client::{Credential, DeviceId, Pins, SuiteId};

use super::connection::{path_or_default, warn_of_research};

/// Make credentials, and show what a key file holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A fresh pre-shared key for one device.
    Psk {
        /// Identity: 1 to 32 printable characters without space, `/`, `+` and `#`.
        #[arg(long, value_name = "NAME", value_parser = device_id)]
        id: DeviceId,
        /// File to write [default: ~/.config/kemqtt/credential.key]; never overwritten.
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A fresh key pair for one device; prints the public line that is enrolled.
    Device {
        /// Identity: 1 to 32 printable characters without space, `/`, `+` and `#`.
        #[arg(long, value_name = "NAME", value_parser = device_id)]
        id: DeviceId,
        /// Suite to use it with; it serves all suites of the same KEM and group.
        #[arg(long, default_value_t = SuiteId::HOST_DEFAULT, value_name = "NAME")]
        suite: SuiteId,
        /// File to write [default: ~/.config/kemqtt/credential.key]; never overwritten.
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Show the fingerprint of a pinned broker key, to compare it with the broker's.
    Fingerprint {
        /// Pin file [default: ~/.config/kemqtt/broker.pin].
        #[arg(value_name = "FILE")]
        pin: Option<PathBuf>,
    },
}

/// Writes or reads the file.
pub(super) fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.what {
        What::Psk { id, out } => {
            let path = path_or_default(out.as_deref(), "credential.key")?;
            Credential::generate_psk(id)?.create(&path)?;
            println!("{}", path.display());
            eprintln!(
                "kemqtt: wrote a secret; bring it to the broker over a channel you trust, enrol it there by \
                 `kemqtt-broker enroll {id} --psk-file FILE`, and keep no other copy"
            );
        }
        What::Device { id, suite, out } => {
            warn_of_research(suite);
            let path = path_or_default(out.as_deref(), "credential.key")?;
            let credential = Credential::generate_key(id, suite)?;
            credential.create(&path)?;
            println!("{}", credential.public_line().context("a fresh key has a public half")?);
            eprintln!(
                "kemqtt: wrote the secret half to {}, which never leaves this machine; enrol the printed line by \
                 `kemqtt-broker enroll {id} --device-key FILE`",
                path.display()
            );
        }
        What::Fingerprint { pin } => {
            let path = path_or_default(pin.as_deref(), "broker.pin")?;
            let pins = Pins::load(&path).context("cannot read the pin file")?;
            println!("{}", pins.fingerprint());
        }
    }
    Ok(())
}

fn device_id(name: &str) -> Result<DeviceId, &'static str> {
    DeviceId::new(name).map_err(|_| "an id has 1 to 32 printable ASCII characters, no space and none of / + #")
}

const EXAMPLES: &str = "\
Examples:
  kemqtt keygen psk --id sensor-7
  kemqtt keygen psk --id sensor-8 --out sensor-8.key
  kemqtt keygen device --id pump-17 > pump-17.pub
  kemqtt keygen fingerprint";
