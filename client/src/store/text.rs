//! The lines of key files.

use std::fmt::Write;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::identity::{BrokerKey, BrokerLine, DeviceId, DeviceLine, MAX_KEY_LEN, Psk, PskLine};
use hybrid_handshake::resume::{STORED_LEN, Ticket};
use zeroize::Zeroizing;

use super::credential::Credential;
use super::device::DeviceKey;
use super::pins::Pin;
use super::tickets::{Held, Owner};

/// The current key, and a second line for one that has not proved itself yet.
pub(super) fn parse_pins(text: &str) -> Result<(Pin, Option<Pin>), &'static str> {
    let mut lines = lines(text);
    let current = parse_pin(
        lines
            .next()
            .ok_or("is empty; it needs the broker's `hkm1-broker` line")?,
    )?;
    let next = lines.next().map(parse_pin).transpose()?;
    if next
        .as_ref()
        .is_some_and(|next| current.successor != Some(next.fingerprint))
    {
        return Err("the second key is not the successor that the first one names; remove the line that is wrong");
    }
    if lines.next().is_some() {
        return Err("holds more than a key and its successor; keep one file per broker");
    }
    Ok((current, next))
}

/// The opposite of [`parse_pins`].
pub(super) fn format_pins<'p>(pins: impl Iterator<Item = &'p Pin>) -> String {
    let mut text = String::new();
    for pin in pins {
        // What is in a `Pin` was parsed before.
        if let Ok(key) = BrokerKey::parse(&pin.key) {
            text += &format!(
                "{}\n",
                BrokerLine {
                    key,
                    successor: pin.successor
                }
            );
        }
    }
    text
}

pub(super) fn parse_credential(text: &str) -> Result<Credential, &'static str> {
    let mut lines = lines(text);
    let line = lines.next().ok_or("is empty; it needs one `hkm1-psk` line")?;
    let credential = match line.split_ascii_whitespace().next() {
        Some("hkm1-device") => parse_device(line, lines.next()),
        Some("hkm1-broker") => Err("is a broker's key, not a credential; exchange the two files"),
        _ => match PskLine::parse(line) {
            Ok(PskLine { id, psk }) => Ok(Credential::Psk { id, psk: Arc::new(psk) }),
            Err(_) => Err("holds no credential; the line is `hkm1-psk <id> <base64 of 32 bytes>`"),
        },
    }?;
    match lines.next() {
        None => Ok(credential),
        Some(_) => Err("holds more than one credential; keep one file per device"),
    }
}

/// The opposite of [`parse_credential`]; `None` if there is nothing to write.
pub(super) fn format_credential(credential: &Credential) -> Option<Zeroizing<String>> {
    // Long enough for any key: a string that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(MAX_CREDENTIAL_LEN));
    match credential {
        Credential::Anonymous => return None,
        Credential::Psk { id, psk } => {
            let line = PskLine {
                id: *id,
                psk: Psk::from_bytes(*psk.expose()),
            };
            line.write(&mut *text).ok()?;
        }
        Credential::Kem { id, key } => {
            text.push_str(&key.public_line(*id).ok()?);
            text.push('\n');
            text.push_str(SECRET_TAG);
            text.push(' ');
            STANDARD.encode_string(key.secret_bytes().as_slice(), &mut text);
        }
    }
    text.push('\n');
    Some(text)
}

/// `hkm1-device <id> <base64>` as it is enrolled, and `hkm1-device-secret <base64 of dk | z | x>` for this client only.
fn parse_device(public: &str, secret: Option<&str>) -> Result<Credential, &'static str> {
    let none = "holds no usable device key; make a new one and enrol it";
    let mut buffer = [0; MAX_KEY_LEN];
    let DeviceLine { id, key } = DeviceLine::parse(public, &mut buffer).map_err(|_| none)?;
    let secret = secret
        .and_then(|line| line.strip_prefix(SECRET_TAG))
        .ok_or("is the public half of a device key only")?;
    let mut bytes = Zeroizing::new(vec![0; secret.len()]);
    let len = STANDARD.decode_slice(secret.trim(), &mut bytes).map_err(|_| none)?;
    match DeviceKey::load(&key, &bytes[..len]) {
        Ok(key) => Ok(Credential::Kem { id, key: Arc::new(key) }),
        Err(Hkm1::Unsupported) => Err("holds a key of a kind that this build does not know"),
        Err(_) => Err(none),
    }
}

const SECRET_TAG: &str = "hkm1-device-secret";
const MAX_CREDENTIAL_LEN: usize = 16 * 1024;

fn parse_pin(line: &str) -> Result<Pin, &'static str> {
    let mut buffer = [0; MAX_KEY_LEN];
    match BrokerLine::parse(line, &mut buffer) {
        Ok(BrokerLine { key, successor }) => {
            let mut encoded = vec![0; key.public().encoded_len()];
            key.public()
                .write(&mut encoded)
                .map_err(|_| "holds a key of an unknown length")?;
            Ok(Pin::new(&encoded, &key, successor))
        }
        Err(Hkm1::Unsupported) => Err("holds a key of a kind that this build does not know"),
        Err(_) if line.starts_with("hkm1-psk") => {
            Err("is a device credential, not a broker's key; exchange the two files")
        }
        Err(_) => Err("holds no broker key; the line is `hkm1-broker <base64> [successor fingerprint]`"),
    }
}

/// `hkm1-ticket <fingerprint of the broker key> <id, or - without one> <base64>`: for this client only, so not part of
/// the protocol.
pub(super) fn format_ticket(held: &Held) -> Option<Zeroizing<String>> {
    let mut stored = Zeroizing::new([0; STORED_LEN]);
    held.ticket.store(&mut stored).ok()?;
    let Owner { broker, device } = &held.owner;
    let mut text = Zeroizing::new(String::with_capacity(512));
    write!(
        text,
        "{TICKET_TAG} {broker} {} ",
        device.as_ref().map_or(NO_DEVICE, DeviceId::as_str)
    )
    .ok()?;
    STANDARD.encode_string(stored.as_slice(), &mut text);
    text.push('\n');
    Some(text)
}

/// The opposite of [`format_ticket`].
pub(super) fn parse_ticket(text: &str) -> Option<Held> {
    let mut words = lines(text).next()?.split_ascii_whitespace();
    let [TICKET_TAG, broker, device, stored] = std::array::from_fn(|_| words.next().unwrap_or_default()) else {
        return None;
    };
    let device = if device == NO_DEVICE {
        None
    } else {
        Some(DeviceId::new(device).ok()?)
    };
    let mut bytes = Zeroizing::new([0; STORED_LEN]);
    let len = STANDARD.decode_slice(stored, &mut *bytes).ok()?;
    let ticket = Ticket::load(&bytes).ok().filter(|_| len == STORED_LEN)?;
    Some(Held::from_file(
        ticket,
        Owner {
            broker: broker.parse().ok()?,
            device,
        },
    ))
}

const TICKET_TAG: &str = "hkm1-ticket";
const NO_DEVICE: &str = "-";

/// Lines that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
