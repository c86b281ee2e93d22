//! Handshakes with a broker, or with a responder in this process.

use anyhow::Context;
use hybrid_handshake::suite::{AnySuite, Group, KemId, Suite};
use kemqtt_client::responder::Realm;
use kemqtt_client::{Config, Credential, DeviceId, Pins, SecureStream, SuiteId};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::count::{Counted, Traffic};
use super::{CONNACK, CONNECT};

/// Whom the handshakes are made with.
pub(super) enum Hkm1Peer {
    /// A broker somewhere.
    Remote(Target),
    /// Responders in this process: one per group, because a broker key has one.
    Loopback { x25519: Box<Local>, p256: Box<Local> },
}

/// An address and how to connect to it.
pub(super) struct Target {
    address: String,
    config: Config,
}

/// A responder on a loopback port.
pub(super) struct Local {
    target: Target,
    task: JoinHandle<()>,
}

impl Hkm1Peer {
    /// A broker at `address`.
    pub(super) fn remote(address: String, config: Config) -> Self {
        Self::Remote(Target { address, config })
    }

    /// Responders with fresh ML-KEM-768 keys, and a device enrolled at both.
    pub(super) async fn loopback() -> anyhow::Result<Self> {
        let device = Credential::generate_psk(DeviceId::new("bench")?)?;
        Ok(Self::Loopback {
            x25519: Box::new(Local::start(Group::X25519, &device).await?),
            p256: Box::new(Local::start(Group::P256, &device).await?),
        })
    }

    /// Every suite that this build has and the peer's key allows.
    pub(super) fn suites(&self) -> Vec<SuiteId> {
        let allowed = |suite: &SuiteId| self.target(*suite).config.clone().suite(*suite).check().is_ok();
        AnySuite::all().map(Suite::id).filter(allowed).collect()
    }

    /// One connection: TCP, HKM1 with the CONNECT inside, CONNACK. The clock is the caller's.
    pub(super) async fn handshake(&self, suite: SuiteId) -> anyhow::Result<Traffic> {
        let Target { address, config } = self.target(suite);
        let config = config.clone().suite(suite).tickets(None);
        let tcp = TcpStream::connect(address)
            .await
            .with_context(|| format!("cannot reach {address}"))?;
        tcp.set_nodelay(true)?;
        let mut traffic = Traffic::default();
        let (stream, connack) = SecureStream::connect(&config, Counted::new(tcp, &mut traffic), CONNECT).await?;
        anyhow::ensure!(
            connack.get(3) == Some(&0),
            "the broker refused the CONNECT: {connack:02x?}"
        );
        drop(stream);
        Ok(traffic)
    }

    /// For the report.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Remote(target) => format!("broker at {}", target.address),
            Self::Loopback { .. } => "both ends in this process over loopback, PSK, ML-KEM-768 broker key".into(),
        }
    }

    fn target(&self, suite: SuiteId) -> &Target {
        match self {
            Self::Remote(target) => target,
            Self::Loopback { p256, .. } if suite.group() == Group::P256 => &p256.target,
            Self::Loopback { x25519, .. } => &x25519.target,
        }
    }
}

impl Local {
    async fn start(group: Group, device: &Credential) -> anyhow::Result<Self> {
        let mut realm = Realm::generate(KemId::MlKem768, group)?;
        realm.enroll(device);
        let pins = Pins::from_text(realm.pin())?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("cannot open a loopback port")?;
        let address = listener.local_addr()?.to_string();
        let task = tokio::spawn(serve(listener, realm));
        Ok(Self {
            target: Target {
                address,
                config: Config::new(pins, device.clone()),
            },
            task,
        })
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection at a time: the rounds make no more.
async fn serve(listener: TcpListener, realm: Realm) {
    while let Ok((tcp, _)) = listener.accept().await {
        // A failed connection shows on the client's side, where it is reported.
        let _: anyhow::Result<()> = async {
            tcp.set_nodelay(true)?;
            let mut stream = realm.accept(tcp).await?.answer(CONNACK).await?;
            // Stays until the client has read the answer and left.
            let _ = stream.read(&mut [0]).await?;
            Ok(())
        }
        .await;
    }
}
