//! Conversions between bytes and coefficients, for every target.

use kem_core::ct::Emit;
use kem_core::pack::{pack, unpack};
use kem_core::sample::cbd_bytes;

use super::{COINS_LEN, EK_LEN, F_LEN};
use crate::ring::N;

/// Coefficients of the law B1.
pub(crate) fn sample(out: &mut [i16; N], coins: &[u8; COINS_LEN]) {
    cbd_bytes::<1>(coins, out);
}

/// Packs h. In: canonical.
pub(crate) fn pack_h(ek: &mut [u8; EK_LEN], h: &[i16; N]) {
    pack::<10>(h.iter().map(|&c| c as u16), &mut Emit::new(ek));
}

/// Unpacks h: 0..1024.
pub(crate) fn unpack_h(out: &mut [i16; N], ek: &[u8; EK_LEN]) {
    out.iter_mut().zip(unpack::<10>(ek)).for_each(|(c, h)| *c = h as i16);
}

/// Packs f.
pub(crate) fn pack_f(bytes: &mut [u8; F_LEN], f: &[i16; N]) {
    pack::<3>(f.iter().map(|&c| (3 - c) as u16), &mut Emit::new(bytes));
}

/// Half of the coefficients of f' modulo 256.
#[cfg(any(feature = "self-check", kemqtt_portable, not(cortex_m4)))]
pub(crate) fn unpack_f_prime(out: &mut [u8; N / 2], f: &[u8; F_LEN / 2]) {
    out.iter_mut().zip(super::f_prime(f)).for_each(|(c, f)| *c = f as u8);
}

/// round(256 sigma / 769) modulo 256 as the specification rounds, floor((256 sigma + 384) / 769), and then 128 where `word` has a
/// bit. In: 0..769.
pub(crate) fn compress(out: &mut [u8; 8], sigma: &[i16; 8], word: u8) {
    for (j, (byte, &sigma)) in out.iter_mut().zip(sigma).enumerate() {
        // The fraction is (2 sigma + 3) * 128 / 769, and 43634 is 128 / 769 times 2^18; exact for every sigma.
        let high = (u32::from(2 * sigma as u16 + 3) * 43634) >> 16;
        // The message comes after the compression: q2 / 2 = 128.
        *byte = (high as u16 >> 2) as u8 ^ (((word >> j) & 1) << 7);
    }
}
