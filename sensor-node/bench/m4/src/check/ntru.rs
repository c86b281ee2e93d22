use ntru::self_check::{Product, polynomial, products_agree};
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
