use crate::backends;

/// The text of a UTF-8 Encoded String (MQTT 5.0 section 1.5.4): `bytes` if they are UTF-8 without U+0000.
pub fn text(bytes: &[u8]) -> Option<&str> {
    backends::text(bytes)
}
