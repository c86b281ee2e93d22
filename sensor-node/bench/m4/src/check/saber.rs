use core::array::from_fn;

use saber::self_check::{decoders_agree, product, sums_agree};

use crate::draw::Draw;
use crate::meter::steady;

pub(super) fn products() -> bool {
    let mut draw = Draw::new(8);
    let mut terms = || {
        let mut within = |bound: i16| from_fn(|_| (draw.word() % (2 * bound as u64)) as i16 - bound);
        [(); 4].map(|()| (within(4096), within(8)))
    };
    let random = (0..10).all(|count| sums_agree(&terms()[..count % 5]));
    // All products of coefficient i have the same sign: the largest sums there are.
    let bounds = [(-4096, 8), (-4096, -8), (4095, 8), (4095, -8)]
        .into_iter()
        .all(|(a, s)| {
            [0, 1, 2, 3, 128, 254, 255].into_iter().all(|i| {
                let signed = from_fn(|j| if j <= i { s } else { -s });
                sums_agree(&[([a; 256], signed); 4])
            })
        });
    let codes = (0..20).all(|_| {
        let mut bytes = [0; 416];
        draw.fill(&mut bytes);
        decoders_agree(&bytes)
    });
    random
        && bounds
        && codes
        && steady(
            |draw| {
                let mut within = |bound: i16| from_fn(|_| (draw.word() % (2 * bound as u64)) as i16 - bound);
                (within(4096), within(5))
            },
            |(a, s)| product(a, s),
        )
}
