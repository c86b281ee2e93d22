//! Key files: one line each, base64 with padding.

use core::{fmt, str::FromStr};

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::{BrokerKey, DeviceId, Fingerprint, Psk, PublicKey};
use crate::{Error, Malformed};

/// What a client pins: `hkm1-broker <base64 of kem | group | pk_B | gx_B> [<hex fingerprint of the successor>]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerLine<'a> {
    /// The pinned key.
    pub key: BrokerKey<'a>,
    /// The only key that may follow it.
    pub successor: Option<Fingerprint>,
}

impl<'a> BrokerLine<'a> {
    const TAG: &'static str = "hkm1-broker";

    /// Parses a line; the key's bytes go into `buffer` ([`MAX_KEY_LEN`] suffices).
    ///
    /// # Errors
    /// [`Error::Malformed`]; [`Error::Unsupported`] for a KEM or group that no broker key has; [`Error::Buffer`].
    pub fn parse(line: &str, buffer: &'a mut [u8]) -> Result<Self, Error> {
        let mut words = Words::of(line, Self::TAG)?;
        let key = BrokerKey::parse(decode(words.next()?, buffer)?)?;
        let successor = words.0.next().map(str::parse).transpose()?;
        words.finish()?;
        Ok(Self { key, successor })
    }
}

impl fmt::Display for BrokerLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", Self::TAG)?;
        encode_key(self.key.public(), f)?;
        self.successor.map_or(Ok(()), |successor| write!(f, " {successor}"))
    }
}

/// The public half of a device's static key, which `enroll` takes: `hkm1-device <id> <base64 of kem | group | pk_P | gx_P>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLine<'a> {
    /// The device's name.
    pub id: DeviceId,
    /// Its key.
    pub key: PublicKey<'a>,
}

impl<'a> DeviceLine<'a> {
    const TAG: &'static str = "hkm1-device";

    /// Parses a line; the key's bytes go into `buffer` ([`MAX_KEY_LEN`] suffices).
    ///
    /// # Errors
    /// As [`BrokerLine::parse`].
    pub fn parse(line: &str, buffer: &'a mut [u8]) -> Result<Self, Error> {
        let mut words = Words::of(line, Self::TAG)?;
        let id = DeviceId::new(words.next()?)?;
        let key = PublicKey::parse(decode(words.next()?, buffer)?)?;
        words.finish()?;
        Ok(Self { id, key })
    }
}

impl fmt::Display for DeviceLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", Self::TAG, self.id)?;
        encode_key(&self.key, f)
    }
}

/// A device's pre-shared key: `hkm1-psk <id> <base64 of 32 bytes>`. Secret, hence neither `Display` nor `Debug`.
pub struct PskLine {
    /// The device's name.
    pub id: DeviceId,
    /// Its key.
    pub psk: Psk,
}

impl PskLine {
    const TAG: &'static str = "hkm1-psk";

    /// Parses a line.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(line: &str) -> Result<Self, Error> {
        let mut words = Words::of(line, Self::TAG)?;
        let id = DeviceId::new(words.next()?)?;
        let mut bytes = Zeroizing::new([0; Psk::LEN]);
        if decode(words.next()?, &mut *bytes)?.len() != Psk::LEN {
            return Err(Malformed::Length.into());
        }
        words.finish()?;
        Ok(Self {
            id,
            psk: Psk::from_bytes(*bytes),
        })
    }

    /// Writes the line, secret included, without a line break.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        write!(out, "{} {} ", Self::TAG, self.id)?;
        encode(self.psk.expose().iter().copied(), out)
    }
}

/// Length of the longest encoded key in bytes: NTRU+1152 with P-256.
pub const MAX_KEY_LEN: usize = 2 + 1728 + 65;

/// 64 hex digits of either case.
impl FromStr for Fingerprint {
    type Err = Malformed;

    fn from_str(hex: &str) -> Result<Self, Malformed> {
        let mut bytes = [0; Self::LEN];
        if hex.len() != 2 * Self::LEN {
            return Err(Malformed::Length);
        }
        for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            for &digit in digits {
                let digit = char::from(digit).to_digit(16).ok_or(Malformed::Value)?;
                *byte = *byte << 4 | digit as u8;
            }
        }
        Ok(Self::from_bytes(bytes))
    }
}

/// The words of a line whose first one is as it should be.
struct Words<'a>(core::str::SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn of(line: &'a str, tag: &str) -> Result<Self, Malformed> {
        let mut words = line.split_ascii_whitespace();
        if words.next() == Some(tag) {
            Ok(Self(words))
        } else {
            Err(Malformed::Type)
        }
    }

    fn next(&mut self) -> Result<&'a str, Malformed> {
        self.0.next().ok_or(Malformed::Missing)
    }

    fn finish(mut self) -> Result<(), Malformed> {
        self.0.next().map_or(Ok(()), |_| Err(Malformed::Trailing))
    }
}

fn decode<'b>(base64: &str, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
    Base64::decode(base64, buffer).map_err(|error| match error {
        base64ct::Error::InvalidEncoding => Malformed::Value.into(),
        base64ct::Error::InvalidLength => Malformed::Length.into(),
    })
}

fn encode_key(key: &PublicKey<'_>, out: &mut impl fmt::Write) -> fmt::Result {
    encode(
        key.codes()
            .into_iter()
            .chain(key.ek().iter().copied())
            .chain(key.share().iter().copied()),
        out,
    )
}

fn encode(mut bytes: impl Iterator<Item = u8>, out: &mut impl fmt::Write) -> fmt::Result {
    let (mut chunk, mut text) = (Zeroizing::new([0; CHUNK_LEN]), Zeroizing::new([0; CHUNK_LEN / 3 * 4]));
    loop {
        let len = chunk
            .iter_mut()
            .zip(&mut bytes)
            .map(|(place, byte)| *place = byte)
            .count();
        let filled = chunk.get(..len).unwrap_or_default();
        out.write_str(Base64::encode(filled, &mut *text).map_err(|_| fmt::Error)?)?;
        if len < CHUNK_LEN {
            return Ok(());
        }
    }
}

/// A multiple of three: only the last chunk is padded.
const CHUNK_LEN: usize = 48;
