//! `kemqtt keygen`.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use kemqtt_client::{Credential, DeviceId, Pins};

use super::connection::path_or_default;

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
                "kemqtt: wrote a secret; enrol it on the broker's machine, over a channel you trust, by \
                 `kemqtt-broker enroll`, and keep no other copy"
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
  kemqtt keygen fingerprint";
