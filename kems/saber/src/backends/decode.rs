//! Packed coefficients, byte by byte: for every target but the Cortex-M4.

use kem_core::pack::unpack;

/// Reads D-bit coefficients as representatives in -2^(D-1)..2^(D-1): the range for which the multiplication is exact. As many
/// as `out` has, a multiple of 32.
pub(crate) fn decode_centred<const D: usize>(bytes: &[u8], out: &mut [i16]) {
    for (eight, bytes) in out.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<D>().0) {
        for (k, c) in eight.iter_mut().enumerate() {
            let (at, shift) = (k * D / 8, k * D % 8);
            let byte = |i: usize| bytes.get(at + i).map_or(0, |&byte| u32::from(byte) << (8 * i));
            let value = ((byte(0) | byte(1) | byte(2)) >> shift) as u16;
            *c = (value << (16 - D)) as i16 >> (16 - D);
        }
    }
}

/// Reads a secret polynomial from its 13-bit encoding. Coefficients come out in -8..8 even if `bytes` is no secret: what a
/// damaged key gives then is arbitrary, but within the bounds of the multiplication.
pub(crate) fn decode_secret(bytes: &[u8], out: &mut [i16]) {
    for (c, value) in out.iter_mut().zip(unpack::<13>(bytes)) {
        *c = (value << 12) as i16 >> 12;
    }
}
