//! Whole packets from a transport, judged by their headers first.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::mqtt::{FixedHeader, PacketType};
use tokio::io::AsyncRead;

use super::incoming::Incoming;
use crate::error::{Error, Step};

/// Waits until the front of `incoming` holds one whole packet of at most `limit` bytes; gives its length.
///
/// Too long a packet, and one that is not of the `expected` types, is refused as soon as its header is there.
pub(crate) async fn receive(
    transport: &mut (impl AsyncRead + Unpin),
    incoming: &mut Incoming,
    limit: u16,
    expected: &[PacketType],
    step: Step,
) -> Result<usize, Error> {
    loop {
        if let Some(header) = FixedHeader::read(incoming.bytes()).map_err(|e| Error::at(step, e.into()))? {
            let len = match usize::try_from(header.packet_len()) {
                Ok(len) if len <= limit.into() => len,
                _ => return Err(Error::at(step, Hkm1::TooLarge { limit })),
            };
            if !expected.contains(&header.packet) {
                return Err(Error::at(step, Hkm1::UnexpectedPacket));
            }
            if len <= incoming.bytes().len() {
                return Ok(len);
            }
        }
        match poll_fn(|cx| incoming.poll_fill(Pin::new(&mut *transport), cx)).await {
            Ok(0) => return Err(Error::Closed(step)),
            Ok(_) => {}
            Err(e) => return Err(broken(step, e)),
        }
    }
}

/// What a failed transport means before the session.
pub(crate) fn broken(step: Step, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            Error::Closed(step)
        }
        _ => Error::Network {
            what: format!("the connection failed at {step}"),
            source,
        },
    }
}
