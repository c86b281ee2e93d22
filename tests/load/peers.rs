//! Mosquitto, the gateway and the TLS front before it.

use std::path::Path;

use anyhow::Result;
use kemqtt_client::SuiteId;
use kemqtt_tests::{Gateway, Mosquitto, Office, Peer, free_address};
use tempfile::TempDir;

use super::{
    tls,
    way::{Security, Way},
};

/// The one enrolled device; its clients have ids behind its own.
pub(crate) const DEVICE: &str = "bench";

/// Everything that runs.
pub(crate) struct Peers {
    ways: [Way; 3],
    _office: Office,
    _folder: TempDir,
}

impl Peers {
    pub(crate) async fn start() -> Result<Self> {
        let settings = "allow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0\n";
        let broker = Mosquitto::start_quiet(settings).await?;
        let direct = broker.address();
        let office = Office::open(None).await?;
        let config = office.device(DEVICE).await?.suite(SuiteId::HOST_DEFAULT).tickets(None);
        let backend = format!("tcp://{direct}");
        let gateway = office
            .gateway("gateway", &[&["--backend", &backend], ROOM].concat())
            .await?;
        let folder = tempfile::tempdir()?;
        let (tls_front, connector) = (tls_front(folder.path(), direct).await?, tls::connector(folder.path())?);
        let hkm1 = gateway.address();
        let Gateway { peer, .. } = gateway;
        let way = |name, address, process, security| Way {
            name,
            address,
            process,
            security,
        };
        Ok(Self {
            ways: [
                way("direct", direct, broker.peer, Security::Nothing),
                way("hkm1", hkm1, peer, Security::Hkm1(Box::new(config))),
                way("tls", tls_front.1, tls_front.0, Security::Tls(connector)),
            ],
            _office: office,
            _folder: folder,
        })
    }

    pub(crate) fn ways(&self) -> &[Way] {
        &self.ways
    }
}

async fn tls_front(folder: &Path, backend: std::net::SocketAddr) -> Result<(Peer, std::net::SocketAddr)> {
    tls::make_keys(folder)?;
    let listen = free_address()?;
    let (keys, address, backend) = (folder.display().to_string(), listen.to_string(), backend.to_string());
    let arguments = ["tls-front", &keys, &address, &backend];
    let mut peer = Peer::start_unlimited(std::env::current_exe()?, arguments, &folder.join("tls.log"))?;
    peer.listens_on(listen).await?;
    Ok((peer, listen))
}

/// All clients come from one source here.
const ROOM: &[&str] = &[
    "--connections",
    "100000",
    "--source-rate",
    "1000000",
    "--source-burst",
    "1000000",
    "--client-id-policy",
    "prefix",
    "--log",
    "warn",
];
