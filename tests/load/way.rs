//! A way to the broker.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result, ensure};
use kemqtt_client::{Config, SecureStream};
use kemqtt_tests::Peer;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

/// A byte stream behind the CONNACK.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Name, address, and the process in front of the broker (or the broker).
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) process: Peer,
    pub(crate) security: Security,
}

/// What protects the way.
pub(crate) enum Security {
    Nothing,
    Hkm1(Box<Config>),
    Tls(TlsConnector),
}

impl Way {
    /// Connects an MQTT 3.1.1 client with this id behind the device's own.
    pub(crate) async fn connect(&self, id: &str) -> Result<Box<dyn Stream>> {
        let connect = connect_packet(id);
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        match &self.security {
            Security::Nothing => greet(tcp, &connect).await,
            Security::Tls(connector) => {
                let name = ServerName::try_from(super::tls::SERVER)?;
                greet(connector.connect(name, tcp).await?, &connect).await
            }
            Security::Hkm1(config) => {
                let (stream, connack) = SecureStream::connect(config, tcp, &connect).await?;
                ensure!(connack == CONNACK, "refused: {connack:02x?}");
                Ok(Box::new(stream))
            }
        }
    }

    /// Processor time of the process so far.
    pub(crate) fn processor(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()?))?;
        // The second field is the name of the program, in parentheses.
        let (_, rest) = stat.rsplit_once(')').context("no stat")?;
        let mut fields = rest.split_whitespace().skip(11);
        let mut ticks = || fields.next().context("no time")?.parse::<u64>().context("no time");
        // 100 ticks a second on every Linux that a user sees.
        Ok(Duration::from_millis((ticks()? + ticks()?) * 10))
    }
}

async fn greet(mut stream: impl Stream + 'static, connect: &[u8]) -> Result<Box<dyn Stream>> {
    stream.write_all(connect).await?;
    stream.flush().await?;
    let mut connack = [0; 4];
    stream.read_exact(&mut connack).await?;
    ensure!(connack == CONNACK, "refused: {connack:02x?}");
    Ok(Box::new(stream))
}

/// Clean session, no keep alive.
fn connect_packet(id: &str) -> Vec<u8> {
    let id = format!("{}/{id}", super::peers::DEVICE);
    let mut packet = vec![0x10, (12 + id.len()) as u8, 0, 4, b'M', b'Q', b'T', b'T', 4, 2, 0, 0];
    packet.extend_from_slice(&(id.len() as u16).to_be_bytes());
    packet.extend_from_slice(id.as_bytes());
    packet
}

const CONNACK: [u8; 4] = [0x20, 2, 0, 0];
