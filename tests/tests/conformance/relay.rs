//! A wire on which somebody changes a byte.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Relays connections to one address.
pub(crate) struct Relay {
    address: SocketAddr,
    change: Arc<AtomicBool>,
    accept: JoinHandle<()>,
}

impl Relay {
    /// From a free port to `target`.
    pub(crate) async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, change) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let wanted = change.clone();
        let accept = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, target, wanted.clone()));
            }
        });
        Ok(Self {
            address,
            change,
            accept,
        })
    }

    /// Where clients connect.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Flips a bit at the end of what the client sends next: the tag of a record.
    pub(crate) fn change_the_next_byte(&self) {
        self.change.store(true, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accept.abort();
    }
}

async fn relay(client: TcpStream, target: SocketAddr, change: Arc<AtomicBool>) -> Result<()> {
    let broker = TcpStream::connect(target).await?;
    let ((mut from_client, mut to_client), (mut from_broker, mut to_broker)) =
        (client.into_split(), broker.into_split());
    let up = async {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = from_client.read(&mut buffer).await?;
            if length == 0 {
                return to_broker.shutdown().await;
            }
            if change.swap(false, Ordering::Relaxed) {
                buffer[length - 1] ^= 1;
            }
            to_broker.write_all(&buffer[..length]).await?;
        }
    };
    let down = async {
        tokio::io::copy(&mut from_broker, &mut to_client).await?;
        to_client.shutdown().await
    };
    tokio::try_join!(up, down)?;
    Ok(())
}
