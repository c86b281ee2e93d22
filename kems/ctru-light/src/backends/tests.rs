//! Every compiled backend at the bounds of its contract, against whole integers.

use core::array::from_fn;
use std::vec::Vec;

use super::{Arith, Native};
use crate::components::{Draw, pack_f_prime, wide};
use crate::encoding::CT_LEN;
use crate::reference;
use crate::ring::{N, Poly};

/// Runs `check` with every backend that this target and this processor have.
macro_rules! on_every_backend {
    ($check:expr) => {
        $check(Native);
    };
}

/// The contract's range, full and at its ends, and the ranges that the KEM uses.
fn operands() -> Vec<Poly> {
    let mut draw = Draw(1);
    let mut draw = |low: i64, high: i64| (low + draw.below(high - low + 1)) as i16;
    let mut all = Vec::new();
    for (low, high) in [(-769, 1024), (0, 768), (-1, 1), (-2, 3)] {
        all.push(Poly(from_fn(|_| draw(low, high))));
        all.push(Poly(from_fn(
            |_| if draw(0, 1) == 0 { low as i16 } else { high as i16 },
        )));
    }
    for value in [-769, 0, 1, 768, 1024] {
        all.push(Poly([value; N]));
    }
    all.push(Poly(from_fn(|i| if i % 2 == 0 { -769 } else { 1024 })));
    all
}

#[test]
fn products_are_exact_and_canonical() {
    fn check(arith: impl Arith) {
        for a in operands() {
            for b in operands() {
                let (mut r, mut s) = (Poly(a.0), Poly(b.0));
                arith.multiply(&mut r, &mut s);
                assert_eq!(wide(&r.0), reference::multiply(&wide(&a.0), &wide(&b.0), 769));
            }
        }
    }
    on_every_backend!(check);
}

#[test]
fn quotients_times_the_divisor_are_the_dividend() {
    fn check(arith: impl Arith) {
        let mut divided = 0;
        for a in operands() {
            for b in operands() {
                let (mut r, mut s) = (Poly(a.0), Poly(b.0));
                arith.ntt(&mut r);
                arith.ntt(&mut s);
                let invertible = bool::from(arith.baseinv(&mut s));
                arith.basemul(&mut r, &s);
                arith.invntt(&mut r);
                assert!(r.0.iter().all(|c| (0..769).contains(c)));
                if invertible {
                    divided += 1;
                    let back = reference::multiply(&wide(&r.0), &wide(&b.0), 769);
                    assert_eq!(
                        back,
                        reference::multiply(&wide(&a.0), &[&[1][..], &[0; N - 1]].concat(), 769)
                    );
                }
            }
        }
        assert!(divided > 50);
        assert!(!bool::from(arith.baseinv(&mut Poly([0; N]))));
    }
    on_every_backend!(check);
}

#[test]
fn decryption_is_the_specified_one() {
    fn check(arith: impl Arith) {
        let mut draw = Draw(2);
        for fill in [0x00, 0x3f, 0x40, 0x80, 0xff] {
            let f = pack_f_prime(|_| draw.below(3) as i16 - 1);
            let random: [u8; CT_LEN] = from_fn(|_| draw.below(256) as u8);
            for ct in [[fill; CT_LEN], random] {
                let mut m = [0xaa; 32];
                arith.decrypt(&f, &ct, &mut m);
                assert_eq!(m[..], reference::decrypt(&f, &ct));
            }
        }
    }
    on_every_backend!(check);
}
