//! Butterfly layers of incomplete number-theoretic transforms, in place, for every modulus and depth.
//!
//! The k-th group of butterflies, k = 1, 2, .. over all layers, uses twiddle k: for a root psi of order 2^(layers + 1) that is
//! psi^brv(k), brv the bit reversal on `layers` bits. Twiddles come from a function, because a table may lie in flash that
//! data instructions do not reach.

use crate::modular::Zq;

/// psi^brv(k) for k = 0..N in the Montgomery domain, |twiddle| < Q, N a power of two. For constants: `psi` is in 1..Q.
pub const fn twiddles<const Q: i16, const N: usize>(psi: i16) -> [i16; N] {
    assert!(N.is_power_of_two() && N >= 2);
    let psi = Zq::<Q>::to_montgomery(psi);
    let mut table = [0; N];
    let mut k = 0;
    while k < N {
        let reversed = (k as u16).reverse_bits() >> (16 - N.ilog2());
        table[k] = Zq::<Q>::pow(psi, reversed);
        k += 1;
    }
    table
}

/// Cooley-Tukey layers with butterflies of span `p.len() / 2` down to `last`.
///
/// `twiddle(k)` is in the Montgomery domain, |twiddle| < Q. In: |c| < b. Out: |c| < b + layers * Q, which has to fit in an
/// `i16`; blocks of `last` coefficients.
#[inline(always)]
pub fn forward<const Q: i16>(p: &mut [i16], last: usize, twiddle: impl Fn(usize) -> i16) {
    let (mut k, mut len) = (1, p.len() / 2);
    while len >= last {
        for block in p.chunks_exact_mut(2 * len) {
            let zeta = twiddle(k);
            k += 1;
            let (low, high) = block.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                let t = Zq::<Q>::mul(*b, zeta);
                *b = *a - t;
                *a += t;
            }
        }
        len /= 2;
    }
}

/// Gentleman-Sande layers with butterflies of span `first` up to `p.len() / 2`; undoes [`forward`] up to a factor of
/// 2^layers, which [`scale`] removes.
///
/// `twiddle(k)` is the one of [`forward`]: (b - a) zeta^brv(k), k counted down, is (a - b) / zeta^brv(k') of the mirrored
/// group, as psi^(2^layers) = -1. In: |c| < Q. Out: |c| < Q * [`Zq::HEADROOM`]. Q is below 2^14.
#[inline(always)]
pub fn inverse<const Q: i16>(p: &mut [i16], first: usize, twiddle: impl Fn(usize) -> i16) {
    const { assert!(Zq::<Q>::HEADROOM >= 2) };
    let (mut k, mut len, mut bound) = (p.len() / first - 1, first, 1);
    while len < p.len() {
        bound *= 2;
        if bound > Zq::<Q>::HEADROOM {
            reduce_all::<Q>(p);
            bound = 2;
        }
        for block in p.chunks_exact_mut(2 * len) {
            let zeta = twiddle(k);
            k -= 1;
            let (low, high) = block.split_at_mut(len);
            for (a, b) in low.iter_mut().zip(high) {
                let difference = *b - *a;
                *a += *b;
                *b = Zq::<Q>::mul(difference, zeta);
            }
        }
        len *= 2;
    }
}

/// Montgomery product of every coefficient with `factor`. In: any c, |factor| < Q. Out: c factor / R mod Q, |out| < Q.
#[inline(always)]
pub fn scale<const Q: i16>(p: &mut [i16], factor: i16) {
    p.iter_mut().for_each(|c| *c = Zq::<Q>::mul(*c, factor));
}

#[inline(never)]
fn reduce_all<const Q: i16>(p: &mut [i16]) {
    p.iter_mut().for_each(|c| *c = Zq::<Q>::barrett(*c));
}
