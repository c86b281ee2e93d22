//! Pairs of 16-bit coefficients in a register: arithmetic modulo Q with the DSP instructions of ARMv7E-M.
//!
//! Products with a constant are Plantard's, as improved by Huang et al. for signed words (TCHES 2022, "Improved Plantard
//! arithmetic for lattice-based cryptography"): two instructions each, no factor left behind, and a result of at most Q / 2 for
//! any 16-bit operand. Sums of products of two variables are reduced by Montgomery. Q is odd and below 2^12. No branch, and no
//! address depends on a coefficient.

use core::arch::asm;

use crate::modular::Zq;

/// A constant factor `b`, |b| < Q, as [`multiply`] and the butterflies take it: -b 2^32 / Q modulo 2^32.
pub const fn factor<const Q: i16>(b: i16) -> u32 {
    let q = Q as i64;
    let reduced = (b as i64 * (q - (1 << 32) % q)).rem_euclid(q) as u32;
    // Newton's iteration doubles the number of right bits: 3, 6, 12, 24, 48.
    let mut inverse = Q as u32;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub((Q as u32).wrapping_mul(inverse)));
        step += 1;
    }
    reduced.wrapping_mul(inverse)
}

/// [`factor`] of a constant in the Montgomery domain of [`Zq`].
pub const fn factor_of_montgomery<const Q: i16>(b: i16) -> u32 {
    factor::<Q>(Zq::<Q>::mul(b, 1))
}

/// Q 2^3: makes Plantard's rounding right for signed operands.
const fn rounding<const Q: i16>() -> i32 {
    assert!(Q > 0 && Q < 1 << 12);
    (Q as i32) << 3
}

/// Both halves times a [`factor`]. In: any halves. Out: |half| <= Q / 2.
#[inline(always)]
pub fn multiply<const Q: i16>(a: u32, factor: u32) -> u32 {
    let product;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "smulwb {t}, {z}, {a}",
            "smulwt {r}, {z}, {a}",
            "smlabb {t}, {t}, {q}, {qa}",
            "smlabb {r}, {r}, {q}, {qa}",
            "pkhtb {r}, {r}, {t}, asr #16",
            a = in(reg) a,
            z = in(reg) factor,
            q = in(reg) i32::from(Q),
            qa = in(reg) const { rounding::<Q>() },
            t = out(reg) _,
            r = out(reg) product,
            options(pure, nomem, nostack)
        );
    }
    product
}

/// (a + z b, a - z b) in both halves. In: any b. The results are a's range and Q / 2 more.
#[inline(always)]
pub fn butterfly<const Q: i16>(a: &mut u32, b: &mut u32, factor: u32) {
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "smulwb {t}, {z}, {b}",
            "smulwt {b}, {z}, {b}",
            "smlabb {t}, {t}, {q}, {qa}",
            "smlabb {b}, {b}, {q}, {qa}",
            "pkhtb {t}, {b}, {t}, asr #16",
            "usub16 {b}, {a}, {t}",
            "uadd16 {a}, {a}, {t}",
            a = inout(reg) *a,
            b = inout(reg) *b,
            z = in(reg) factor,
            q = in(reg) i32::from(Q),
            qa = in(reg) const { rounding::<Q>() },
            t = out(reg) _,
            options(pure, nomem, nostack)
        );
    }
}

/// (a + b, z (a - b)) in both halves. The sums and differences fit in 16 bits; the products are at most Q / 2.
#[inline(always)]
pub fn inverse_butterfly<const Q: i16>(a: &mut u32, b: &mut u32, factor: u32) {
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "usub16 {t}, {a}, {b}",
            "uadd16 {a}, {a}, {b}",
            "smulwb {b}, {z}, {t}",
            "smulwt {t}, {z}, {t}",
            "smlabb {b}, {b}, {q}, {qa}",
            "smlabb {t}, {t}, {q}, {qa}",
            "pkhtb {b}, {t}, {b}, asr #16",
            a = inout(reg) *a,
            b = inout(reg) *b,
            z = in(reg) factor,
            q = in(reg) i32::from(Q),
            qa = in(reg) const { rounding::<Q>() },
            t = out(reg) _,
            options(pure, nomem, nostack)
        );
    }
}

