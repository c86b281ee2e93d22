//! Whether bytes are UTF-8 (Unicode 15 table 3-7) without U+0000.

#[cfg(not(all(target_arch = "avr", not(kemqtt_portable))))]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?;
    (!text.as_bytes().contains(&0)).then_some(text)
}

/// The check alone, in a fifth of the flash that the standard library's fast paths and its table take.
#[cfg(any(test, all(target_arch = "avr", not(kemqtt_portable))))]
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter();
    while let Some(first) = rest.next() {
        let (continuations, mut least, mut most) = match first {
            0x01..=0x7f => continue,
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xe1..=0xef => (2, 0x80, 0xbf),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => return false,
        };
        for _ in 0..continuations {
            match rest.next() {
                Some(byte) if (least..=most).contains(byte) => (least, most) = (0x80, 0xbf),
                _ => return false,
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_text, text};

    /// Every first byte, and behind it every border of table 3-7 at three places, cut at any length.
    #[test]
    fn agrees_with_the_standard_library() {
        const BORDERS: [u8; 14] = [
            0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe1, 0xf4, 0xff,
        ];
        for first in 0..=u8::MAX {
            for second in BORDERS {
                for third in BORDERS {
                    for fourth in BORDERS {
                        let bytes = [first, second, third, fourth];
                        for len in 0..=4 {
                            let bytes = &bytes[..len];
                            let expected = text(bytes).is_some();
                            assert_eq!(is_text(bytes), expected, "{bytes:x?}");
                        }
                    }
                }
            }
        }
    }
}
