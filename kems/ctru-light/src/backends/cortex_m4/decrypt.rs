//! As `product::residues`, with whole transforms for both moduli, so that one code serves them.

use kem_core::ntt::twiddles;
use kem_core::packed::{add, even_bytes, factor, multiply, odd_bytes, pack_bb, pack_tt, sub};

use super::transform::{Factors, forward, inverse};
use super::{CortexM4, block, words, words_mut};
use crate::backends::Arith;
use crate::e8;
use crate::encoding::{CT_LEN, F_LEN, f_prime};
use crate::ring::{BLOCK, N, Poly};

/// See [`Arith::decrypt`].
#[inline(never)]
pub(super) fn decrypt(arith: CortexM4, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
    let mut v = Poly::ZERO;
    exact_product(arith, f, ct, &mut v);
    e8::decode_message(|k| v.0[k] as u8, m);
}

/// v = ct * f modulo 256, by X = ct * f' with ct in -64..64: |X| <= 2^15, and its residues modulo 769 and 257 determine it.
#[inline(never)]
fn exact_product(arith: CortexM4, f: &[u8; F_LEN], ct: &[u8; CT_LEN], v: &mut Poly) {
    let (mut a, mut b) = (Poly::ZERO, Poly::ZERO);
    load(f, ct, v, &mut b);
    arith.multiply(v, &mut b);
    load(f, ct, &mut a, &mut b);
    // |c| <= 64 + 6 * 128 in both.
    forward::<Q2>(words_mut(&mut a), &FACTORS);
    forward::<Q2>(words_mut(&mut b), &FACTORS);
    block::multiply_all::<Q2>(words_mut(&mut a), words(&b), &FACTORS);
    inverse::<Q2>(words_mut(&mut a), &FACTORS);
    join(ct, words_mut(v), words(&a));
}

fn load(f: &[u8; F_LEN], ct: &[u8; CT_LEN], a: &mut Poly, b: &mut Poly) {
    for (pairs, bytes) in words_mut(a).as_chunks_mut::<2>().0.iter_mut().zip(ct.as_chunks().0) {
        // `c` modulo 128, in -64..64, in each byte's half.
        let word = u32::from_le_bytes(*bytes);
        let centred = |half: u32| sub((half & 0x007f_007f) ^ 0x0040_0040, 0x0040_0040);
        let (even, odd) = (centred(even_bytes(word)), centred(odd_bytes(word)));
        *pairs = [pack_bb(even, odd), pack_tt(even, odd)];
    }
    b.0.iter_mut().zip(f_prime(f)).for_each(|(c, f)| *c = f);
}

/// v = ct + 2 X modulo 256. In: X modulo 769 in `v` and modulo 257 in `x2`, both canonical.
fn join(ct: &[u8; CT_LEN], v: &mut [u32; N / 2], x2: &[u32; N / 2]) {
    for ((v, x2), bytes) in v.iter_mut().zip(x2).zip(ct.as_chunks::<2>().0) {
        // X = x + 769 k with |k| < 44, and 769 = -2 modulo 257. Two representatives up to 128 cannot be confused with such
        // a k, and 769 = 1 modulo 128.
        let k = multiply::<Q2>(sub(*v, *x2), const { factor::<Q2>(129) });
        let x = add(*v, k);
        let ct = u32::from(bytes[0]) | u32::from(bytes[1]) << 16;
        *v = add(ct, add(x, x));
    }
}

/// The second modulus, a Fermat prime; 129 is its 1 / 2.
const Q2: i16 = 257;
/// 9 = 3^2 has order 128.
static FACTORS: Factors<Q2> = Factors::new(&twiddles::<Q2, { N / BLOCK }>(9));
