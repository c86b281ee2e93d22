//! Six layers, which split x^256 + 1 into x^4 - zeta and x^4 + zeta, and the products there, in `ntt.S`.
//!
//! A sum of four products is at most 4 * 256 * 4096 * 8 = 2^25 in absolute value; the inverse transform comes out below
//! Q - 2^25 and therefore is the sum itself.

use core::arch::global_asm;
use core::mem::MaybeUninit;

use crate::poly::{N, Poly};

global_asm!(include_str!("ntt.S"), options(raw));

unsafe extern "C" {
    fn kemqtt_saber_forward(p: *const i16, hat: *mut i32, factors: *const i32, q: i32);
    fn kemqtt_saber_inverse(hat: *mut i32, p: *mut i16, factors: *const i32, q: i32);
    fn kemqtt_saber_accumulate(a: *const i32, b: *const i32, sum: *mut i32, zetas: *const i32);
}

/// The transform. In: |c| <= 4096. Out: |c| < 3.1 Q.
pub(super) fn forward(p: &Poly, hat: &mut [i32; N]) {
    // SAFETY: reads 256 halfwords of `p` and 126 words of `FORWARD`, writes 256 words of `hat` before it reads them. Twin:
    // `portable::Portable`.
    unsafe { kemqtt_saber_forward(p.as_ptr(), hat.as_mut_ptr(), FORWARD.as_ptr().cast(), Q) }
}

/// [`forward`] to a place that need not be initialised.
pub(super) fn forward_to<'a>(p: &Poly, hat: &'a mut MaybeUninit<[i32; N]>) -> &'a [i32; N] {
    // SAFETY: as above; all of `hat` is written.
    unsafe {
        kemqtt_saber_forward(p.as_ptr(), hat.as_mut_ptr().cast(), FORWARD.as_ptr().cast(), Q);
        hat.assume_init_ref()
    }
}

/// The polynomial of a sum of up to four products of [`accumulate`], modulo 2^16; `hat` is zero afterwards.
pub(super) fn inverse(hat: &mut [i32; N], p: &mut Poly) {
    // SAFETY: reads 129 words of `INVERSE`, reads and writes 256 words of `hat`, writes 256 halfwords of `p`. Twin: as above.
    unsafe { kemqtt_saber_inverse(hat.as_mut_ptr(), p.as_mut_ptr(), (&raw const INVERSE).cast(), Q) }
}

/// `sum` += a b / 2^32 for outputs of [`forward`]. Adds less than 1.36 Q.
pub(super) fn accumulate(a: &[i32; N], b: &[i32; N], sum: &mut [i32; N]) {
    // SAFETY: reads 256 words of `a` and of `b`, 66 words of `PRODUCTS`, updates 256 words of `sum`. Twin: as above.
    unsafe { kemqtt_saber_accumulate(a.as_ptr(), b.as_ptr(), sum.as_mut_ptr(), (&raw const PRODUCTS).cast()) }
}

/// 1 modulo 128, and 2^31 is more than 22 Q: sums of that many reduced values fit in a word.
const Q: i32 = 94_908_929;
/// Of order 128.
const PSI: i64 = 1_271_260;

/// A constant and its quotient by Q, 2^32 times.
type Factor = [i32; 2];

static FORWARD: [[Factor; 7]; 9] = {
    let mut passes = [[[0; 2]; 7]; 9];
    let mut pass = 0;
    while pass < 9 {
        let mut i = 0;
        while i < 7 {
            passes[pass][i] = factor(zeta(node(pass, i)));
            i += 1;
        }
        pass += 1;
    }
    passes
};

#[repr(C)]
struct Inverse {
    one: i32,
    /// Those of the first three layers last.
    passes: [[Factor; 7]; 9],
    scale: Factor,
}

static INVERSE: Inverse = {
    let mut passes = [[[0; 2]; 7]; 9];
    let mut pass = 0;
    while pass < 9 {
        // The layers in reverse order.
        const ORDER: [usize; 7] = [3, 4, 5, 6, 1, 2, 0];
        let mut i = 0;
        while i < 7 {
            let zeta = inverted(zeta(node(pass, ORDER[i])));
            let last = pass == 0 && i == 6;
            passes[(pass + 8) % 9][i] = factor(if last { multiply(zeta, SCALE) } else { zeta });
            i += 1;
        }
        pass += 1;
    }
    Inverse {
        one: factor(1)[1],
        passes,
        scale: factor(SCALE),
    }
};

/// 2^32 / 64: undoes the growth of six layers, and the factor 2^-32 of a product.
const SCALE: i64 = (1 << 26) % Q as i64;

#[repr(C)]
struct Products {
    q: i32,
    negative_inverse: i32,
    zetas: [[i32; 2]; N / 8],
}

static PRODUCTS: Products = {
    let mut zetas = [[0; 2]; N / 8];
    let mut i = 0;
    while i < N / 8 {
        let zeta = centred(multiply(zeta(N / 8 + i), (1 << 32) % Q as i64));
        zetas[i] = [zeta, -zeta];
        i += 1;
    }
    // Newton's iteration doubles the number of right bits: 3, 6, 12, 24, 48.
    let mut inverse = Q;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2i32.wrapping_sub(Q.wrapping_mul(inverse)));
        step += 1;
    }
    Products {
        q: Q,
        negative_inverse: inverse.wrapping_neg(),
        zetas,
    }
};

/// The node of the tree of butterflies which butterfly `i` of a pass of three layers belongs to: pass 0 begins at the root,
/// the others at its eight descendants after three layers.
const fn node(pass: usize, i: usize) -> usize {
    let root = if pass == 0 { 1 } else { 7 + pass };
    match i {
        0 => root,
        1 | 2 => 2 * root + i - 1,
        _ => 4 * root + i - 3,
    }
}

/// The twiddle of a node, PSI^brv(k).
const fn zeta(k: usize) -> i64 {
    power(PSI, (k as u8).reverse_bits() as u32 >> 2)
}

const fn inverted(a: i64) -> i64 {
    power(a, Q as u32 - 2)
}

const fn power(a: i64, exponent: u32) -> i64 {
    let (mut result, mut square, mut rest) = (1, a, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        rest >>= 1;
    }
    result
}

const fn multiply(a: i64, b: i64) -> i64 {
    a * b % Q as i64
}

/// Rounded to the nearest.
const fn factor(z: i64) -> Factor {
    let z = centred(z);
    [z, (((z as i64) << 32) + (Q as i64 / 2)).div_euclid(Q as i64) as i32]
}

const fn centred(a: i64) -> i32 {
    let a = a.rem_euclid(Q as i64) as i32;
    if a > Q / 2 { a - Q } else { a }
}
