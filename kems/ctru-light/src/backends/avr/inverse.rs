//! Inverses of all blocks. Each block splits once more, x^8 - w^2 = (x^4 - w) (x^4 + w); norms of the two quartics lead to
//! scalars, one exponentiation inverts both.
//!
//! Products carry a factor K and lie in 210..=990; `mul` asks for factors that are not negative and a product below 2^24. Every
//! sum below is lifted by a multiple of q that keeps it so, and no sum exceeds 4636.

use subtle::{Choice, ConstantTimeEq};

use super::{lpm, mul};
use crate::ring::{BLOCK, N, Poly, Q};

/// p = 9 / p in each block. In: 206..=1020. Out: 210..=990. 0 if a block has no inverse.
#[inline(never)]
pub(super) fn invert_all(p: &mut Poly) -> Choice {
    let mut zero = Choice::from(0);
    for (block, roots) in p.0.as_chunks_mut::<BLOCK>().0.iter_mut().zip(&ROOTS) {
        let [w, unscale] = [lpm(&roots.0), lpm(&roots.1)];
        let (low, high) = block.split_at(4);
        let (mut plus, mut minus) = ([0; 4], [0; 4]);
        for j in 0..4 {
            let high = mul(high[j], w);
            plus[j] = low[j] + high;
            minus[j] = low[j] - high + 2 * Q;
        }
        let (norm_plus, norm_minus) = (Norm::new(&plus, w), Norm::new(&minus, Q - w));
        let scalars = mul(norm_plus.scalar, norm_minus.scalar);
        // 210..=990: zero is 769 and nothing else.
        zero |= scalars.ct_eq(&Q);
        let inverse = fermat(scalars);
        let plus = norm_plus.lift(&plus, mul(inverse, norm_minus.scalar), w);
        let minus = norm_minus.lift(&minus, mul(inverse, norm_plus.scalar), Q - w);
        for j in 0..4 {
            block[j] = mul(plus[j] + minus[j], UNSCALE);
            block[4 + j] = mul(plus[j] - minus[j] + 3 * Q, unscale);
        }
    }
    !zero
}

/// The norm of a quartic to degree 2, N0 + N1 y with y^2 = w, with a factor K; and that of the norm, with K^3.
struct Norm {
    n0: i16,
    n1: i16,
    scalar: i16,
}

impl Norm {
    /// In: 0..=2348, modulo x^4 - K w.
    #[inline(always)]
    fn new(&[a0, a1, a2, a3]: &[i16; 4], w: i16) -> Self {
        let n0 = mul(a0, a0) + mul(mul(a2, a2) - 2 * mul(a1, a3) + 3 * Q, w);
        let n1 = 2 * mul(a0, a2) - mul(a1, a1) - mul(mul(a3, a3), w) + 3 * Q;
        let scalar = mul(n0, n0) - mul(mul(n1, n1), w) + 2 * Q;
        Self { n0, n1, scalar }
    }

    /// The inverse of the quartic with a factor 1 / K^2, from that of its scalar with 1 / K^5. Out: 758..=2318.
    #[inline(always)]
    fn lift(&self, &[a0, a1, a2, a3]: &[i16; 4], inverse: i16, w: i16) -> [i16; 4] {
        let (m0, m1) = (mul(self.n0, inverse), mul(self.n1, inverse));
        let m1w = mul(m1, w);
        [
            mul(a0, m0) - mul(a2, m1w) + 2 * Q,
            mul(a3, m1w) - mul(a1, m0) + 2 * Q,
            mul(a2, m0) - mul(a0, m1) + 2 * Q,
            mul(a1, m1) - mul(a3, m0) + 2 * Q,
        ]
    }
}

/// x^767 K^766, which is 1 / (K^2 x).
#[inline(never)]
fn fermat(x: i16) -> i16 {
    // 767 = 1011111111 in binary.
    let x2 = mul(x, x);
    let mut power = mul(mul(x2, x2), x);
    for _ in 0..7 {
        power = mul(mul(power, power), x);
    }
    power
}

/// What `mul` multiplies by.
const K: i64 = 27;
/// 9 / 2 for the join and K^2 for `Norm::lift`; a K less for the product itself.
const UNSCALE: i16 = modulo(9 * K * invert(2));
/// For each block w / K and `UNSCALE` / w.
#[unsafe(link_section = ".progmem.data.ctru_light_roots")]
static ROOTS: [(i16, i16); N / BLOCK] = {
    let mut roots = [(0, 0); N / BLOCK];
    let mut i = 0;
    while i < roots.len() {
        // z = 5^brv6(32 + i / 2), negative for odd i, and -1 = 5^64: half the exponent belongs to w.
        let exponent = (32 + i as u32 / 2).reverse_bits() >> 26;
        let w = power(SQUARE_ROOT_OF_5, exponent + 64 * (i as u32 % 2));
        roots[i] = (modulo(w * invert(K)), modulo(UNSCALE as i64 * invert(w)));
        i += 1;
    }
    roots
};
const SQUARE_ROOT_OF_5: i64 = {
    let mut root = 1;
    while root * root % Q as i64 != 5 {
        root += 1;
    }
    root
};

const fn modulo(x: i64) -> i16 {
    (x % Q as i64) as i16
}

const fn power(base: i64, exponent: u32) -> i64 {
    let (mut product, mut i) = (1, 0);
    while i < exponent {
        product = product * base % Q as i64;
        i += 1;
    }
    product
}

const fn invert(x: i64) -> i64 {
    power(x, Q as u32 - 2)
}
