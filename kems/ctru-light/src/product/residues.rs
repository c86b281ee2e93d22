//! By residues. Take ct modulo 128, in -64..64: then every coefficient of ct * f' over the integers lies in -32768..=32768. Its
//! residues modulo 769 and 257 determine it, and both primes have the roots of unity for the same transform.
//!
//! Modulo 257, x^512 + 1 = (x^256 + 16) (x^256 - 16). The two halves come one after the other, which saves half a
//! kilobyte of stack, and their transforms are those of nodes 2 and 3 of the full one.

use kem_core::modular::Zq;
use kem_core::ntt::{forward, inverse, scale, twiddles};
use zeroize::Zeroize;

use crate::backends::Arith;
use crate::block;
use crate::e8;
use crate::encoding::{CT_LEN, F_LEN, f_prime};
use crate::ring::{BLOCK, N, Poly, unscale};

/// See [`Arith::decrypt`]; `arith` does the part modulo 769.
#[inline(never)]
pub(crate) fn decrypt(arith: impl Arith, f: &[u8; F_LEN], ct: &[u8; CT_LEN], m: &mut [u8; 32]) {
    let mut v = Poly::ZERO;
    multiply(arith, ct, f, &mut v);
    e8::decode_message(|k| v.0[k] as u8, m);
}

/// v = ct * f; any representatives modulo 256.
#[inline(never)]
pub(super) fn multiply(arith: impl Arith, ct: &[u8; CT_LEN], f: &[u8; F_LEN], v: &mut Poly) {
    let mut scratch = Poly::ZERO;
    v.0.iter_mut().zip(ct).for_each(|(v, &c)| *v = centred(c));
    scratch.0.iter_mut().zip(f_prime(f)).for_each(|(c, f)| *c = f);
    arith.multiply(v, &mut scratch);

    let [plus, minus] = scratch.0.as_chunks_mut().0 else {
        unreachable!()
    };
    let mut operand = [0; N / 2];
    half_product(PLUS, ct, f, plus, minus);
    half_product(MINUS, ct, f, minus, &mut operand);
    operand.zeroize();
    join(ct, v, plus, minus);
}

/// Half of ct * f' modulo 257 and one factor of x^512 + 1, |out| < 257; `b` is scratch.
fn half_product(node: usize, ct: &[u8; CT_LEN], f: &[u8; F_LEN], a: &mut [i16; N / 2], b: &mut [i16; N / 2]) {
    // |a| <= 64 + 16 * 64 and, with any codes in f, |b| <= 2 + 16 * 2.
    let root = if node == PLUS { -16 } else { 16 };
    let (low, high) = ct.split_at(CT_LEN / 2);
    for (a, (&low, &high)) in a.iter_mut().zip(low.iter().zip(high)) {
        *a = centred(low) + root * centred(high);
    }
    let (low, high) = f.split_at(F_LEN / 2);
    for (b, (low, high)) in b.iter_mut().zip(f_prime(low).zip(f_prime(high))) {
        *b = low + root * high;
    }
    let zeta = |k: usize| ZETAS[k + ((node - 1) << k.ilog2())];
    // The inverse takes its twiddles from mirrored groups, and those lie in the other node.
    let mirrored = |k: usize| ZETAS[k + ((PLUS + MINUS - node - 1) << k.ilog2())];
    // |a| < 1089 + 5 * 257 = 2374.
    forward::<Q2>(a, BLOCK, zeta);
    forward::<Q2>(b, BLOCK, zeta);
    block::multiply_all::<Q2>(a, b, zeta);
    inverse::<Q2>(a, BLOCK, mirrored);
    scale::<Q2>(a, unscale::<Q2>());
}

/// v = ct + 2 X modulo 256, X = ct * f'. In: X modulo 769 in `v`, canonical, and the halves of X modulo 257.
fn join(ct: &[u8; CT_LEN], v: &mut Poly, plus: &[i16; N / 2], minus: &[i16; N / 2]) {
    let (v_low, v_high) = v.0.split_at_mut(N / 2);
    let (ct_low, ct_high) = ct.split_at(CT_LEN / 2);
    for i in 0..N / 2 {
        let low = plus[i] + minus[i];
        // 1 / 16 = -16.
        let high = 16 * (plus[i] - minus[i]);
        v_low[i] = lift(ct_low[i], v_low[i], low);
        v_high[i] = lift(ct_high[i], v_high[i], high);
    }
}

/// ct + 2 X modulo 256 from X modulo 769, in 0..769, and X modulo 257, below 2^14.
#[inline(always)]
fn lift(ct: u8, x: i16, x2: i16) -> i16 {
    // X = x + 769 k with |k| < 44, and 769 = -2 modulo 257. Two representatives up to 129 cannot be confused with such a k.
    let k = Zq::<Q2>::barrett(Zq::<Q2>::mul(x - x2, HALF));
    // 769 = 1 modulo 128.
    i16::from(ct) + 2 * (x + k)
}

/// `c` modulo 128, in -64..64.
fn centred(c: u8) -> i16 {
    i16::from((c << 1) as i8 >> 1)
}

/// Node of x^256 + 16 in the transform modulo 257: zeta_1 = 9^32 = -16. Group k of a node's own transform is group
/// k + (node - 1) 2^(layer of k) of the full one.
const PLUS: usize = 2;
/// Node of x^256 - 16.
const MINUS: usize = 3;

/// The second modulus, a Fermat prime.
const Q2: i16 = 257;
/// 1 / 2 in the Montgomery domain.
const HALF: i16 = Zq::<Q2>::to_montgomery(129);
/// 9^brv6(k) in the Montgomery domain: 9 = 3^2 has order 128.
static ZETAS: [i16; N / BLOCK] = twiddles::<Q2, { N / BLOCK }>(9);
