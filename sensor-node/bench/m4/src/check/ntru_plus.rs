use core::array::from_fn;

use ntru_plus::Params;
use ntru_plus::self_check::{inverses_agree, products_agree, transforms_agree};

use crate::draw::Draw;

pub(super) fn arithmetic<P: Params>() -> bool {
    let mut draw = Draw::new(7);
    let mut below = |bound: i16| (draw.word() % (2 * bound as u64 - 1)) as i16 + 1 - bound;
    let random = (0..10).all(|_| {
        let scale = below(Q / 2);
        transforms_agree::<P>(|_| below(Q))
            && products_agree::<P>(
                &from_fn(|_| below(2 * Q)),
                &from_fn(|_| below(2048) + 2048),
                below(Q / 2),
            )
            && inverses_agree::<P>(|_| below(Q), scale)
    });
    let patterns: [fn(usize) -> bool; 6] = [
        |_| true,
        |i| i % 2 == 0,
        |i| i % 4 < 2,
        |i| i % 16 < 8,
        |i| i < P::N / 2,
        |i| i == 0,
    ];
    let bounds = patterns.into_iter().all(|high| {
        let signed = |x: i16| move |i| if high(i) { x } else { -x };
        [1 - Q, Q - 1].into_iter().all(|x| {
            transforms_agree::<P>(signed(x))
                && inverses_agree::<P>(signed(x), Q / 2)
                && inverses_agree::<P>(signed(1), x / 2)
        }) && [0, 4095].into_iter().all(|b| {
            [1 - 2 * Q, 2 * Q - 1]
                .into_iter()
                .all(|x| products_agree::<P>(&from_fn(signed(x)), &[b; 192], -Q / 2))
        })
    });
    // One residue without an inverse.
    let singular = inverses_agree::<P>(|i| if i < 12 { 0 } else { 1 }, 1);
    random && bounds && singular
}

const Q: i16 = 3457;
