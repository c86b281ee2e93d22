//! rustls in front of the broker: terminates TLS 1.3 and copies bytes.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use anyhow::Result;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        client::Resumption,
        crypto::{CryptoProvider, aws_lc_rs},
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
        server::{NoServerSessionStorage, WebPkiClientVerifier},
        version::TLS13,
    },
};

/// Name in the front's certificate.
pub(crate) const SERVER: &str = "localhost";
const CLIENT: &str = "bench-client";

/// Makes self-signed certificates and keys of front and client in `folder`.
pub(crate) fn make_keys(folder: &Path) -> Result<()> {
    for name in [SERVER, CLIENT] {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        let certificate = rcgen::CertificateParams::new([name.to_owned()])?.self_signed(&key)?;
        fs::write(folder.join(format!("{name}.crt")), certificate.der())?;
        fs::write(folder.join(format!("{name}.key")), key.serialize_der())?;
    }
    Ok(())
}

/// What clients connect with.
pub(crate) fn connector(folder: &Path) -> Result<TlsConnector> {
    let (certificate, key) = identity(folder, CLIENT)?;
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(root(folder, SERVER)?)
        .with_client_auth_cert(vec![certificate], key)?;
    config.resumption = Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Serves until the process is killed.
pub(crate) async fn serve(folder: &Path, listen: SocketAddr, backend: SocketAddr) -> Result<()> {
    let (certificate, key) = identity(folder, SERVER)?;
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(root(folder, CLIENT)?), provider()).build()?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (client, _) = listener.accept().await?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            client.set_nodelay(true)?;
            let mut client = acceptor.accept(client).await?;
            let mut broker = TcpStream::connect(backend).await?;
            broker.set_nodelay(true)?;
            copy_bidirectional(&mut client, &mut broker).await
        });
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        kx_groups: vec![aws_lc_rs::kx_group::X25519MLKEM768],
        ..aws_lc_rs::default_provider()
    })
}

fn identity(folder: &Path, name: &str) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>)> {
    let key = fs::read(folder.join(format!("{name}.key")))?;
    let certificate = fs::read(folder.join(format!("{name}.crt")))?;
    Ok((certificate.into(), PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key))))
}

fn root(folder: &Path, name: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(identity(folder, name)?.0)?;
    Ok(roots)
}
