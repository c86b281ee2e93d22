//! Products in T_q, in one piece, because around the single products the compiler loads all constants anew.

use core::arch::asm;

use kem_core::modular::Zq;

use super::transform::FACTORS;
use crate::poly::{N, Q};

/// acc + a b / R from coefficient `first`, a multiple of 4, for as many blocks of four coefficients as `a` has.
/// In: 0 <= a < 4096, |b| < Q. Adds less than Q.
#[inline(always)]
pub(super) fn accumulate(acc: &mut [u32; N / 2], a: &[i16], b: &[u32; N / 2], first: usize) {
    let (a, _) = a.as_chunks::<4>();
    let factors = &FACTORS.last[first / 4..][..a.len()];
    let acc = &mut acc[first / 2..][..2 * a.len()];
    let b = &b[first / 2..][..2 * a.len()];
    if a.is_empty() {
        return;
    }
    // SAFETY: at least one block. Each reads 2 words of `a`, which may lie at any address, and of `b`, one of `factors`, and
    // updates 2 words of `acc`; the slices are as long as that. Twin: `portable::Portable`.
    unsafe {
        asm!(
            "2:",
            "ldr {x}, [{a}], #8",
            "ldr {y}, [{b}], #8",
            "ldr {z}, [{factors}], #4",
            "smulwt {t}, {z}, {y}",
            "smlabb {t}, {t}, {q}, {rounding}",
            "smulbb {u}, {x}, {y}",
            "smlatt {t}, {x}, {t}, {u}",
            "smuadx {u}, {x}, {y}",
            "smulbt {x}, {t}, {q}",
            "smlabb {t}, {x}, {q}, {t}",
            "smulbt {x}, {u}, {q}",
            "smlabb {u}, {x}, {q}, {u}",
            "ldr {y}, [{acc}]",
            "pkhtb {t}, {u}, {t}, asr #16",
            "uadd16 {y}, {y}, {t}",
            "str {y}, [{acc}], #4",
            // the factor of -zeta
            "rsb {z}, {z}, #1",
            "ldr {x}, [{a}, #-4]",
            "ldr {y}, [{b}, #-4]",
            "smulwt {t}, {z}, {y}",
            "smlabb {t}, {t}, {q}, {rounding}",
            "smulbb {u}, {x}, {y}",
            "smlatt {t}, {x}, {t}, {u}",
            "smuadx {u}, {x}, {y}",
            "smulbt {x}, {t}, {q}",
            "smlabb {t}, {x}, {q}, {t}",
            "smulbt {x}, {u}, {q}",
            "smlabb {u}, {x}, {q}, {u}",
            "ldr {y}, [{acc}]",
            "pkhtb {t}, {u}, {t}, asr #16",
            "uadd16 {y}, {y}, {t}",
            "str {y}, [{acc}], #4",
            "cmp {factors}, {end}",
            "bne 2b",
            a = inout(reg) a.as_ptr() => _,
            b = inout(reg) b.as_ptr() => _,
            acc = inout(reg) acc.as_mut_ptr() => _,
            factors = inout(reg) factors.as_ptr() => _,
            end = in(reg) factors.as_ptr_range().end,
            q = in(reg) const { (Q as u16 as u32) | (Zq::<Q>::QINV.wrapping_neg() as u16 as u32) << 16 },
            // Plantard's, as in `kem_core::packed`.
            rounding = in(reg) i32::from(Q) << 3,
            x = out(reg) _,
            y = out(reg) _,
            z = out(reg) _,
            t = out(reg) _,
            u = out(reg) _,
            options(nostack)
        );
    }
}
