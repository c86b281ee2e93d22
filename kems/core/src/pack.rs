//! Streams of D-bit values, little-endian: bit i of a stream is bit i mod 8 of byte i / 8. D is 1..=16.

use crate::ct::CtSink;

/// Writes values below 2^D (higher bits are dropped). A last incomplete byte is padded with zero bits.
#[inline(always)]
pub fn pack<const D: u32>(values: impl IntoIterator<Item = u16>, sink: &mut impl CtSink) {
    let (mut pending, mut bits) = (0u32, 0);
    for value in values {
        pending |= (u32::from(value) & mask::<D>()) << bits;
        bits += D;
        while bits >= 8 {
            sink.put(pending as u8);
            pending >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        sink.put(pending as u8);
    }
}

/// Reads floor(8 * `bytes.len()` / D) values.
#[inline(always)]
pub fn unpack<const D: u32>(bytes: &[u8]) -> Unpack<'_, D> {
    Unpack {
        bytes: bytes.iter(),
        pending: 0,
        bits: 0,
    }
}

/// [`pack`] of eight values, which are always D whole bytes: every shift is a constant once the loop is unrolled.
#[inline(always)]
pub fn pack8<const D: usize>(values: &[u16; 8]) -> [u8; D] {
    const { assert!(D >= 1 && D <= 16) };
    let mut bytes = [0; D];
    for (k, &value) in values.iter().enumerate() {
        let shifted = (u32::from(value) & ((1 << D) - 1)) << (k * D % 8);
        for (byte, part) in bytes[k * D / 8..].iter_mut().zip(shifted.to_le_bytes()) {
            *byte |= part;
        }
    }
    bytes
}

/// The eight values of D bytes, as [`unpack`] gives them.
#[inline(always)]
pub fn unpack8<const D: usize>(bytes: &[u8; D]) -> [u16; 8] {
    const { assert!(D >= 1 && D <= 16) };
    core::array::from_fn(|k| {
        let byte = |i: usize| bytes.get(k * D / 8 + i).map_or(0, |&byte| u32::from(byte));
        let window = byte(0) | byte(1) << 8 | byte(2) << 16;
        ((window >> (k * D % 8)) & ((1 << D) - 1)) as u16
    })
}

/// Iterator of [`unpack`].
#[derive(Clone)]
pub struct Unpack<'a, const D: u32> {
    bytes: core::slice::Iter<'a, u8>,
    pending: u32,
    bits: u32,
}

impl<const D: u32> Iterator for Unpack<'_, D> {
    type Item = u16;

    #[inline(always)]
    fn next(&mut self) -> Option<u16> {
        while self.bits < D {
            self.pending |= u32::from(*self.bytes.next()?) << self.bits;
            self.bits += 8;
        }
        let value = self.pending & mask::<D>();
        self.pending >>= D;
        self.bits -= D;
        Some(value as u16)
    }
}

const fn mask<const D: u32>() -> u32 {
    const { assert!(D >= 1 && D <= 16) };
    (1 << D) - 1
}
