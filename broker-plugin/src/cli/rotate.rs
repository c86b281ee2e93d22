//! `rotate-key`: from one broker key to the next.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use clap::Args;
use hybrid_handshake::{
    identity::{BrokerKey, BrokerLine, Fingerprint, MAX_KEY_LEN},
    suite::{Group, KemId},
};
use kemqtt_broker::{
    Config, Registry,
    registry::{KeyState, StoredKey, write_private},
    rotation::Successor,
};
use zeroize::Zeroizing;

/// Arguments of `rotate-key`.
#[derive(Args)]
pub(crate) struct Rotate {
    /// The kind of key, KEM/group; needed where the realm has several.
    #[arg(long, value_name = "KEM/GROUP", value_parser = super::init::parse_kind)]
    key: Option<(KemId, Group)>,
    #[command(flatten)]
    place: Place,
    /// Make and announce a successor for a key that has none, and go no further.
    #[arg(long, conflicts_with_all = ["retire", "key_list"])]
    announce: bool,
    /// Forget the keys that were rotated away: clients that have not connected since then need a new pin.
    #[arg(long)]
    retire: bool,
    /// Show the realm's keys and change nothing.
    #[arg(long = "list", id = "key_list", conflicts_with = "retire")]
    list: bool,
}

/// Where successors are kept.
#[derive(Args)]
pub(crate) struct Place {
    /// Folder of the successor files, best on a medium that is not in the gateway; default: beside the key file.
    #[arg(long = "successors", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Rotate {
    pub(crate) async fn run(self, config: Config) -> anyhow::Result<()> {
        super::with_registry(&config, async |registry| self.rotate(registry, &config).await).await
    }

    async fn rotate(&self, registry: &Registry, config: &Config) -> anyhow::Result<()> {
        if self.list {
            return list(registry).await;
        }
        if self.retire {
            let retired = registry.retire().await?;
            if retired.is_empty() {
                bail!("no key retires; `kemqtt-broker rotate-key` makes the successor current first");
            }
            retired.iter().for_each(|key| println!("retired {key}"));
            return Ok(());
        }
        let current = self.current(registry).await?;
        if self.announce {
            let folder = self.place.folder(config)?;
            store(&folder, &registry.announce_successor(&current.kid).await?)?;
            eprintln!("# new pins:");
        } else {
            self.succeed(registry, &current, &self.place.folder(config)?).await?;
            eprintln!(
                "# clients move by themselves; retire the old key when all have (`rotate-key --retire`). New pins:"
            );
        }
        for line in registry.broker_lines().await? {
            println!("{line}");
        }
        Ok(())
    }

    async fn succeed(&self, registry: &Registry, current: &StoredKey, folder: &Path) -> anyhow::Result<()> {
        let successor = current
            .successor
            .context("this key has announced no successor; run `kemqtt-broker rotate-key --announce` first")?;
        let path = path(folder, &successor);
        let line = read(&path)?;
        let next = registry.rotate(&current.kid, &line).await?;
        store(folder, &next)?;
        // Its key is in the registry now.
        if let Err(error) = fs::remove_file(&path) {
            eprintln!("# {}: {error}; remove it by hand", path.display());
        }
        println!("current {successor}");
        Ok(())
    }

    async fn current(&self, registry: &Registry) -> anyhow::Result<StoredKey> {
        let keys = registry.broker_keys().await?;
        let current = keys.into_iter().filter(|key| key.state == KeyState::Current);
        let kind = self.key.map(|(kem, group)| [kem.code(), group.code()]);
        let mut fits = current.filter(|key| kind.is_none_or(|kind| key.public.starts_with(&kind)));
        match (fits.next(), fits.next()) {
            (Some(key), None) => Ok(key),
            (Some(_), Some(_)) => bail!("the realm has several keys; say which with `--key KEM/GROUP`"),
            (None, _) => bail!("the realm has no such key; see `kemqtt-broker rotate-key --list`"),
        }
    }
}

impl Place {
    /// The folder, which has to exist.
    pub(crate) fn folder(&self, config: &Config) -> anyhow::Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => match config.seal_key.parent() {
                Some(folder) if folder != Path::new("") => folder.to_owned(),
                _ => PathBuf::from("."),
            },
        };
        if !folder.is_dir() {
            bail!("{} is no folder", folder.display());
        }
        Ok(folder)
    }
}

/// Makes a successor for the key of a fresh pin, and gives the pin with its fingerprint.
pub(crate) async fn announce_for(registry: &Registry, pin: &str, folder: &Path) -> anyhow::Result<String> {
    let mut buffer = [0; MAX_KEY_LEN];
    let line = BrokerLine::parse(pin, &mut buffer).map_err(|error| anyhow::anyhow!("a damaged key: {error}"))?;
    let successor = registry.announce_successor(&line.key.kid()).await?;
    store(folder, &successor)?;
    let successor = Some(successor.fingerprint);
    Ok(BrokerLine { successor, ..line }.to_string())
}

async fn list(registry: &Registry) -> anyhow::Result<()> {
    for key in registry.broker_keys().await? {
        let state = match key.state {
            KeyState::Current => "current",
            KeyState::Retiring => "retiring",
        };
        let public = BrokerKey::parse(&key.public).map_err(|error| anyhow::anyhow!("a damaged key: {error}"))?;
        let successor = key
            .successor
            .map_or_else(|| "-".to_owned(), |successor| successor.to_string());
        let kind = format!("{}/{}", public.public().kem().name(), public.public().group().name());
        println!(
            "{state:<8}  {kind:<16}  {}  successor {successor}",
            public.fingerprint()
        );
    }
    Ok(())
}

/// Writes a new file of mode 0600.
fn store(folder: &Path, successor: &Successor) -> anyhow::Result<()> {
    let path = path(folder, &successor.fingerprint);
    let written = write_private(&path, &format!("{}\n", successor.line));
    // Whoever loses it cannot rotate the key it follows, so it is better on paper than nowhere.
    written.with_context(|| format!("{}; store this line yourself: {}", path.display(), successor.line))?;
    eprintln!(
        "# successor in {}: keep it, and keep it off the gateways until the next `rotate-key`",
        path.display()
    );
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Zeroizing<String>> {
    let at = || format!("{}; name its folder with `--successors`", path.display());
    let mode = fs::metadata(path).with_context(at)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        bail!("{} has mode {mode:03o}; run `chmod 600` on it", path.display());
    }
    Ok(Zeroizing::new(fs::read_to_string(path).with_context(at)?))
}

fn path(folder: &Path, successor: &Fingerprint) -> PathBuf {
    let name: String = successor.to_string().chars().take(16).collect();
    folder.join(format!("kemqtt-successor-{name}.key"))
}
