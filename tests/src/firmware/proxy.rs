use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What goes wrong on the first connection; later ones are left alone.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// A bit of the broker's stream flips, at this offset.
    FlipDown(usize),
    /// A byte of the broker's stream is lost, at this offset.
    LoseDown(usize),
    /// A byte of the node's stream is lost, at this offset.
    LoseUp(usize),
    /// That many bytes of rubbish come instead of the broker's.
    Flood(usize),
}

/// Between node and broker.
pub struct Proxy {
    address: SocketAddr,
    up: Arc<Mutex<Vec<Vec<u8>>>>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port.
    pub async fn start(broker: SocketAddr, fault: Fault) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, up) = (listener.local_addr()?, Arc::default());
        let record: Arc<Mutex<Vec<Vec<u8>>>> = Arc::clone(&up);
        let task = tokio::spawn(async move {
            let mut fault = Some(fault);
            while let Ok((node, _)) = listener.accept().await {
                // Connections come one after the other, and end with either side.
                let _ = connection(node, broker, fault.take(), &record).await;
            }
        });
        Ok(Self { address, up, task })
    }

    /// Where the node dials.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the node sent, one entry a connection.
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.up.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connection(
    mut node: TcpStream,
    broker: SocketAddr,
    fault: Option<Fault>,
    record: &Mutex<Vec<Vec<u8>>>,
) -> Result<()> {
    record.lock().unwrap_or_else(PoisonError::into_inner).push(Vec::new());
    if let Some(Fault::Flood(len)) = fault {
        // Every byte value, escape bytes and packet headers among them.
        let rubbish: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
        return Ok(node.write_all(&rubbish).await?);
    }
    let mut broker = TcpStream::connect(broker).await?;
    let (mut from_node, mut from_broker) = ([0; 4096], [0; 4096]);
    let (mut up, mut down) = (0, 0);
    loop {
        tokio::select! {
            len = node.read(&mut from_node) => {
                let Some(bytes) = from_node.get(..len?).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
                if let Some(sent) = record.lock().unwrap_or_else(PoisonError::into_inner).last_mut() {
                    sent.extend(bytes);
                }
                broker.write_all(&spoilt(bytes, up, fault, true)).await?;
                up += bytes.len();
            }
            len = broker.read(&mut from_broker) => {
                let Some(bytes) = from_broker.get(..len?).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
                node.write_all(&spoilt(bytes, down, fault, false)).await?;
                down += bytes.len();
            }
        }
    }
}

/// The bytes as they arrive, of a stream of which `before` bytes came earlier.
fn spoilt(bytes: &[u8], before: usize, fault: Option<Fault>, up: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let (at, lose) = match fault {
        Some(Fault::FlipDown(at)) if !up => (at, false),
        Some(Fault::LoseDown(at)) if !up => (at, true),
        Some(Fault::LoseUp(at)) if up => (at, true),
        _ => return bytes,
    };
    if let Some(index) = at.checked_sub(before).filter(|index| *index < bytes.len()) {
        if lose {
            bytes.remove(index);
        } else {
            bytes[index] ^= 1;
        }
    }
    bytes
}
