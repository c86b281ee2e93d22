//! What a device gets at the factory: a seed that no other unit has, its credential, the broker's key.

use std::{
    fmt::Debug,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, anyhow, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use clap::{Args, ValueEnum};
use hybrid_handshake::{
    dh::DhSecret,
    identity::{BrokerLine, DeviceLine, MAX_KEY_LEN, PskLine},
    mqtt::Level,
    suite::{Group, KemId},
};
use kemqtt_node::{
    NvStore,
    store::{AtBoot, DeviceKey, Image},
};

#[derive(Args)]
pub(crate) struct Options {
    /// The memory image to write; a programmer writes the same bytes to a real EEPROM.
    #[arg(long, value_name = "FILE")]
    nv: PathBuf,
    /// The `hkm1-broker` line that the device pins. Without it the device has a seed only, enough for its self-test.
    #[arg(long, value_name = "FILE", requires = "credential")]
    pin: Option<PathBuf>,
    /// The device's `hkm1-psk` line, or its `hkm1-device` and `hkm1-device-secret` lines.
    #[arg(long, value_name = "FILE", requires = "pin")]
    credential: Option<PathBuf>,
    /// Bytes of non-volatile memory: 4096 on an ATmega1284P.
    #[arg(long, default_value_t = 4096)]
    size: u16,
    /// MQTT level inside: 5, or 4 for MQTT 3.1.1.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(4..=5))]
    level: u8,
    /// Seconds between two samples.
    #[arg(long, default_value_t = 1)]
    interval: u16,
    /// What the device does when it starts.
    #[arg(long, value_enum, default_value = "run")]
    at_boot: Boot,
    /// 64 hex digits in place of 32 bytes of the system's generator: for repeatable measurements only.
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Boot {
    /// Its job.
    Run,
    /// The self-test, and nothing else.
    SelfTest,
    /// Its job until one message has been acknowledged.
    PublishOnce,
}

impl Options {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let mut buffer = [0; MAX_KEY_LEN];
        let pin = self.pin.as_deref().map(read_line).transpose()?;
        let pin = pin.map(|line| BrokerLine::parse(&line, &mut buffer).map_err(|_| anyhow!("{line}: no broker key")));
        let pin = pin.transpose()?;
        let (kem, group) = pin
            .as_ref()
            .map_or((KemId::MlKem512, Group::X25519), |BrokerLine { key, .. }| {
                (key.public().kem(), key.public().group())
            });
        let mut store = NvStore::new(Image(vec![0xff; self.size.into()]), kem, group);
        written(store.provision_seed(&self.seed()?))?;
        if let Some(BrokerLine { key, successor }) = pin {
            written(store.provision_pin(&key, successor.as_ref()))?;
        }
        if let Some(path) = &self.credential {
            self.credential(path, &mut store)?;
        }
        written(store.provision_at_boot(match self.at_boot {
            Boot::Run => AtBoot::Run,
            Boot::SelfTest => AtBoot::SelfTest,
            Boot::PublishOnce => AtBoot::PublishOnce,
        }))?;
        std::fs::write(&self.nv, &store.nv().0).with_context(|| self.nv.display().to_string())?;
        Ok(ExitCode::SUCCESS)
    }

    fn credential(&self, path: &Path, store: &mut NvStore<Image<Vec<u8>>>) -> Result<()> {
        let level = if self.level == 4 { Level::V3_1_1 } else { Level::V5 };
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        if let Ok(PskLine { id, psk }) = PskLine::parse(first) {
            return written(store.provision_psk(&id, psk, level, self.interval));
        }
        let none = || format!("{} holds no credential", path.display());
        let mut buffer = [0; MAX_KEY_LEN];
        let DeviceLine { id, key } = DeviceLine::parse(first, &mut buffer).map_err(|_| anyhow!(none()))?;
        let secret = lines.next().and_then(|line| line.strip_prefix("hkm1-device-secret "));
        let secret = BASE64_STANDARD
            .decode(secret.with_context(none)?.trim())
            .with_context(none)?;
        let (rest, x) = secret.split_last_chunk().with_context(none)?;
        let (dk, z) = rest.split_last_chunk().with_context(none)?;
        let x = &DhSecret::from_bytes(*x);
        let key = DeviceKey { public: key, dk, z, x };
        written(store.provision_key(&id, &key, level, self.interval))
    }

    fn seed(&self) -> Result<[u8; 32]> {
        let mut seed = [0; 32];
        match &self.seed {
            Some(digits) => {
                ensure!(digits.len() == 64 && digits.is_ascii(), "a seed has 64 hex digits");
                for (byte, pair) in seed.iter_mut().zip(digits.as_bytes().chunks(2)) {
                    *byte = u8::from_str_radix(std::str::from_utf8(pair)?, 16)?;
                }
            }
            None => std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?,
        }
        Ok(seed)
    }
}

fn read_line(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn written<E: Debug>(result: Result<(), E>) -> Result<()> {
    result.map_err(|error| anyhow!("it does not fit the device's memory: {error:?}"))
}
