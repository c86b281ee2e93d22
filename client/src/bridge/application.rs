//! The local client's side until its session begins.

use std::time::Duration;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::mqtt::{Connack, Connect, FixedHeader, Level, PacketType, ReasonCode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::token;
use crate::error::Error;

/// A client whose CONNECT has been read and not been answered.
pub(super) struct Application<A> {
    /// The whole CONNECT.
    pub(super) connect: Zeroizing<Vec<u8>>,
    pub(super) early: Early<A>,
    level: Level,
}

impl<A: AsyncRead + AsyncWrite + Unpin> Application<A> {
    /// Reads the CONNECT. `None` is a client that left before it had sent one.
    ///
    /// # Errors
    /// [`Error::Application`] for anything that is no CONNECT of a known level, is too large for any broker, or does not
    /// know the token. The client has been told.
    pub(super) async fn accept(stream: A, token: Option<&str>) -> Result<Option<Self>, Error> {
        let mut early = Early {
            stream,
            bytes: Zeroizing::new(Vec::with_capacity(EARLY_LEN)),
        };
        let connect = match timeout(CONNECT_TIMEOUT, early.read_connect()).await {
            Ok(Ok(Some(connect))) => connect,
            Ok(Ok(None)) | Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(early.refuse(Level::V5, error).await),
        };
        let level = Level::to_answer(&connect);
        let checked = match token {
            None => Connect::parse(&connect).map(drop).map(|()| connect),
            Some(token) => token::strip(&connect, token),
        };
        match checked {
            Ok(connect) => Ok(Some(Self { connect, early, level })),
            Err(error) => Err(early.refuse(level, error).await),
        }
    }

    /// Answers the CONNECT with a refusal and closes.
    pub(super) async fn refuse(mut self, code: ReasonCode) {
        self.early.close_with(self.level, code).await;
    }
}

/// A client's stream, and what it has sent behind its CONNECT: MQTT lets it send before it has an answer.
pub(super) struct Early<A> {
    stream: A,
    bytes: Zeroizing<Vec<u8>>,
}

impl<A: AsyncRead + AsyncWrite + Unpin> Early<A> {
    /// The stream, and the bytes that come before everything it gives.
    pub(super) fn into_parts(self) -> (A, Zeroizing<Vec<u8>>) {
        (self.stream, self.bytes)
    }

    /// Completes when the client closes. Until then what it sends is kept, as far as there is room.
    pub(super) async fn closed(&mut self) {
        while self.bytes.len() < self.bytes.capacity() {
            if !matches!(self.stream.read_buf(&mut *self.bytes).await, Ok(1..)) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// One whole packet, taken off the front; `None` at the end of the stream.
    async fn read_connect(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, Hkm1> {
        loop {
            if let Some(header) = FixedHeader::read(&self.bytes)? {
                if header.packet != PacketType::Connect {
                    return Err(Hkm1::UnexpectedPacket);
                }
                let len = match usize::try_from(header.packet_len()) {
                    Ok(len) if len <= MAX_CONNECT_LEN.into() => len,
                    _ => return Err(Hkm1::TooLarge { limit: MAX_CONNECT_LEN }),
                };
                if let Some((connect, rest)) = self.bytes.split_at_checked(len) {
                    let (connect, rest) = (Zeroizing::new(connect.to_vec()), rest.to_vec());
                    self.bytes = Zeroizing::new(Vec::with_capacity(EARLY_LEN.max(rest.len())));
                    self.bytes.extend_from_slice(&rest);
                    return Ok(Some(connect));
                }
                // Once, to the exact size: a vector that grows by itself leaves copies of passwords behind.
                if self.bytes.capacity() < len {
                    let mut larger = Zeroizing::new(Vec::with_capacity(len));
                    larger.extend_from_slice(&self.bytes);
                    self.bytes = larger;
                }
            }
            match self.stream.read_buf(&mut *self.bytes).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
        }
    }

    async fn refuse(mut self, level: Level, error: Hkm1) -> Error {
        self.close_with(level, error.reason()).await;
        Error::Application(error)
    }

    /// Sends a CONNACK with `code` and closes. A client that is gone already does not need it.
    async fn close_with(&mut self, level: Level, code: ReasonCode) {
        let mut connack = [0; 8];
        let len = Connack::new(code).write(level, &mut connack).unwrap_or(0);
        let last = async {
            self.stream.write_all(&connack[..len]).await?;
            self.stream.shutdown().await
        };
        let _ = timeout(CLOSE_TIMEOUT, last).await;
    }
}

/// The largest CONNECT that a broker may be set up to take.
const MAX_CONNECT_LEN: u16 = 61_440;
/// Bytes behind the CONNECT that are taken before it is answered.
const EARLY_LEN: usize = 16 * 1024;
/// How long a client may take for its CONNECT.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
