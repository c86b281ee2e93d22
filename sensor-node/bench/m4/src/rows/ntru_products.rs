//! The multiplications of NTRU. Stack is what a call takes and the memory that it works in.

use core::hint::black_box;

use ntru::self_check::{Product, polynomial};
use ntru::{Hps509, Hps677, Hps821, Hrss701, Multiply, Ntt, Params, Tmvp, ToomCook};

use crate::draw::Draw;
use crate::meter::{Cost, measure, report};

#[inline(never)]
pub(super) fn run() {
    set::<Hps509>("hps2048509");
    set::<Hps677>("hps2048677");
    set::<Hps821>("hps4096821");
    set::<Hrss701>("hrss701");
}

fn set<P: Params>(name: &str) {
    product::<P, Tmvp>(name, "tmvp");
    product::<P, ToomCook>(name, "toom-cook");
    product::<P, Ntt>(name, "ntt");
}

fn product<P: Params, M: Multiply>(set: &str, method: &str) {
    let mut product = Product::<P, M>::new();
    for seed in 1..=3 {
        let draw = core::cell::RefCell::new(Draw::new(seed));
        let b = polynomial::<P>(|_| draw.borrow_mut().word() as u16);
        let mut a = polynomial::<P>(|_| draw.borrow_mut().word() as u16);
        let ((), any) = measure(|| product.multiply(black_box(&mut a), black_box(&b)));
        let mut a = polynomial::<P>(|_| (draw.borrow_mut().word() % 3).wrapping_sub(1) as u16);
        let ((), ternary) = measure(|| product.multiply_ternary(black_box(&mut a), black_box(&b)));
        for (factor, cost) in [("any", any), ("ternary", ternary)] {
            let cost = Cost {
                stack: cost.stack + Product::<P, M>::MEMORY as u32,
                ..cost
            };
            report(format_args!("ntru-products/{set}-{method}-{factor}"), cost);
        }
    }
}
