//! What the README's user types: the two programs, from `init` to a revoked device.

use std::path::Path;

use anyhow::{Context, Result};
use kemqtt_tests::{Peer, binary, free_address, output};

struct Home {
    folder: tempfile::TempDir,
    broker: std::path::PathBuf,
    client: std::path::PathBuf,
    address: String,
}

impl Home {
    fn new() -> Result<Self> {
        Ok(Self {
            folder: tempfile::tempdir()?,
            broker: binary("kemqtt-broker", "kemqtt-broker")?,
            client: binary("kemqtt-client", "kemqtt")?,
            address: free_address()?.to_string(),
        })
    }

    /// A home whose broker has its keys, and whose client pins the first of them.
    async fn with_pin() -> Result<Self> {
        let home = Self::new()?;
        let printed = home.broker("init").await?;
        let pin = printed.lines().find(|line| line.starts_with("hkm1-broker "));
        std::fs::write(home.file("broker.pin"), pin.context("init prints the key to pin")?)?;
        Ok(home)
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs `kemqtt-broker` with the files of this home; words are separated by spaces.
    async fn broker(&self, words: &str) -> Result<String> {
        let run = output(&self.broker, self.broker_words(words)).await?;
        anyhow::ensure!(
            run.status.success(),
            "{words}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        Ok(String::from_utf8(run.stdout)?)
    }

    fn broker_words(&self, words: &str) -> Vec<String> {
        let files = format!(
            "--registry {} --seal-key {}",
            self.file("kemqtt.db"),
            self.file("kemqtt.key")
        );
        words
            .split_whitespace()
            .chain(files.split_whitespace())
            .map(str::to_owned)
            .collect()
    }

    /// The words of a `kemqtt` command for this broker.
    fn client_words(&self, words: &str, credential: &str) -> Vec<String> {
        let keys = format!(
            "--broker {} --pin {} {credential}",
            self.address,
            self.file("broker.pin")
        );
        words
            .split_whitespace()
            .chain(keys.split_whitespace())
            .map(str::to_owned)
            .collect()
    }

    async fn run(&self, flags: &str) -> Result<Peer> {
        let words = self.broker_words(&format!("run --listen {} {flags}", self.address));
        let mut peer = Peer::start(&self.broker, words, Path::new(&self.file("broker.log")))?;
        peer.listens_on(self.address.parse()?).await?;
        Ok(peer)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn from_init_to_a_message_and_a_revoked_device() -> Result<()> {
    let home = Home::with_pin().await?;
    let credential = home.file("sensor-1.psk");
    home.broker(&format!("enroll sensor-1 --out {credential}")).await?;
    let mut broker = home.run("--allow-anonymous").await?;

    let words = home.client_words("sub -t plant/# -C 1 -v", "--anonymous");
    let mut subscriber = Peer::start(&home.client, words, Path::new(&home.file("sub.log")))?;
    let credential = format!("--credential {credential}");
    // A retained message reaches the subscriber whether it comes first or not.
    let publish = home.client_words("pub -t plant/temperature -m 21.5 -q 1 --retain", &credential);
    let published = output(&home.client, &publish).await?;
    assert!(
        published.status.success(),
        "{}",
        String::from_utf8_lossy(&published.stderr)
    );
    subscriber.logs("plant/temperature 21.5").await?;

    assert!(home.broker("list").await?.contains("sensor-1"));
    home.broker("revoke sensor-1").await?;
    let refused = output(&home.client, &publish).await?;
    assert!(!refused.status.success(), "a revoked device published");

    assert!(broker.terminate().await?.success(), "{}", broker.log());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_the_client_says_what_to_do() -> Result<()> {
    let home = Home::with_pin().await?;
    let publish = home.client_words("pub -t t -m m", "--anonymous");
    let failed = output(&home.client, &publish).await?;
    assert!(!failed.status.success());
    let message = String::from_utf8(failed.stderr)?;
    assert!(
        message.contains(&home.address) && message.contains("refused"),
        "{message}"
    );
    Ok(())
}

/// A device key never leaves the device, and goes through the life of a credential: enrolled, used, revoked, replaced.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_key_from_keygen_to_its_replacement() -> Result<()> {
    let home = Home::with_pin().await?;
    let mut broker = home.run("").await?;
    let make = async |name: &str| -> Result<()> {
        let words = format!("keygen device --id pump-17 --out {}", home.file(name));
        let made = output(&home.client, words.split_whitespace()).await?;
        let line = String::from_utf8(made.stdout)?;
        anyhow::ensure!(
            line.starts_with("hkm1-device pump-17 ") && line.lines().count() == 1,
            "{line}"
        );
        std::fs::write(home.file(&format!("{name}.pub")), &line)?;
        // All that the broker gets of it: the public line holds no byte of the secret one.
        let file = std::fs::read_to_string(home.file(name))?;
        anyhow::ensure!(
            file.contains(line.trim()),
            "the public half is kept beside the secret one"
        );
        let secret = file
            .lines()
            .find(|secret| *secret != line.trim())
            .context("a secret line")?;
        let secret = secret.rsplit(' ').next().context("a secret")?;
        anyhow::ensure!(
            secret.len() > 100 && !line.contains(&secret[..40]),
            "the secret half was printed"
        );
        Ok(())
    };
    let publish = async |name: &str| {
        let flags = format!("--credential {}", home.file(name));
        output(
            &home.client,
            home.client_words("pub --no-ticket -t t -m m -q 1", &flags),
        )
        .await
    };
    make("first.key").await?;
    let unknown = publish("first.key").await?;
    assert!(!unknown.status.success(), "nobody has enrolled it");
    let enroll = |name: &str| format!("enroll pump-17 --device-key {}", home.file(name));
    home.broker(&enroll("first.key.pub")).await?;
    let known = publish("first.key").await?;
    assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stderr));

    make("second.key").await?;
    assert!(home.broker(&enroll("second.key.pub")).await.is_err(), "the id is taken");
    home.broker("revoke pump-17").await?;
    assert!(home.broker("list").await?.contains("revoked"));
    assert!(!publish("first.key").await?.status.success());
    home.broker(&enroll("second.key.pub")).await?;
    assert!(!publish("first.key").await?.status.success(), "the first key stays out");
    let known = publish("second.key").await?;
    assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stderr));

