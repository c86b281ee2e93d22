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
        words.split(' ').chain(files.split(' ')).map(str::to_owned).collect()
    }

    /// The words of a `kemqtt` command for this broker.
    fn client_words(&self, words: &str, credential: &str) -> Vec<String> {
        let keys = format!(
            "--broker {} --pin {} {credential}",
            self.address,
            self.file("broker.pin")
        );
        words.split(' ').chain(keys.split(' ')).map(str::to_owned).collect()
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
    let home = Home::new()?;
    let line = home.broker("init").await?;
    let line = line
        .lines()
        .find(|line| line.starts_with("hkm1-broker "))
        .context("init prints the key to pin")?;
    std::fs::write(home.file("broker.pin"), line)?;
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
    let home = Home::new()?;
    let line = home.broker("init").await?;
    let line = line
        .lines()
        .find(|line| line.starts_with("hkm1-broker "))
        .context("init prints the key to pin")?;
    std::fs::write(home.file("broker.pin"), line)?;
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
