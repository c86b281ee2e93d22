//! Decryption by Karatsuba's rule on bytes, as in `product::karatsuba`, with a product of 256 coefficients in one routine. Buffers
//! are written before they are read and cleared in the end, once each.

use core::mem::MaybeUninit;

use super::{bytes, encoding};
use crate::encoding::{CT_LEN, F_LEN};
use crate::ring::N;

pub(super) mod routines {
    use super::{Half, N};

    unsafe extern "C" {
        pub(super) fn ctru_light_product256(r: *mut [u8; N], a: *const Half, b: *const Half, scratch: *mut [u8; N]);
        pub(in super::super) fn ctru_light_clear(p: *mut u8, n: u16);
    }
}

type Half = [u8; N / 2];

/// What decryption has of secrets.
struct Buffers {
    f_low: Half,
    f_high: Half,
    v: [u8; N],
    product: [u8; N],
    scratch: [u8; N],
}

/// See `Arith::decrypt`.
#[inline(never)]
pub(super) fn decrypt(f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
    bytes::assemble();
    encoding::assemble();
    let ([low, high], [ct_low, ct_high]) = (f.as_chunks().0, ct.as_chunks().0) else {
        return;
    };
    let mut buffers = MaybeUninit::<Buffers>::uninit();
    let b = buffers.as_mut_ptr();
    // SAFETY: every routine reads and writes whole arrays, of this type or behind the references; it writes its first argument
    // in full before anything reads it. `product256` reads no scratch that it has not written. Bytes are valid in any state.
    unsafe {
        let (f_low, f_high) = (&raw mut (*b).f_low, &raw mut (*b).f_high);
        let (v, product, scratch) = (&raw mut (*b).v, &raw mut (*b).product, &raw mut (*b).scratch);
        encoding::routines::ctru_light_unpack_f(f_low, low);
        encoding::routines::ctru_light_unpack_f(f_high, high);
        routines::ctru_light_product256(product, ct_low, f_low, scratch);
        bytes::routines::ctru_light_fold_low(v, product);
        routines::ctru_light_product256(product, ct_high, f_high, scratch);
        bytes::routines::ctru_light_fold_high(v, product);
        // 0 for 256 bytes.
        bytes::routines::ctru_light_sum(f_low.cast(), f_low.cast(), f_high.cast(), 0);
        bytes::routines::ctru_light_sum(f_high.cast(), ct_low.as_ptr(), ct_high.as_ptr(), 0);
        routines::ctru_light_product256(product, f_high, f_low, scratch);
        bytes::routines::ctru_light_fold_both(v, product, ct);
        bytes::decode_message(m, &*v);
        routines::ctru_light_clear(b.cast(), size_of::<Buffers>() as u16);
    }
}
