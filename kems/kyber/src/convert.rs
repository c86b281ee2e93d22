//! Conversions between coefficients and bytes, a few coefficients at a time; a target may replace them.

use kem_core::hash::XofReader;
use kem_core::pack::{pack8, unpack8};
use kem_core::sample::{cbd_bytes, uniform_12bit};

use crate::compress::{compress as compressed, decompress as decompressed};
use crate::poly::{N, PIECE, Q};

/// ByteEncode_12 of eight coefficients. In: 0 <= c < Q.
#[inline(always)]
pub(crate) fn pack12(c: &[i16; 8]) -> [u8; 12] {
    pack8::<12>(&c.map(|c| c as u16))
}

/// The 12-bit values of `bytes`, 0 <= c < 4096.
#[inline(always)]
pub(crate) fn unpack12(bytes: &[u8; 12 * PIECE / 8], piece: &mut [i16; PIECE]) {
    for (pair, &[a, b, c]) in piece.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        *pair = [
            i16::from(a) | i16::from(b & 15) << 8,
            i16::from(b >> 4) | i16::from(c) << 4,
        ];
    }
}

/// ByteEncode_D(Compress_D) of eight coefficients. In: 0 <= c < Q.
#[inline(always)]
pub(crate) fn compress<const D: usize>(c: &[i16; 8]) -> [u8; D] {
    pack8::<D>(&c.map(|c| compressed::<D>(c as u16)))
}

/// Decompress_D(ByteDecode_D) of eight coefficients. Out: 0 <= c < Q.
#[inline(always)]
pub(crate) fn decompress<const D: usize>(bytes: &[u8; D]) -> [i16; 8] {
    unpack8::<D>(bytes).map(decompressed::<D>)
}

/// Compress_1 of every coefficient: the message bits. In: 0 <= c < Q.
#[inline(always)]
pub(crate) fn message_of(p: &[i16; N], m: &mut [u8; 32]) {
    for (byte, eight) in m.iter_mut().zip(p.as_chunks::<8>().0) {
        let bits = eight.iter().map(|&c| compressed::<1>(c as u16) as u8 & 1);
        *byte = bits.rev().fold(0, |byte, bit| byte << 1 | bit);
    }
}

/// Adds Decompress_1 of a message (FIPS 203 section 4.2.1): 0 or (Q + 1) / 2 to each coefficient.
#[inline(always)]
pub(crate) fn add_message(p: &mut [i16; N], m: &[u8; 32]) {
    for (eight, byte) in p.as_chunks_mut::<8>().0.iter_mut().zip(m) {
        for (bit, c) in eight.iter_mut().enumerate() {
            *c += -i16::from(byte >> bit & 1) & ((Q + 1) / 2);
        }
    }
}

/// Adds 32 coefficients of the centred binomial law with parameter `ETA` from 8 `ETA` bytes.
#[inline(always)]
pub(crate) fn add_noise<const ETA: usize>(c: &mut [i16; 32], bytes: &[[u8; ETA]; 8]) {
    for (four, bytes) in c.as_chunks_mut::<4>().0.iter_mut().zip(bytes) {
        let mut noise = [0; 4];
        cbd_bytes::<ETA>(bytes, &mut noise);
        four.iter_mut().zip(noise).for_each(|(c, noise)| *c += noise);
    }
}

/// SampleNTT on a public stream, in pieces of a multiple of 4 coefficients with the index of their first one, 0 <= c < Q.
#[inline(always)]
pub(crate) fn uniform(stream: &mut impl XofReader, mut take: impl FnMut(usize, &[i16])) {
    uniform_12bit::<Q>(stream, N / PIECE, |piece, a| take(PIECE * piece, a));
}
