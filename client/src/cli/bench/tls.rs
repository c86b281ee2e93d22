//! The yardstick: MQTT CONNECT to CONNACK over TLS 1.3 with X25519MLKEM768 and ECDSA P-256 certificates on both sides.
//!
//! rustls on aws-lc-rs, full handshakes only (no tickets, no resumption), certificates self-signed so that each side
//! sends exactly one. The front terminates TLS and answers CONNECT itself: no broker distorts the figure.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::count::{Counted, Traffic};
use super::{CONNACK, CONNECT};

/// A TLS front on loopback and the configuration of a client it accepts.
pub(super) struct TlsPeer {
    address: SocketAddr,
    connector: TlsConnector,
    front: JoinHandle<()>,
}

impl TlsPeer {
    /// Makes both certificates and starts the front on a free port of 127.0.0.1.
    pub(super) async fn start() -> anyhow::Result<Self> {
        let provider = Arc::new(CryptoProvider {
            kx_groups: vec![aws_lc_rs::kx_group::X25519MLKEM768],
            ..aws_lc_rs::default_provider()
        });
        let (server, client) = (Identity::new(SERVER_NAME)?, Identity::new("kemqtt-bench-client")?);

        let verifier = WebPkiClientVerifier::builder_with_provider(client.as_root()?, provider.clone()).build()?;
        let mut front = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![server.certificate.clone()], server.key.clone_key())?;
        front.session_storage = Arc::new(NoServerSessionStorage {});
        front.send_tls13_tickets = 0;

        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(server.as_root()?)
            .with_client_auth_cert(vec![client.certificate], client.key)?;
        config.resumption = Resumption::disabled();

        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .context("cannot open a loopback port for TLS")?;
        Ok(Self {
            address: listener.local_addr()?,
            connector: TlsConnector::from(Arc::new(config)),
            front: tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(front)))),
        })
    }

    /// One connection: TCP, TLS, CONNECT, CONNACK. The clock is the caller's.
    pub(super) async fn handshake(&self) -> anyhow::Result<Traffic> {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let mut traffic = Traffic::default();
        let name = ServerName::try_from(SERVER_NAME)?;
        let mut tls = self.connector.connect(name, Counted::new(tcp, &mut traffic)).await?;
        tls.write_all(CONNECT).await?;
        tls.flush().await?;
        let mut connack = [0; CONNACK.len()];
        tls.read_exact(&mut connack).await?;
        anyhow::ensure!(connack == *CONNACK, "the TLS front answered {connack:02x?}");
        drop(tls);
        Ok(traffic)
    }
}

impl Drop for TlsPeer {
    fn drop(&mut self) {
        self.front.abort();
    }
}

/// A self-signed ECDSA P-256 certificate and its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn new(name: &str) -> anyhow::Result<Self> {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        let certificate = rcgen::CertificateParams::new([name.to_owned()])?.self_signed(&key)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        Ok(Self {
            certificate: certificate.der().clone(),
            key,
        })
    }

    fn as_root(&self) -> anyhow::Result<Arc<RootCertStore>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone())?;
        Ok(Arc::new(roots))
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor) {
    while let Ok((tcp, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        // A failed connection shows on the client's side, where it is reported.
        tokio::spawn(async move {
            tcp.set_nodelay(true)?;
            let mut tls = acceptor.accept(tcp).await?;
            let mut connect = [0; CONNECT.len()];
            tls.read_exact(&mut connect).await?;
            tls.write_all(CONNACK).await?;
            tls.flush().await?;
            // Stays until the client has read the answer and left.
            let _ = tls.read(&mut [0]).await?;
            std::io::Result::Ok(())
        });
    }
}

const SERVER_NAME: &str = "localhost";

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_handshake_carries_the_hybrid_key_share_and_both_certificates() {
        let peer = TlsPeer::start().await.expect("TLS front starts");
        let first = peer.handshake().await.expect("handshake");
        let second = peer.handshake().await.expect("handshake");
        // X25519MLKEM768 shares (draft-ietf-tls-ecdhe-mlkem): 1216 bytes up, 1120 down; no second flight is shortened by a ticket.
        assert!(first.sent > 1216 + 400 && first.received > 1120 + 400, "{first:?}");
        assert!(first.sent.abs_diff(second.sent) < 16 && first.received.abs_diff(second.received) < 16);
    }
}
