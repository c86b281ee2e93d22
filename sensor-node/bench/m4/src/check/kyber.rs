use core::array::from_fn;

use kyber::self_check::{basemul_agrees, forms_agree, inverse_ntt_agrees, ntt_agrees, transform};

use crate::draw::Draw;
use crate::meter::steady;

pub(super) fn arithmetic() -> bool {
    let mut draw = Draw::new(6);
    let mut within = |bound: i16| from_fn(|_| (draw.word() % (2 * bound as u64 + 1)) as i16 - bound);
    let random = (0..20).all(|_| {
        ntt_agrees(&within(32_767))
            && inverse_ntt_agrees(&within(32_767))
            && basemul_agrees(&within(2047).map(|c| c + 2047), &within(32_767))
            && forms_agree(&within(32_767))
    });
    let patterns: [fn(usize) -> bool; 6] = [
        |_| true,
        |i| i % 2 == 0,
        |i| i % 4 < 2,
        |i| i % 16 < 8,
        |i| i % 128 < 64,
        |i| i == 0,
    ];
    let bounds = patterns.into_iter().all(|high| {
        let pattern = |x: i16| from_fn(|i| if high(i) { x } else { -x });
        [1, -1].into_iter().all(|sign| {
            ntt_agrees(&pattern(sign * 32_767))
                && forms_agree(&pattern(sign * 32_767))
                && inverse_ntt_agrees(&pattern(sign * 32_767))
                && [0, 1, Q - 1, 4095]
                    .into_iter()
                    .all(|a| basemul_agrees(&[a; 256], &pattern(sign * 32_767)))
        })
    });
    random
        && bounds
        && steady(
            |draw| from_fn(|_| (draw.word() % Q as u64) as i16),
            |p: &mut [i16; 256]| transform(p),
        )
}

const Q: i16 = 3329;
