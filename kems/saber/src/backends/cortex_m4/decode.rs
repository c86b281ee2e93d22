//! Packed coefficients, each from a word at any address: two instructions.

/// The twin of `poly::decode_centred`.
pub(crate) fn decode_centred<const D: usize>(bytes: &[u8], out: &mut [i16]) {
    decode::<D, D>(bytes, out);
}

/// The twin of `poly::decode_secret`.
pub(crate) fn decode_secret(bytes: &[u8], out: &mut [i16]) {
    decode::<13, 4>(bytes, out);
}

/// The lowest `BITS` bits of fields of D bits, with their sign.
#[inline(always)]
fn decode<const D: usize, const BITS: usize>(bytes: &[u8], out: &mut [i16]) {
    for (eight, bytes) in out.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<D>().0) {
        for (k, c) in eight.iter_mut().enumerate() {
            // The word that the field begins in, or the last one.
            let at = (k * D / 8).min(D - 4);
            let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            *c = ((word << (32 - BITS - (k * D - 8 * at))) as i32 >> (32 - BITS)) as i16;
        }
    }
}
