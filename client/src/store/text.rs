//! The lines of key files.

use std::sync::Arc;

use hybrid_handshake::Error as Hkm1;
use hybrid_handshake::identity::{BrokerKey, BrokerLine, MAX_KEY_LEN, Psk, PskLine};

use super::credential::Credential;
use super::pins::Pin;

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
    if lines.next().is_some() {
        return Err("holds more than one credential; keep one file per device");
    }
    match PskLine::parse(line) {
        Ok(PskLine { id, psk }) => Ok(Credential::Psk { id, psk: Arc::new(psk) }),
        Err(_) if line.starts_with("hkm1-broker") => Err("is a broker's key, not a credential; exchange the two files"),
        Err(_) => Err("holds no credential; the line is `hkm1-psk <id> <base64 of 32 bytes>`"),
    }
}

/// The opposite of [`parse_credential`]; `None` if there is nothing to write.
pub(super) fn format_credential(credential: &Credential) -> Option<zeroize::Zeroizing<String>> {
    let Credential::Psk { id, psk } = credential else {
        return None;
    };
    // Long enough for any id: a string that grows leaves copies behind.
    let mut text = zeroize::Zeroizing::new(String::with_capacity(128));
    let line = PskLine {
        id: *id,
        psk: Psk::from_bytes(*psk.expose()),
    };
    line.write(&mut *text).ok()?;
    text.push('\n');
    Some(text)
}

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

/// Lines that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
