//! What an observer of the wire sees: a recording TCP relay, and tshark to read the record.
//!
//! A relay needs no capture rights, so the test runs for every user.

use std::{
    fmt::Write,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result, ensure};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::process::output;

/// Who sent a piece of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the broker.
    ToBroker,
    /// From the broker to the client.
    ToClient,
}

/// A relay to one address that remembers every byte in the order in which it passed.
pub struct Recorder {
    address: SocketAddr,
    pieces: Arc<Mutex<Pieces>>,
    accept: JoinHandle<()>,
}

type Pieces = Vec<(Direction, Vec<u8>)>;

impl Recorder {
    /// Relays connections to `target` from a free port.
    pub async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, pieces) = (listener.local_addr()?, Arc::new(Mutex::new(Vec::new())));
        let record = pieces.clone();
        let accept = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, target, record.clone()));
            }
        });
        Ok(Self {
            address,
            pieces,
            accept,
        })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All bytes of one direction.
    pub fn bytes(&self, direction: Direction) -> Vec<u8> {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces
            .iter()
            .filter(|(sender, _)| *sender == direction)
            .flat_map(|(_, bytes)| bytes.clone())
            .collect()
    }

    /// Writes the record as a capture file with TCP port 1883 on the broker's side.
    pub async fn write_pcap(&self, file: &Path) -> Result<()> {
        let text = file.with_extension("txt");
        std::fs::write(&text, self.hex_dump()?)?;
        // The first port is the source of a packet marked "I".
        let arguments = ["-q", "-D", "-4", "127.0.0.1,127.0.0.2", "-T", "1883,40000"];
        let files = [text.as_os_str(), file.as_os_str()];
        let run = output("text2pcap", arguments.iter().map(AsRef::as_ref).chain(files)).await?;
        ensure!(
            run.status.success(),
            "text2pcap: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        Ok(())
    }

    fn hex_dump(&self) -> Result<String> {
        let mut text = String::new();
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        for (direction, bytes) in pieces.iter() {
            writeln!(text, "{}", if *direction == Direction::ToClient { 'I' } else { 'O' })?;
            for (line, chunk) in bytes.chunks(16).enumerate() {
                write!(text, "{:06x}", line * 16)?;
                chunk.iter().try_for_each(|byte| write!(text, " {byte:02x}"))?;
                writeln!(text)?;
            }
        }
        Ok(text)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.accept.abort();
    }
}

/// Reads a capture with tshark; `arguments` as on its command line, separated by spaces.
pub async fn tshark(file: &Path, arguments: &str) -> Result<String> {
    let arguments = arguments
        .split(' ')
        .map(AsRef::as_ref)
        .chain(["-r".as_ref(), file.as_os_str()]);
    let run = output("tshark", arguments).await?;
    ensure!(run.status.success(), "tshark: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).context("tshark printed no text")
}

async fn relay(client: TcpStream, target: SocketAddr, record: Arc<Mutex<Pieces>>) -> Result<()> {
    let broker = TcpStream::connect(target).await?;
    let ((from_client, to_client), (from_broker, to_broker)) = (client.into_split(), broker.into_split());
    tokio::try_join!(
        copy(from_client, to_broker, Direction::ToBroker, &record),
        copy(from_broker, to_client, Direction::ToClient, &record),
    )?;
    Ok(())
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    record: &Mutex<Pieces>,
) -> Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(to.shutdown().await?);
        }
        record
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((direction, buffer[..length].to_vec()));
        to.write_all(&buffer[..length]).await?;
    }
}
