//! The public-key encryption below the KEM (specification section 6).

use kem_core::NotInvertible;
use kem_core::ct::CtSink;
use kem_core::hash::XofReader;
use subtle::Choice;

use crate::backends::Arith;
use crate::e8;
use crate::encoding::{CT_LEN, EK_LEN, F_LEN};
use crate::ring::{Poly, Q};

/// Makes f and h = g / f from 256 bytes of `coins`. On failure the outputs hold nothing that is fit for use.
pub(crate) fn keygen(
    arith: impl Arith,
    mut coins: impl XofReader,
    f_bytes: &mut [u8; F_LEN],
    ek: &mut [u8; EK_LEN],
) -> Result<(), NotInvertible> {
    let (mut f, mut h) = (Poly::ZERO, Poly::ZERO);
    f.sample_b1(&mut coins);
    h.sample_b1(&mut coins);
    drop(coins);
    // f = 2 f' + 1.
    f.0.iter_mut().for_each(|c| *c *= 2);
    f.0[0] += 1;
    f.pack_f(f_bytes);
    arith.ntt(&mut f);
    let invertible = arith.baseinv(&mut f);
    arith.ntt(&mut h);
    arith.basemul(&mut h, &f);
    arith.invntt(&mut h);
    h.pack_h(ek);
    // That an attempt failed is public: the next one starts from fresh coins.
    if invertible.into() { Ok(()) } else { Err(NotInvertible) }
}

/// Encrypts `m`. `r` comes in with its B1 coefficients; `h` is scratch, and both are overwritten.
pub(crate) fn encrypt(
    arith: impl Arith,
    ek: &[u8; EK_LEN],
    m: &[u8; 32],
    r: &mut Poly,
    h: &mut Poly,
    sink: &mut impl CtSink,
) {
    h.unpack_h(ek);
    arith.multiply(r, h);
    for (octet, nibble) in r.0.as_chunks::<8>().0.iter().zip(nibbles(m)) {
        let word = e8::encode(nibble);
        for (j, &sigma) in octet.iter().enumerate() {
            // The message comes after the compression: q2 / 2 = 128.
            sink.put(compress(sigma).wrapping_add(((word >> j) & 1) << 7));
        }
    }
}

/// Decrypts `ct`; every ciphertext has a message. `v` and `scratch` are overwritten.
pub(crate) fn decrypt(
    arith: impl Arith,
    f: &[u8; F_LEN],
    ct: &[u8; CT_LEN],
    m: &mut [u8; 32],
    v: &mut Poly,
    scratch: &mut Poly,
) {
    arith.multiply_exact(ct, f, v, scratch);
    for (byte, octets) in m.iter_mut().zip(v.0.as_chunks().0.as_chunks().0) {
        let [low, high] = octets.each_ref().map(e8::decode);
        *byte = low | high << 4;
    }
}

/// Whether `f` has valid codes and `ek`, which is canonical, is g / f for a ternary g.
pub(crate) fn belong_together(arith: impl Arith, f_bytes: &[u8; F_LEN], ek: &[u8; EK_LEN]) -> Choice {
    let (mut f, mut h) = (Poly::ZERO, Poly::ZERO);
    let valid = f.unpack_f(f_bytes);
    h.unpack_h(ek);
    arith.multiply(&mut h, &mut f);
    // Canonical 0, 1 and -1 are those of 0..Q that come below 3 after adding 1 modulo Q.
    let ternary = h.0.iter().fold(Choice::from(1), |all, &c| {
        let shifted = c + 1 - (Q & ((Q - 2 - c) >> 15));
        all & Choice::from(((shifted - 3) >> 15) as u8 & 1)
    });
    valid & ternary
}

/// The message in units of the code, lower half of a byte first.
fn nibbles(m: &[u8; 32]) -> impl Iterator<Item = u8> {
    m.iter().flat_map(|byte| [byte & 15, byte >> 4])
}

/// round(256 sigma / 769) mod 256 as the specification rounds, floor((256 sigma + 384) / 769). In: 0..769.
fn compress(sigma: i16) -> u8 {
    // The fraction is (2 sigma + 3) * 128 / 769, and 43634 is 128 / 769 times 2^18; exact for every sigma.
    ((u32::from(2 * sigma as u16 + 3) * 43634) >> 18) as u8
}
