//! Twins of `crate::convert`.

use core::arch::asm;

use kem_core::hash::XofReader;

use crate::convert as portable;
use crate::poly::{N, PIECE};

mod routines {
    use super::{N, PIECE};

    unsafe extern "C" {
        pub(super) fn kyber_pack12(out: *mut [u8; 12], c: *const [i16; 8]);
        pub(super) fn kyber_unpack12(out: *mut [i16; PIECE], bytes: *const [u8; 48]);
        pub(super) fn kyber_uniform(out: *mut i16, bytes: *const [u8; 24]) -> u8;
        pub(super) fn kyber_add_cbd2(c: *mut [i16; 32], bytes: *const u8);
        pub(super) fn kyber_add_cbd3(c: *mut [i16; 32], bytes: *const u8);
        pub(super) fn kyber_compress10(out: *mut u8, c: *const [i16; 8]);
        pub(super) fn kyber_compress4(out: *mut u8, c: *const [i16; 8]);
        pub(super) fn kyber_decompress10(out: *mut [i16; 8], bytes: *const u8);
        pub(super) fn kyber_decompress4(out: *mut [i16; 8], bytes: *const u8);
        pub(super) fn kyber_message(m: *mut [u8; 32], c: *const [i16; N]);
        pub(super) fn kyber_add_message(c: *mut [i16; N], m: *const [u8; 32]);
    }
}

/// See the twin.
#[inline(always)]
pub(crate) fn pack12(c: &[i16; 8]) -> [u8; 12] {
    assemble();
    let mut out = [0; 12];
    // SAFETY: the routine reads and writes what its arguments refer to, whole arrays.
    unsafe { routines::kyber_pack12(&mut out, c) }
    out
}

/// See the twin.
#[inline(always)]
pub(crate) fn unpack12(bytes: &[u8; 48], piece: &mut [i16; PIECE]) {
    assemble();
    // SAFETY: as for `pack12`.
    unsafe { routines::kyber_unpack12(piece, bytes) }
}

/// See the twin. In assembly for the widths of two of the three parameter sets.
#[inline(always)]
pub(crate) fn compress<const D: usize>(c: &[i16; 8]) -> [u8; D] {
    assemble();
    let mut out = [0; D];
    match D {
        // SAFETY: the routine writes as many bytes as the width has bits.
        10 => unsafe { routines::kyber_compress10(out.as_mut_ptr(), c) },
        // SAFETY: the same.
        4 => unsafe { routines::kyber_compress4(out.as_mut_ptr(), c) },
        _ => out = portable::compress(c),
    }
    out
}

/// See the twin. In assembly for the same widths.
#[inline(always)]
pub(crate) fn decompress<const D: usize>(bytes: &[u8; D]) -> [i16; 8] {
    assemble();
    let mut out = [0; 8];
    match D {
        // SAFETY: the routine reads as many bytes as the width has bits.
        10 => unsafe { routines::kyber_decompress10(&mut out, bytes.as_ptr()) },
        // SAFETY: the same.
        4 => unsafe { routines::kyber_decompress4(&mut out, bytes.as_ptr()) },
        _ => out = portable::decompress(bytes),
    }
    out
}

/// See the twin.
#[inline(always)]
pub(crate) fn message_of(p: &[i16; N], m: &mut [u8; 32]) {
    assemble();
    // SAFETY: as for `pack12`.
    unsafe { routines::kyber_message(m, p) }
}

/// See the twin.
#[inline(always)]
pub(crate) fn add_message(p: &mut [i16; N], m: &[u8; 32]) {
    assemble();
    // SAFETY: as for `pack12`.
    unsafe { routines::kyber_add_message(p, m) }
}

/// See the twin.
#[inline(always)]
pub(crate) fn add_noise<const ETA: usize>(c: &mut [i16; 32], bytes: &[[u8; ETA]; 8]) {
    assemble();
    match ETA {
        // SAFETY: the routine reads 16 bytes.
        2 => unsafe { routines::kyber_add_cbd2(c, bytes.as_ptr().cast()) },
        // SAFETY: the routine reads 24 bytes.
        3 => unsafe { routines::kyber_add_cbd3(c, bytes.as_ptr().cast()) },
        _ => portable::add_noise(c, bytes),
    }
}

/// See the twin; pieces of 4 to 16 coefficients, and the bytes of a piece lie where its last coefficients come, to save RAM.
#[inline(always)]
pub(crate) fn uniform(stream: &mut impl XofReader, mut take: impl FnMut(usize, &[i16])) {
    assemble();
    let (mut done, mut taken) = (0, 0);
    let mut buffer = [0i16; 20];
    while done < N {
        let places = buffer.as_mut_ptr();
        // SAFETY: bytes 16 to 40 of `buffer` are bytes. The routine reads them three at a time before it writes the two
        // coefficients that they make, at most 16, after `taken` of at most 3: no place is written before it was read. It says
        // how many.
        unsafe {
            let bytes = places.add(8).cast::<[u8; 24]>();
            stream.read(&mut *bytes);
            taken += usize::from(routines::kyber_uniform(places.add(taken), bytes));
        }
        let ready = (taken & !3).min(N - done);
        let (piece, rest) = buffer.split_at(ready);
        take(done, piece);
        done += ready;
        taken -= ready;
        let rest = [rest[0], rest[1], rest[2]];
        buffer[..3].copy_from_slice(&rest);
    }
}

#[inline(always)]
fn assemble() {
    // SAFETY: what is assembled lies in other sections; nothing is executed here.
    unsafe {
        asm!(
            ".ifndef kyber_pack12",
            ".pushsection .text",
            include_str!("encoding.S"),
            ".popsection",
            ".endif",
            options(raw, nomem, nostack, preserves_flags)
        );
    }
}
