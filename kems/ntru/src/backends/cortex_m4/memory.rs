//! Loops that are mostly loads and stores.

use core::arch::asm;

/// `words` = `pairs`, which may lie across the borders of words.
pub(crate) fn copy(words: &mut [u32], pairs: &[[u16; 2]]) {
    assert!(words.len() == pairs.len());
    let (fours, rest) = words.as_chunks_mut::<4>();
    let (four_pairs, pairs) = pairs.as_chunks::<4>();
    if !fours.is_empty() {
        // SAFETY: reads and writes as many groups of 16 bytes as both slices have, at least one.
        unsafe {
            asm!(
                "2:",
                "ldr {a}, [{from}], #16",
                "ldr {b}, [{from}, #-12]",
                "ldr {c}, [{from}, #-8]",
                "ldr {d}, [{from}, #-4]",
                "str {a}, [{to}], #16",
                "str {b}, [{to}, #-12]",
                "str {c}, [{to}, #-8]",
                "str {d}, [{to}, #-4]",
                "subs {count}, #1",
                "bne 2b",
                from = inout(reg) four_pairs.as_ptr() => _,
                to = inout(reg) fours.as_mut_ptr() => _,
                count = inout(reg) fours.len() => _,
                a = out(reg) _,
                b = out(reg) _,
                c = out(reg) _,
                d = out(reg) _,
                options(nostack)
            );
        }
    }
    for (word, pair) in rest.iter_mut().zip(pairs) {
        *word = crate::backends::pairs::join(*pair);
    }
}

/// The twin of `sort::order_pairs`: of the pairs (i, i + d) for `count` numbers i from `first` on, `step` apart, the first one
/// takes the smaller key.
pub(crate) fn order_pairs(keys: &mut [u32], first: usize, d: usize, count: usize, step: usize) {
    assert!(count > 0 && first + (count - 1) * step + d < keys.len());
    // SAFETY: the greatest index is below the length.
    unsafe {
        asm!(
            "2:",
            "ldr {a}, [{low}]",
            "ldr {b}, [{high}]",
            // All ones if b is below a.
            "subs {t}, {b}, {a}",
            "sbc {t}, {t}, {t}",
            "eor {u}, {a}, {b}",
            "and {u}, {u}, {t}",
            "eor {a}, {a}, {u}",
            "eor {b}, {b}, {u}",
            "str {a}, [{low}]",
            "str {b}, [{high}]",
            "add {low}, {step}",
            "add {high}, {step}",
            "subs {count}, #1",
            "bne 2b",
            low = inout(reg) keys.as_mut_ptr().wrapping_add(first) => _,
            high = inout(reg) keys.as_mut_ptr().wrapping_add(first + d) => _,
            count = inout(reg) count => _,
            step = in(reg) 4 * step,
            a = out(reg) _,
            b = out(reg) _,
            t = out(reg) _,
            u = out(reg) _,
            options(nostack)
        );
    }
}
