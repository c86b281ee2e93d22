//! Twins of `backends::decode`, of the encoders in `poly` and of `kem_core::sample::cbd`. What depends on the widths of a set is
//! LightSaber's; the other sets use the portable code there.

use core::arch::asm;

use kem_core::ct::CtSink;
use kem_core::hash::XofReader;
use kem_core::sample;
use zeroize::Zeroize;

use crate::params::Params;
use crate::poly::{self, N, P_LEN, Poly, Q_LEN};

// The counts are of eight coefficients.
unsafe extern "C" {
    fn saber_unpack13(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_unpack10(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_unpack_secret(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_pack_secret(bytes: *mut u8, p: *const i16, n: u8);
    fn saber_pack_rounded(bytes: *mut u8, p: *const i16, n: u8);
    fn saber_sample(out: *mut i16, bytes: *const u8, n: u8);
    fn saber_pack_message(bytes: *mut u8, v: *const i16, n: u8, m: *const u8);
    fn saber_unpack_message(m: *mut u8, v: *const i16, n: u8, bytes: *const u8);
}

/// Reads D-bit coefficients, 10 or 13 bits each, as representatives in -2^(D-1)..2^(D-1).
#[inline(never)]
pub(crate) fn decode_centred<const D: usize>(bytes: &[u8], out: &mut [i16]) {
    const { assert!(D == 10 || D == 13) };
    assemble();
    if let Some(n) = eights::<D>(bytes, out) {
        // SAFETY: the routines read D bytes and write eight coefficients, n times.
        unsafe {
            match D {
                10 => saber_unpack10(out.as_mut_ptr(), bytes.as_ptr(), n),
                _ => saber_unpack13(out.as_mut_ptr(), bytes.as_ptr(), n),
            }
        }
    }
}

/// Writes coefficients modulo q.
#[inline(never)]
pub(crate) fn encode_q(p: &Poly, sink: &mut impl CtSink) {
    assemble();
    let mut bytes = [0; Q_LEN / PIECES];
    for piece in p.as_chunks::<{ N / PIECES }>().0 {
        // SAFETY: the routine reads a piece and writes 13 bytes for eight coefficients of it.
        unsafe { saber_pack_secret(bytes.as_mut_ptr(), piece.as_ptr(), PIECE) }
        sink.put_all(&bytes);
    }
    bytes.zeroize();
}

/// Reads a secret polynomial from its 13-bit encoding, coefficients in -8..8 even if `bytes` is no secret.
#[inline(never)]
pub(crate) fn decode_secret(bytes: &[u8], out: &mut [i16]) {
    assemble();
    if let Some(n) = eights::<13>(bytes, out) {
        // SAFETY: the routine reads 13 bytes and writes eight coefficients, n times.
        unsafe { saber_unpack_secret(out.as_mut_ptr(), bytes.as_ptr(), n) }
    }
}

/// Rounds from q to p, ((c + h1) mod q) >> 3, and writes the result.
#[inline(never)]
pub(crate) fn encode_rounded(p: &Poly, sink: &mut impl CtSink) {
    assemble();
    let mut bytes = [0; P_LEN / PIECES];
    for piece in p.as_chunks::<{ N / PIECES }>().0 {
        // SAFETY: the routine reads a piece and writes ten bytes for eight coefficients of it.
        unsafe { saber_pack_rounded(bytes.as_mut_ptr(), piece.as_ptr(), PIECE) }
        sink.put_all(&bytes);
    }
    // b' of a re-encryption may differ from the ciphertext's.
    bytes.zeroize();
}

/// c_m = ((v - 2^9 m + h1) mod p) >> (10 - eps_T), bit i of `m` belonging to coefficient i.
#[inline(never)]
pub(crate) fn encode_message<P: Params>(v: &Poly, m: &[u8; 32], sink: &mut impl CtSink) {
    if P::EPS_T != 3 {
        return poly::encode_message::<P>(v, m, sink);
    }
    assemble();
    let mut bytes = [0; 3 * 32];
    // SAFETY: the routine reads 256 coefficients and 32 bytes and writes 96 bytes.
    unsafe { saber_pack_message(bytes.as_mut_ptr(), v.as_ptr(), (N / 8) as u8, m.as_ptr()) }
    sink.put_all(&bytes);
    bytes.zeroize();
}

/// m = ((v + h2 - 2^(10 - eps_T) c_m) mod p) >> 9.
#[inline(never)]
pub(crate) fn decode_message<P: Params>(v: &Poly, cm: &[u8], m: &mut impl CtSink) {
    match cm.first_chunk::<96>() {
        Some(cm) if P::EPS_T == 3 => {
            assemble();
            let mut bytes = [0; 32];
            // SAFETY: the routine reads 256 coefficients and 96 bytes and writes 32 bytes.
            unsafe { saber_unpack_message(bytes.as_mut_ptr(), v.as_ptr(), (N / 8) as u8, cm.as_ptr()) }
            m.put_all(&bytes);
            bytes.zeroize();
        }
        _ => poly::decode_message::<P>(v, cm, m),
    }
}

/// Coefficients of the centred binomial law from a stream of bits.
#[inline(never)]
pub(crate) fn cbd<const ETA: usize>(stream: &mut impl XofReader, out: &mut Poly) {
    if ETA != 5 {
        return sample::cbd::<ETA>(stream, out);
    }
    assemble();
    let mut bytes = [0; 10 * N / 8 / PIECES];
    for piece in out.as_chunks_mut::<{ N / PIECES }>().0 {
        stream.read(&mut bytes);
        // SAFETY: the routine reads ten bytes for eight coefficients and writes a piece.
        unsafe { saber_sample(piece.as_mut_ptr(), bytes.as_ptr(), PIECE) }
    }
    bytes.zeroize();
}

/// How often eight coefficients, or their D bytes, are there: of a polynomial at most, and at least once.
#[inline(always)]
fn eights<const D: usize>(bytes: &[u8], out: &[i16]) -> Option<u8> {
    let n = (bytes.len() / D).min(out.len() / 8);
    (1..=N / 8).contains(&n).then_some(n as u8)
}

/// Parts of a polynomial whose bytes go through the stack.
const PIECES: usize = 4;
const PIECE: u8 = (N / 8 / PIECES) as u8;

#[inline(always)]
fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef saber_unpack13",
            ".pushsection .text",
            include_str!("encoding.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
