//! `enroll`: a device and its credential.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use clap::Args;
use hybrid_handshake::{
    identity::{DeviceId, DeviceLine, MAX_KEY_LEN, PskLine},
    suite::SuiteId,
};
use kemqtt_broker::{
    Config, Registry,
    registry::{Credential, Enrolment, write_private},
};
use zeroize::Zeroizing;

use super::topics::Allowed;

/// Arguments of `enroll`.
#[derive(Args)]
pub(crate) struct Enroll {
    /// Device id: 1 to 32 printable ASCII characters without space, `/`, `+` and `#`.
    id: String,
    /// Use the key of this `hkm1-psk` file instead of a fresh one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["device_key", "out"])]
    psk_file: Option<PathBuf>,
    /// Enrol the public key of this `hkm1-device` file.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    device_key: Option<PathBuf>,
    /// Write the device's `hkm1-psk` line to this new file (mode 0600) instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// MQTT client id the device may use besides its own id (policy `map`); may be given several times.
    #[arg(long = "client-id", value_name = "ID")]
    client_ids: Vec<String>,
    /// Lowest suite the device may use, for example x25519-ctrulight-ascon.
    #[arg(long, value_name = "SUITE", value_parser = |name: &str| name.parse::<SuiteId>().map_err(|e| e.to_string()))]
    lowest_suite: Option<SuiteId>,
    #[command(flatten)]
    allowed: Allowed,
}

impl Enroll {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<()> {
        if DeviceId::new(&self.id).is_err() {
            bail!(
                "`{}` is no device id: 1 to 32 printable ASCII characters without space, `/`, `+` and `#`",
                self.id
            );
        }
        super::with_registry(&config, async |registry| self.enroll(registry).await).await
    }

    async fn enroll(&self, registry: &Registry) -> anyhow::Result<()> {
        let fresh = self.psk_file.is_none() && self.device_key.is_none();
        let credential = self.credential()?;
        let line = match &credential {
            Credential::Psk(psk) if fresh => Some(self.psk_line(psk)?),
            _ => None,
        };
        // Before the device is enrolled: a file that cannot be written must not cost an id.
        if let (Some(path), Some(line)) = (&self.out, &line) {
            write_private(path, line).with_context(|| path.display().to_string())?;
        }
        self.store(registry, &credential).await.inspect_err(|_| {
            if let Some(path) = self.out.as_deref() {
                let _ = fs::remove_file(path);
            }
        })?;
        if let (None, Some(line)) = (&self.out, line) {
            let shown = io::stdout().write_all(line.as_bytes());
            shown.with_context(|| format!("the secret of {0} is lost: revoke {0} and enrol it again", self.id))?;
        }
        eprintln!("# enrolled {}; pin on it one of:", self.id);
        for line in registry.broker_lines().await? {
            println!("{line}");
        }
        Ok(())
    }

    fn credential(&self) -> anyhow::Result<Credential> {
        if let Some(path) = &self.psk_file {
            let text = Zeroizing::new(read(path)?);
            let line = PskLine::parse(text.trim()).map_err(|error| {
                anyhow::anyhow!(
                    "{}: no line `hkm1-psk <id> <base64 of 32 bytes>`: {error}",
                    path.display()
                )
            })?;
            self.check_id(path, &line.id)?;
            return Ok(Credential::Psk(Zeroizing::new(*line.psk.expose())));
        }
        if let Some(path) = &self.device_key {
            let mut buffer = [0; MAX_KEY_LEN];
            let text = read(path)?;
            let line = DeviceLine::parse(text.trim(), &mut buffer)
                .map_err(|error| anyhow::anyhow!("{}: no line `hkm1-device <id> <base64>`: {error}", path.display()))?;
            self.check_id(path, &line.id)?;
            let mut key = vec![0; line.key.encoded_len()];
            line.key.write(&mut key)?;
            return Ok(Credential::Kem(key));
        }
        let mut psk = Zeroizing::new([0; 32]);
        getrandom::fill(psk.as_mut_slice()).map_err(|_| anyhow::anyhow!("no randomness from the operating system"))?;
        Ok(Credential::Psk(psk))
    }

    fn check_id(&self, path: &Path, id: &DeviceId) -> anyhow::Result<()> {
        if id.as_str() != self.id {
            bail!("{} belongs to `{id}`, not to `{}`", path.display(), self.id);
        }
        Ok(())
    }

    async fn store(&self, registry: &Registry, credential: &Credential) -> anyhow::Result<()> {
        let new = Enrolment {
            id: &self.id,
            credential,
            client_ids: &self.client_ids,
            lowest_suite: self.lowest_suite.map(SuiteId::code),
            topics: Some(&self.allowed.rules()),
            now: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)?
                .as_secs(),
        };
        Ok(registry.enroll(new).await?)
    }

    fn psk_line(&self, psk: &[u8; 32]) -> anyhow::Result<Zeroizing<String>> {
        let id = DeviceId::new(&self.id).map_err(|error| anyhow::anyhow!("{error}"))?;
        let mut text = Zeroizing::new(String::with_capacity(128));
        PskLine {
            id,
            psk: hybrid_handshake::identity::Psk::from_bytes(*psk),
        }
        .write(&mut *text)?;
        text.push('\n');
        Ok(text)
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}
