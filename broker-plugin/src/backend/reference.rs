//! The Server Reference of a back end's DISCONNECT points inside the operator's network (MQTT 5.0 section 4.11): a
//! stream that replaces or drops it.

use std::{
    io, mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use hybrid_handshake::mqtt::{Disconnect, FixedHeader, Level, Place, Properties, Property, Tracker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::BoxedStream;

/// The back end's stream of an MQTT 5 session behind its CONNACK.
pub(crate) struct WithoutReference {
    stream: BoxedStream,
    /// What clients see in its place.
    instead: Option<String>,
    tracker: Tracker,
    /// A DISCONNECT, as far as it is here. Nothing comes behind it.
    held: Vec<u8>,
    /// Ours in its place, as far as it is not read yet.
    ready: Vec<u8>,
    ended: bool,
}

impl WithoutReference {
    pub(crate) fn new(stream: BoxedStream, instead: Option<String>) -> Self {
        Self {
            stream,
            instead,
            tracker: Tracker::new(u32::MAX),
            held: Vec::new(),
            ready: Vec::new(),
            ended: false,
        }
    }

    /// How much of `bytes` stands before a DISCONNECT.
    fn passes(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        loop {
            if self.tracker.at_boundary() && rest.first().is_some_and(|byte| byte >> 4 == DISCONNECT) {
                return Ok(bytes.len() - rest.len());
            }
            if self.tracker.next(&mut rest).map_err(io::Error::other)?.is_none() {
                return Ok(bytes.len());
            }
        }
    }

    /// Takes bytes of the DISCONNECT.
    fn hold(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        let header = FixedHeader::read(&self.held).map_err(|_| invalid())?;
        let Some(len) = header.map(|header| header.packet_len() as usize) else {
            return Ok(());
        };
        if len > MAX_DISCONNECT {
            return Err(invalid());
        }
        if let Some(packet) = self.held.get(..len) {
            self.ready = rewrite(packet, self.instead.as_deref()).ok_or_else(invalid)?;
            self.held = Vec::new();
            self.ended = true;
        }
        Ok(())
    }
}

impl AsyncRead for WithoutReference {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if !self.ready.is_empty() {
                let len = self.ready.len().min(buf.remaining());
                let rest = self.ready.split_off(len);
                buf.put_slice(&mem::replace(&mut self.ready, rest));
                return Poll::Ready(Ok(()));
            }
            if self.ended {
                return Poll::Ready(Ok(()));
            }
            let start = buf.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
            let new = buf.filled().get(start..).unwrap_or_default();
            if new.is_empty() {
                self.ended = true;
                return Poll::Ready(Ok(()));
            }
            let passed = if self.held.is_empty() { self.passes(new)? } else { 0 };
            self.hold_rest(new, passed)?;
            buf.set_filled(start + passed);
            if passed > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl WithoutReference {
    fn hold_rest(&mut self, new: &[u8], passed: usize) -> io::Result<()> {
        match new.get(passed..) {
            Some(rest) if !rest.is_empty() => self.hold(rest),
            _ => Ok(()),
        }
    }
}

impl AsyncWrite for WithoutReference {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The properties of a CONNACK or DISCONNECT with `instead` for the Server Reference, or without one.
pub(crate) fn replace(properties: Properties<'_>, instead: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut properties = properties.iter();
    while let Some((property, bytes)) = properties.next_with_bytes() {
        match (property, instead) {
            (Property::ServerReference(_), None) => {}
            (Property::ServerReference(_), Some(text)) => {
                out.push(SERVER_REFERENCE);
                out.extend_from_slice(&u16::try_from(text.len()).unwrap_or(0).to_be_bytes());
                out.extend_from_slice(text.as_bytes());
            }
            _ => out.extend_from_slice(bytes),
        }
    }
    out
}

fn rewrite(packet: &[u8], instead: Option<&str>) -> Option<Vec<u8>> {
    let told = Disconnect::parse(packet, Level::V5).ok()?;
    let mut properties = told.properties.iter();
    if !properties.any(|property| matches!(property, Property::ServerReference(_))) {
        return Some(packet.to_vec());
    }
    let raw = replace(told.properties, instead);
    let properties = Properties::check(&raw, Place::Disconnect).ok()?;
    let mut out = vec![0; raw.len() + 16];
    let len = Disconnect { properties, ..told }.write(Level::V5, &mut out).ok()?;
    out.truncate(len);
    Some(out)
}

fn invalid() -> io::Error {
    io::Error::other("DISCONNECT of the back end does not parse")
}

/// MQTT 5.0 table 2-1.
const DISCONNECT: u8 = 14;
/// MQTT 5.0 table 2-4.
const SERVER_REFERENCE: u8 = 0x1c;
const MAX_DISCONNECT: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    /// PUBLISH `t`, then DISCONNECT 0x9D with reason string `go` and Server Reference `in`.
    const STREAM: [u8; 20] = [
        0x30, 4, 0, 1, b't', 0, 0xe0, 12, 0x9d, 10, 0x1f, 0, 2, b'g', b'o', 0x1c, 0, 2, b'i', b'n',
    ];

    async fn through(instead: Option<&str>, piece: usize) -> Vec<u8> {
        let (mut back_end, far) = duplex(piece);
        let mut stream = WithoutReference::new(Box::new(far), instead.map(str::to_owned));
        let write = async {
            back_end.write_all(&STREAM).await.unwrap();
            drop(back_end);
        };
        let mut out = Vec::new();
        let read = async { stream.read_to_end(&mut out).await.unwrap() };
        tokio::join!(write, read);
        out
    }

    #[tokio::test]
    async fn a_reference_is_dropped_or_replaced_however_it_arrives() {
        for piece in [1, 3, 7, 64] {
            let dropped = [&STREAM[..6], &[0xe0, 7, 0x9d, 5, 0x1f, 0, 2, b'g', b'o']].concat();
            assert_eq!(through(None, piece).await, dropped, "pieces of {piece}");
            let replaced = [
                &STREAM[..6],
                &[0xe0, 13, 0x9d, 11, 0x1f, 0, 2, b'g', b'o', 0x1c, 0, 3, b'o', b'u', b't'],
            ]
            .concat();
            assert_eq!(through(Some("out"), piece).await, replaced, "pieces of {piece}");
        }
    }
}