/// The Montgomery reductions of two sums, `low` to the low half. In: |sum| < 2^15 Q. Out: sum / 2^16 modulo Q, |half| < Q.
#[inline(always)]
pub fn reduce<const Q: i16>(low: i32, high: i32) -> u32 {
    let pair;
    // Q below, -1 / Q above.
    let constants = const { (Q as u16 as u32) | (Zq::<Q>::QINV.wrapping_neg() as u16 as u32) << 16 };
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "smulbt {t}, {low}, {c}",
            "smlabb {t}, {t}, {c}, {low}",
            "smulbt {r}, {high}, {c}",
            "smlabb {r}, {r}, {c}, {high}",
            "pkhtb {r}, {r}, {t}, asr #16",
            low = in(reg) low,
            high = in(reg) high,
            c = in(reg) constants,
            t = out(reg) _,
            r = out(reg) pair,
            options(pure, nomem, nostack)
        );
    }
    pair
}

/// Adds Q to negative halves. In: -Q <= half. Out: 0 <= half for those above -Q.
#[inline(always)]
pub fn add_q_if_negative<const Q: i16>(a: u32) -> u32 {
    let result;
    // SAFETY: arithmetic on registers and the GE flags.
    unsafe {
        asm!(
            "sadd16 {r}, {a}, {q}",
            "ssub16 {t}, {a}, {zero}",
            "sel {r}, {a}, {r}",
            a = in(reg) a,
            q = in(reg) const { (Q as u32) * 0x1_0001 },
            zero = in(reg) 0,
            t = out(reg) _,
            r = out(reg) result,
            options(pure, nomem, nostack)
        );
    }
    result
}

/// Declares functions of one instruction each.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($operand:ident: $type:ty),*) -> $result:ty = $template:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($operand: $type),*) -> $result {
            let result;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!($template, $($operand = in(reg) $operand,)* r = lateout(reg) result, options(pure, nomem, nostack));
            }
            result
        }
    )*};
}

instructions! {
    /// Sums of halves, modulo 2^16.
    add(a: u32, b: u32) -> u32 = "uadd16 {r}, {a}, {b}";
    /// Differences of halves, modulo 2^16.
    sub(a: u32, b: u32) -> u32 = "usub16 {r}, {a}, {b}";
    /// a0 b0.
    mul_bb(a: u32, b: u32) -> i32 = "smulbb {r}, {a}, {b}";
    /// a0 b1.
    mul_bt(a: u32, b: u32) -> i32 = "smulbt {r}, {a}, {b}";
    /// a1 b0.
    mul_tb(a: u32, b: u32) -> i32 = "smultb {r}, {a}, {b}";
    /// a1 b1.
    mul_tt(a: u32, b: u32) -> i32 = "smultt {r}, {a}, {b}";
    /// sum + a0 b0.
    mla_bb(a: u32, b: u32, sum: i32) -> i32 = "smlabb {r}, {a}, {b}, {sum}";
    /// sum + a0 b1.
    mla_bt(a: u32, b: u32, sum: i32) -> i32 = "smlabt {r}, {a}, {b}, {sum}";
    /// sum + a1 b0.
    mla_tb(a: u32, b: u32, sum: i32) -> i32 = "smlatb {r}, {a}, {b}, {sum}";
    /// sum + a1 b1.
    mla_tt(a: u32, b: u32, sum: i32) -> i32 = "smlatt {r}, {a}, {b}, {sum}";
    /// a0 b0 + a1 b1.
    dual(a: u32, b: u32) -> i32 = "smuad {r}, {a}, {b}";
    /// a0 b1 + a1 b0.
    dual_crossed(a: u32, b: u32) -> i32 = "smuadx {r}, {a}, {b}";
    /// sum + a0 b0 + a1 b1.
    mla_dual(a: u32, b: u32, sum: i32) -> i32 = "smlad {r}, {a}, {b}, {sum}";
    /// sum + a0 b1 + a1 b0.
    mla_dual_crossed(a: u32, b: u32, sum: i32) -> i32 = "smladx {r}, {a}, {b}, {sum}";
    /// a0 in the low half, b0 in the high half.
    pack_bb(a: u32, b: u32) -> u32 = "pkhbt {r}, {a}, {b}, lsl #16";
    /// a1 in the low half, b1 in the high half.
    pack_tt(a: u32, b: u32) -> u32 = "pkhtb {r}, {b}, {a}, asr #16";
    /// Bytes 0 and 2.
    even_bytes(a: u32) -> u32 = "uxtb16 {r}, {a}";
    /// Bytes 1 and 3.
    odd_bytes(a: u32) -> u32 = "uxtb16 {r}, {a}, ror #8";
}

