//! Re-encryption without a second ciphertext in RAM: encryption writes into a [`CtSink`], which stores or compares.
//! And the one gate through which a value computed from secrets becomes public: [`declassify`].

use subtle::{Choice, ConstantTimeEq};

/// Where encryption puts the bytes of a ciphertext, first to last.
pub trait CtSink {
    /// Takes the next byte.
    fn put(&mut self, byte: u8);

    /// Takes the next bytes; the same as one [`CtSink::put`] after another, but faster.
    fn put_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.put(byte));
    }
}

/// Encapsulation: the bytes go into a buffer.
pub struct Emit<'a>(&'a mut [u8]);

impl<'a> Emit<'a> {
    /// Fills `ct` from its start. Bytes beyond its end are dropped.
    pub fn new(ct: &'a mut [u8]) -> Self {
        Self(ct)
    }
}

impl CtSink for Emit<'_> {
    #[inline]
    fn put(&mut self, byte: u8) {
        if let Some(place) = self.0.split_off_first_mut() {
            *place = byte;
        }
    }

    #[inline]
    fn put_all(&mut self, bytes: &[u8]) {
        // A constant length, once inlined.
        match self.0.split_off_mut(..bytes.len()) {
            Some(places) => places.copy_from_slice(bytes),
            None => bytes.iter().for_each(|&byte| self.put(byte)),
        }
    }
}

/// Decapsulation: the bytes are compared with the received ciphertext, in time that does not depend on the outcome.
pub struct Compare<'a> {
    theirs: &'a [u8],
    diff: u8,
}

impl<'a> Compare<'a> {
    /// Compares with `ct` from its start.
    pub fn new(ct: &'a [u8]) -> Self {
        Self { theirs: ct, diff: 0 }
    }

    /// 1 if every byte was equal and none is left over.
    pub fn matched(&self) -> Choice {
        self.diff.ct_eq(&0) & Choice::from(u8::from(self.theirs.is_empty()))
    }
}

impl CtSink for Compare<'_> {
    #[inline]
    fn put(&mut self, byte: u8) {
        self.diff |= self.theirs.split_off_first().map_or(0xff, |theirs| theirs ^ byte);
    }

    #[inline]
    fn put_all(&mut self, bytes: &[u8]) {
        match self.theirs.split_off(..bytes.len()) {
            Some(theirs) => self.diff |= theirs.iter().zip(bytes).fold(0, |diff, (a, b)| diff | (a ^ b)),
            None => self.diff = 0xff,
        }
    }
}

/// Makes a condition public that was computed from secrets, so that code may branch on it.
///
/// Only conditions that the caller learns anyway go through here: whether key generation has to draw again, whether
/// an explicitly rejecting KEM accepted, whether a tag fits. A check of constant time sees them pass (`testkit::on_declassify`).
pub fn declassify(condition: Choice) -> bool {
    let mut byte = [condition.unwrap_u8()];
    declassify_bytes(&mut byte);
    byte[0] == 1
}

/// Makes bytes public that were computed from secrets: the seed of a public matrix, a share, the claims in an opened box.
pub fn declassify_bytes(bytes: &mut [u8]) {
    #[cfg(feature = "testkit")]
    crate::testkit::declassified(bytes);
    #[cfg(not(feature = "testkit"))]
    let _ = bytes;
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

    #[test]
    fn several_bytes_at_once() {
        let matched = |parts: [&[u8]; 2]| {
            let mut sink = Compare::new(&[1, 2, 3]);
            parts.iter().for_each(|part| sink.put_all(part));
            bool::from(sink.matched())
        };
        assert!(matched([&[1], &[2, 3]]));
        assert!(!matched([&[0], &[2, 3]]));
        assert!(!matched([&[1], &[2, 0x13]]));
        assert!(!matched([&[1, 2], &[3, 4]]));
        assert!(!matched([&[1, 2], &[]]));
    }

    #[test]
    fn emit_stays_inside_the_buffer() {
        let mut ct = [0; 4];
        let mut sink = Emit::new(&mut ct);
        sink.put(1);
        sink.put_all(&[2, 3]);
        sink.put_all(&[4, 5]);
        sink.put(6);
        assert_eq!(ct, [1, 2, 3, 4]);
    }
}
