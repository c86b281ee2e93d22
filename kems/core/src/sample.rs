//! Coefficients from byte streams: the centred binomial law and uniform rejection.

use zeroize::Zeroize;

use crate::hash::XofReader;

/// Coefficients of the centred binomial law with parameter ETA (1..=5) from a stream of bits, least significant bit of a
/// byte first: coefficient i is the weight of bits 2 ETA i .. 2 ETA i + ETA minus that of the next ETA bits.
///
/// Reads `ETA * out.len() / 4` bytes; `out.len()` is a multiple of 4. Out: |c| <= ETA.
pub fn cbd<const ETA: usize>(stream: &mut impl XofReader, out: &mut [i16]) {
    // Whole lanes of a sponge at a time.
    let mut buffer = [[0; ETA]; 8];
    for chunk in out.chunks_mut(32) {
        let bytes = &mut buffer.as_flattened_mut()[..ETA * chunk.len() / 4];
        stream.read(bytes);
        cbd_bytes::<ETA>(bytes, chunk);
    }
    buffer.as_flattened_mut().zeroize();
}

/// [`cbd`] on bytes: coefficients 4i .. 4i + 4 come from bytes ETA i .. ETA (i + 1).
pub fn cbd_bytes<const ETA: usize>(bytes: &[u8], out: &mut [i16]) {
    debug_assert_eq!(4 * bytes.len(), ETA * out.len());
    for (four, bytes) in out.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        *four = cbd4::<ETA>(bytes);
    }
}

/// Uniform coefficients in 0..Q by rejection: three bytes make two 12-bit candidates, low one first, and those below Q are
/// taken. Time depends on the stream, which is public.
///
/// They go to `take` in blocks, `blocks` of them, first to last, so that no polynomial has to be stored.
#[inline(always)]
pub fn uniform_12bit<const Q: i16>(
    stream: &mut impl XofReader,
    blocks: usize,
    mut take: impl FnMut(usize, &[i16; UNIFORM_BLOCK]),
) {
    let (mut done, mut taken) = (0, 0);
    let mut buffer = [0; UNIFORM_BLOCK + 16];
    let mut bytes = [0; 24];
    // Eight triples at a time divide the rate of SHAKE128; what is left over at the end is dropped.
    while done < blocks {
        stream.read(&mut bytes);
        let mut consider = |candidate: i16| {
            // Stored first and counted if it is good: the branch would be hard to predict.
            if let Some(place) = buffer.get_mut(taken) {
                *place = candidate;
                taken += usize::from(candidate < Q);
            }
        };
        if cfg!(target_pointer_width = "16") {
            for &[a, b, c] in bytes.as_chunks().0 {
                consider(i16::from(a) | i16::from(b & 15) << 8);
                consider(i16::from(b >> 4) | i16::from(c) << 4);
            }
        } else {
            for words in bytes.as_chunks::<4>().0.as_chunks::<3>().0 {
                let [a, b, c] = words.map(u32::from_le_bytes);
                consider((a & 0xfff) as i16);
                consider((a >> 12 & 0xfff) as i16);
                consider(((a >> 24 | b << 8) & 0xfff) as i16);
                consider((b >> 4 & 0xfff) as i16);
                consider((b >> 16 & 0xfff) as i16);
                consider(((b >> 28 | c << 4) & 0xfff) as i16);
                consider((c >> 8 & 0xfff) as i16);
                consider((c >> 20) as i16);
            }
        }
        if let Some(rest) = taken.checked_sub(UNIFORM_BLOCK) {
            let (block, _) = buffer.as_chunks::<UNIFORM_BLOCK>();
            take(done, &block[0]);
            buffer.copy_within(UNIFORM_BLOCK.., 0);
            taken = rest;
            done += 1;
        }
    }
}

/// Coefficients in a block of [`uniform_12bit`].
pub const UNIFORM_BLOCK: usize = 32;

/// Eight fields of ETA bits; the weight of each fits in the field itself.
#[inline(always)]
fn cbd4<const ETA: usize>(bytes: &[u8; ETA]) -> [i16; 4] {
    const { assert!(ETA >= 1 && ETA <= 5) };
    // In the narrowest integer that holds the bits, and by constant shifts: small machines work byte by byte.
    macro_rules! in_words_of {
        ($word:ty) => {{
            let bits = bytes
                .iter()
                .rev()
                .fold(0, |bits: $word, &byte| bits.wrapping_shl(8) | <$word>::from(byte));
            let lowest = (0..8).fold(0, |mask: $word, field| mask | 1 << (ETA * field));
            let mut weights = (0..ETA).fold(0, |sum: $word, bit| sum + ((bits >> bit) & lowest));
            core::array::from_fn(|_| {
                let mut field = || {
                    let weight = (weights & ((1 << ETA) - 1)) as i16;
                    weights = weights.wrapping_shr(ETA as u32);
                    weight
                };
                field() - field()
            })
        }};
    }
    match ETA {
        1 => in_words_of!(u8),
        2 => in_words_of!(u16),
        3 | 4 => in_words_of!(u32),
        _ => in_words_of!(u64),
    }
}
