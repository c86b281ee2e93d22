//! The outer packets: real MQTT 5.0 packets whose Authentication Data is M1 to M4.
//!
//! CONNECT (M1) and AUTH 0x18 (M3) go to the broker, AUTH 0x18 (M2, maybe in [`Pieces`]) and CONNACK (M4) to the
//! client. Every one names the method `HKM1`. Writers put method and data in this order; readers take properties in any
//! order and ignore all others.

mod broker;
mod client;
mod pieces;

use core::ops::Range;

pub use broker::{FromClient, Refusal, read_connect, read_from_client, write_refusal};
pub use client::{FromBroker, read_from_broker};
pub use pieces::Pieces;

use super::header::PacketType;
use super::writer::varint_len;
use super::{Properties, Property, ReasonCode, Writer};
use crate::aead::TAG_LEN;
use crate::{Error, Malformed};

/// The Authentication Method.
pub const METHOD: &str = "HKM1";

/// The longest outer CONNECT that a front reads, fixed header included, in bytes.
pub const MAX_CONNECT_LEN: u16 = 16_384;

/// Packet bytes around the data of an AUTH at most, in bytes: what a packet limit loses to its frame.
pub const AUTH_OVERHEAD: u16 = 18;

/// Writes the outer CONNECT around `data_len` bytes: level 5, clean start, keep alive 0, empty client id. Returns the
/// place for M1 and the length of the packet.
///
/// # Errors
/// [`Error::Buffer`].
pub fn frame_connect(out: &mut [u8], data_len: u16) -> Result<(&mut [u8], usize), Error> {
    CONNECT.write(out, data_len)
}

/// Writes an AUTH 0x18 around `data_len` bytes. Returns the place for the data (M2, a piece of it, or M3) and the
/// length of the packet.
///
/// # Errors
/// [`Error::Buffer`].
pub fn frame_auth(out: &mut [u8], data_len: u16) -> Result<(&mut [u8], usize), Error> {
    AUTH.write(out, data_len)
}

/// Writes the successful CONNACK around `data_len` bytes. Returns the place for M4 and the length of the packet.
///
/// # Errors
/// [`Error::Buffer`].
pub fn frame_connack(out: &mut [u8], data_len: u16) -> Result<(&mut [u8], usize), Error> {
    CONNACK.write(out, data_len)
}

/// Writes the AUTH 0x18 without data that asks for the next piece of M2. Returns its length.
///
/// # Errors
/// [`Error::Buffer`].
pub fn write_next_piece(out: &mut [u8]) -> Result<usize, Error> {
    let mut w = Writer::new(out);
    w.bytes(&[AUTH.first, 9, ReasonCode::ContinueAuthentication as u8, 7, 0x15]);
    w.string(METHOD);
    w.finish()
}

/// Length of the AUTH that [`frame_auth`] writes around `data_len` bytes.
pub const fn auth_len(data_len: u16) -> u32 {
    AUTH.len(data_len)
}

/// Length of the CONNACK that [`frame_connack`] writes around `data_len` bytes.
pub const fn connack_len(data_len: u16) -> u32 {
    CONNACK.len(data_len)
}

/// The longest inner CONNACK whose M4 fits into a CONNACK of at most `packet_limit` bytes.
pub const fn inner_connack_limit(packet_limit: u16) -> u16 {
    let mut data_len = packet_limit;
    while data_len > 0 && connack_len(data_len) > packet_limit as u32 {
        data_len -= 1;
    }
    data_len.saturating_sub(TAG_LEN as u16)
}

/// Everything of a packet but its properties.
struct Frame {
    first: u8,
    before: &'static [u8],
    after: &'static [u8],
}

const CONNECT: Frame = Frame {
    first: PacketType::Connect.first_byte(),
    before: CONNECT_HEADER,
    after: EMPTY_CLIENT_ID,
};
const AUTH: Frame = Frame {
    first: PacketType::Auth.first_byte(),
    before: &[ReasonCode::ContinueAuthentication as u8],
    after: &[],
};
const CONNACK: Frame = Frame {
    first: PacketType::Connack.first_byte(),
    before: &[0, ReasonCode::Success as u8],
    after: &[],
};
/// Protocol name and level, connect flags (clean start), keep alive.
const CONNECT_HEADER: &[u8] = b"\0\x04MQTT\x05\x02\0\0";
const EMPTY_CLIENT_ID: &[u8] = &[0, 0];

impl Frame {
    fn write<'b>(&self, out: &'b mut [u8], data_len: u16) -> Result<(&'b mut [u8], usize), Error> {
        let properties = properties_len(data_len);
        let mut w = Writer::new(out);
        w.u8(self.first);
        w.varint(self.remaining(properties));
        w.bytes(self.before);
        w.varint(properties);
        w.u8(0x15);
        w.string(METHOD);
        w.u8(0x16);
        w.u16(data_len);
        let start = w.len();
        w.skip(data_len.into());
        let end = w.len();
        w.bytes(self.after);
        let len = w.finish()?;
        let data = out.get_mut(start..end).ok_or(Error::Misuse)?;
        Ok((data, len))
    }

    const fn len(&self, data_len: u16) -> u32 {
        let remaining = self.remaining(properties_len(data_len));
        1 + varint_len(remaining) as u32 + remaining
    }

    const fn remaining(&self, properties: u32) -> u32 {
        (self.before.len() + varint_len(properties) + self.after.len()) as u32 + properties
    }
}

/// Length of `15 00 04 "HKM1" | 16 len(2) data`.
const fn properties_len(data_len: u16) -> u32 {
    10 + data_len as u32
}

/// Where the two properties that count are.
struct Carried {
    /// Whether the method is there and is ours.
    method: bool,
    data: Option<Range<usize>>,
}

impl Carried {
    /// Finds them in `properties`, which end `behind` bytes before the end of a packet of `packet_len` bytes.
    fn find(properties: Properties<'_>, packet_len: usize, behind: usize) -> Self {
        let mut found = Self {
            method: false,
            data: None,
        };
        let mut end = packet_len.saturating_sub(behind + properties.as_bytes().len());
        let mut iter = properties.iter();
        while let Some((property, bytes)) = iter.next_with_bytes() {
            end += bytes.len();
            match property {
                Property::AuthenticationMethod(method) => found.method = method == METHOD,
                Property::AuthenticationData(data) => found.data = Some(end - data.len()..end),
                _ => {}
            }
        }
        found
    }
}

/// The part of `packet` that a parser has found before.
fn part(packet: &mut [u8], range: Option<Range<usize>>) -> Result<&mut [u8], Malformed> {
    packet
        .get_mut(range.ok_or(Malformed::Missing)?)
        .ok_or(Malformed::Truncated)
}

/// The data of an AUTH 0x18, `None` if it has no such property.
fn read_auth(packet: &[u8], body: &[u8]) -> Result<Option<Range<usize>>, Error> {
    let mut r = super::Reader::new(body);
    // `F0 00` stands for reason 0x00 (MQTT 5.0 section 3.15.2.1), which ends an authentication that has not begun.
    if r.is_empty() || r.u8()? != ReasonCode::ContinueAuthentication as u8 {
        return Err(Error::UnexpectedPacket);
    }
    let properties = Properties::read(&mut r, super::Place::Auth)?;
    r.finish()?;
    let carried = Carried::find(properties, packet.len(), 0);
    if carried.method {
        Ok(carried.data)
    } else {
        Err(Error::Unsupported)
    }
}

#[cfg(test)]
mod tests;
