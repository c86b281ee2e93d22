use core::array::from_fn;

use ntru::self_check::{Product, polynomial, products_agree, sort};
use ntru::{Multiply, Ntt, Params, Tmvp, ToomCook};

use crate::draw::Draw;
use crate::meter::steady;

pub(super) fn products<P: Params>() -> bool {
    let mut draw = Draw::new(8);
    let mut word = || draw.word() as u16;
    let mut draw = Draw::new(9);
    let mut trit = || (draw.word() % 3).wrapping_sub(1) as u16;
    let random = products_agree::<P>(|_| word(), |i| (i as u16).wrapping_mul(40_503))
        && products_agree::<P>(|_| trit(), |_| word());
    let half = 1 << (P::LOG_Q - 1);
    let bounds = [
        (half, half),
        (half - 1, half),
        (0xffff, half),
        (1, half - 1),
        (0x7fff, 0x8000),
    ];
    random
        && bounds.into_iter().all(|(a, b)| products_agree::<P>(|_| a, |_| b))
        // x^(n-1) meets every coefficient.
        && products_agree::<P>(|i| u16::from(i == P::N - 1), |_| word())
        && takes_equal_time::<P, Tmvp>()
        && takes_equal_time::<P, ToomCook>()
        && takes_equal_time::<P, Ntt>()
}

fn takes_equal_time<P: Params, M: Multiply>() -> bool {
    let b = |draw: &mut Draw| polynomial::<P>(|_| draw.word() as u16);
    steady(
        |draw| (Product::<P, M>::new(), b(draw), b(draw)),
        |(product, a, b)| product.multiply(a, b),
    ) && steady(
        |draw| {
            let a = polynomial::<P>(|_| (draw.word() % 3).wrapping_sub(1) as u16);
            (Product::<P, M>::new(), a, b(draw))
        },
        |(product, a, b)| product.multiply_ternary(a, b),
    )
}

/// Against the comparison sort of the standard library.
pub(super) fn sorting() -> bool {
    let mut draw = Draw::new(10);
    let sorts = |mut keys: [u32; 820], len: usize| {
        let (keys, _) = keys.split_at_mut(len);
        let mut expected = [0; 820];
        expected[..len].copy_from_slice(keys);
        expected[..len].sort_unstable();
        sort(keys);
        *keys == expected[..len]
    };
    [508, 676, 820].into_iter().all(|len| {
        sorts(from_fn(|_| draw.word() as u32), len)
            && sorts(from_fn(|i| 0x8000_0200 - i as u32), len)
            && sorts(from_fn(|i| u32::MAX * (i % 2) as u32), len)
            && sorts(from_fn(|_| (draw.word() % 3) as u32), len)
    }) && steady(
        |draw| from_fn(|_| draw.word() as u32),
        |keys: &mut [u32; 820]| sort(keys),
    )
}
