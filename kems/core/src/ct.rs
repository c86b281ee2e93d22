//! Re-encryption without a second ciphertext in RAM: encryption writes into a [`CtSink`], which stores or compares.

use subtle::{Choice, ConstantTimeEq};

/// Where encryption puts the bytes of a ciphertext, first to last.
pub trait CtSink {
    /// Takes the next byte.
    fn put(&mut self, byte: u8);
}

/// Encapsulation: the bytes go into a buffer.
pub struct Emit<'a>(core::slice::IterMut<'a, u8>);

impl<'a> Emit<'a> {
    /// Fills `ct` from its start. Bytes beyond its end are dropped.
    pub fn new(ct: &'a mut [u8]) -> Self {
        Self(ct.iter_mut())
    }
}

impl CtSink for Emit<'_> {
    fn put(&mut self, byte: u8) {
        if let Some(place) = self.0.next() {
            *place = byte;
        }
    }
}

/// Decapsulation: the bytes are compared with the received ciphertext, in time that does not depend on the outcome.
pub struct Compare<'a> {
    theirs: core::slice::Iter<'a, u8>,
    diff: u8,
}

impl<'a> Compare<'a> {
    /// Compares with `ct` from its start.
    pub fn new(ct: &'a [u8]) -> Self {
        Self {
            theirs: ct.iter(),
            diff: 0,
        }
    }

    /// 1 if every byte was equal and none is left over.
    pub fn matched(&self) -> Choice {
        self.diff.ct_eq(&0) & Choice::from(u8::from(self.theirs.len() == 0))
    }
}

impl CtSink for Compare<'_> {
    fn put(&mut self, byte: u8) {
        self.diff |= self.theirs.next().map_or(0xff, |theirs| theirs ^ byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(ct: &[u8], bytes: &[u8]) -> bool {
        let mut sink = Compare::new(ct);
        bytes.iter().for_each(|&byte| sink.put(byte));
        sink.matched().into()
    }

    #[test]
    fn compare_sees_every_difference() {
        assert!(compare(&[1, 2, 3], &[1, 2, 3]));
        assert!(!compare(&[1, 2, 3], &[1, 2, 2]));
        assert!(!compare(&[1, 2, 3], &[0x81, 2, 3]));
        assert!(!compare(&[1, 2, 3], &[1, 2]));
        assert!(!compare(&[1, 2], &[1, 2, 0]));
    }
}
