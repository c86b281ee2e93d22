//! Outer packets on the socket: read within a limit, write whole, drain before closing.

use std::{io, time::Duration};

use hybrid_handshake::{
    Error, Malformed,
    mqtt::{FixedHeader, PacketType},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::refusal::Refusal;

/// Reads the fixed header of a packet of at most `limit` bytes, and no byte of another packet. `allowed` sees its type first;
/// every packet of an allowed type has at least `least` bytes.
pub(super) async fn read_header(
    stream: &mut (impl AsyncRead + Unpin),
    limit: usize,
    least: usize,
    allowed: impl Fn(PacketType) -> bool,
) -> Result<(FixedHeader, Vec<u8>), Refusal> {
    let mut place = [0; FixedHeader::MAX_LEN];
    let mut len = 0;
    loop {
        // As much as is certainly there, and then byte by byte.
        let wanted = least.max(len + 1);
        let read = stream.read(place.get_mut(len..wanted).unwrap_or_default()).await?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        len += read;
        let bytes = place.get(..len).unwrap_or_default();
        // The type is checked before anything is stored: a length of 0 completes any header.
        let kind = FixedHeader::read(&[bytes.first().copied().unwrap_or(0), 0]).map_err(Error::from)?;
        if !kind.is_some_and(|header| allowed(header.packet)) {
            return Err(Error::UnexpectedPacket.into());
        }
        if let Some(header) = FixedHeader::read(bytes).map_err(Error::from)? {
            let packet_len = header.packet_len() as usize;
            if packet_len > limit {
                let limit = u16::try_from(limit).unwrap_or(u16::MAX);
                return Err(Error::TooLarge { limit }.into());
            }
            if packet_len < len {
                return Err(Error::from(Malformed::Truncated).into());
            }
            return Ok((header, bytes.to_vec()));
        }
    }
}

/// Bytes of the shortest CONNECT, as far as a fixed header can want them: its variable header alone has 10.
pub(super) const LEAST_CONNECT: usize = FixedHeader::MAX_LEN;
/// Bytes of the shortest AUTH or DISCONNECT.
pub(super) const LEAST_PACKET: usize = 2;
/// Bytes of the shortest CONNACK.
pub(super) const LEAST_CONNACK: usize = 4;

/// Reads the rest of a packet whose first bytes are there.
pub(super) async fn read_body(
    stream: &mut (impl AsyncRead + Unpin),
    header: FixedHeader,
    mut packet: Vec<u8>,
) -> Result<Vec<u8>, Refusal> {
    let read = packet.len();
    packet.resize(header.packet_len() as usize, 0);
    stream.read_exact(packet.get_mut(read..).unwrap_or_default()).await?;
    Ok(packet)
}

/// Ends the connection so that the peer sees what was sent: a socket closed with unread input would be reset, and the
/// reset overtakes our last bytes.
pub(super) async fn close(stream: &mut TcpStream, patience: Duration) {
    let orderly = async {
        stream.shutdown().await?;
        let mut sink = vec![0; 4096];
        let mut left = MAX_DRAINED;
        while left > 0 {
            match stream.read(&mut sink).await? {
                0 => break,
                n => left = left.saturating_sub(n),
            }
        }
        Ok::<_, io::Error>(())
    };
    // The peer is being left; how it takes that is of no consequence.
    let _ = timeout(patience, orderly).await;
}

/// Nobody sends more after a refusal by accident.
const MAX_DRAINED: usize = 256 << 10;