    // What another program may read is no key file, and no registry opens under it.
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(home.file("kemqtt.key"), std::fs::Permissions::from_mode(0o644))?;
    let open = home.broker("list").await.expect_err("an open key file").to_string();
    assert!(open.contains("chmod 600"), "{open}");
    assert!(broker.terminate().await?.success(), "{}", broker.log());
    Ok(())
}

/// The programs as an operator uses them: `rotate-key` while the broker runs, and a client that nobody touches.
#[tokio::test(flavor = "multi_thread")]
async fn rotate_key_moves_the_pin_of_a_client() -> Result<()> {
    let home = Home::new()?;
    let pin = |text: &str| -> Result<String> {
        let line = text.lines().find(|line| line.starts_with("hkm1-broker "));
        Ok(line
            .context("a pin")?
            .split_whitespace()
            .nth(1)
            .context("a key")?
            .to_owned())
    };
    let first = pin(&home.broker("init").await?)?;
    // As if it had been provisioned before there was a successor.
    std::fs::write(home.file("broker.pin"), format!("hkm1-broker {first}\n"))?;
    let mut broker = home.run("--allow-anonymous").await?;
    let publish = async || {
        let words = home.client_words("pub --no-ticket -t t -m m -q 1", "--anonymous");
        let published = output(&home.client, words).await?;
        anyhow::ensure!(
            published.status.success(),
            "{}",
            String::from_utf8_lossy(&published.stderr)
        );
        Ok(())
    };
    publish().await?;
    let second = pin(&home.broker("rotate-key").await?)?;
    assert_ne!(first, second);
    // The broker looks at its registry every five seconds; the client hears of the key in one session and moves in the next.
    for _ in 0..60 {
        publish().await?;
        if pin(&std::fs::read_to_string(home.file("broker.pin"))?)? == second {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert_eq!(pin(&std::fs::read_to_string(home.file("broker.pin"))?)?, second);
    home.broker("rotate-key --retire").await?;
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    publish().await?;
    assert!(broker.terminate().await?.success(), "{}", broker.log());
    Ok(())
}