/// Three Cooley-Tukey layers on words `STRIDE` apart: 8 `STRIDE` words. Factors: of the first layer, the two of the second, the
/// four of the third. Each layer adds at most Q / 2.
#[inline(always)]
pub fn forward3<const Q: i16, const STRIDE: usize>(p: &mut [u32], z: &[u32; 7]) {
    groups::<STRIDE>(p, |w| {
        let [w0, w1, w2, w3, w4, w5, w6, w7] = w;
        butterfly::<Q>(w0, w4, z[0]);
        butterfly::<Q>(w1, w5, z[0]);
        butterfly::<Q>(w2, w6, z[0]);
        butterfly::<Q>(w3, w7, z[0]);
        butterfly::<Q>(w0, w2, z[1]);
        butterfly::<Q>(w1, w3, z[1]);
        butterfly::<Q>(w4, w6, z[2]);
        butterfly::<Q>(w5, w7, z[2]);
        butterfly::<Q>(w0, w1, z[3]);
        butterfly::<Q>(w2, w3, z[4]);
        butterfly::<Q>(w4, w5, z[5]);
        butterfly::<Q>(w6, w7, z[6]);
    });
}

/// Three Gentleman-Sande layers on words `STRIDE` apart. Factors: the four of the first layer, two of the second, one of the
/// third. `finish` gets the eight words before they are stored, sums first: word 0 is up to 8 times as large as the input,
/// word 1 twice Q, words 2 and 3 Q, the rest Q / 2.
#[inline(always)]
pub fn inverse3<const Q: i16, const STRIDE: usize>(p: &mut [u32], z: &[u32; 7], finish: impl Fn(&mut [u32; 8])) {
    groups::<STRIDE>(p, |w| {
        let [w0, w1, w2, w3, w4, w5, w6, w7] = w;
        inverse_butterfly::<Q>(w0, w1, z[0]);
        inverse_butterfly::<Q>(w2, w3, z[1]);
        inverse_butterfly::<Q>(w4, w5, z[2]);
        inverse_butterfly::<Q>(w6, w7, z[3]);
        inverse_butterfly::<Q>(w0, w2, z[4]);
        inverse_butterfly::<Q>(w1, w3, z[4]);
        inverse_butterfly::<Q>(w4, w6, z[5]);
        inverse_butterfly::<Q>(w5, w7, z[5]);
        inverse_butterfly::<Q>(w0, w4, z[6]);
        inverse_butterfly::<Q>(w1, w5, z[6]);
        inverse_butterfly::<Q>(w2, w6, z[6]);
        inverse_butterfly::<Q>(w3, w7, z[6]);
        finish(w);
    });
}

/// Calls `work` for every group of eight words `STRIDE` apart.
#[inline(always)]
pub fn groups<const STRIDE: usize>(p: &mut [u32], work: impl Fn(&mut [u32; 8])) {
    assert!(p.len() == 8 * STRIDE);
    for i in 0..STRIDE {
        // SAFETY: i + 7 STRIDE < p.len().
        let first = unsafe { p.as_mut_ptr().add(i) };
        let mut w = [0; 8];
        for (k, w) in w.iter_mut().enumerate() {
            // SAFETY: as above.
            *w = unsafe { first.add(k * STRIDE).read() };
        }
        work(&mut w);
        for (k, w) in w.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { first.add(k * STRIDE).write(w) };
        }
    }
}
