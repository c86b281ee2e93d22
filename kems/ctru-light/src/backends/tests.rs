//! Every compiled backend at the bounds of its contract, against whole integers.

use core::array::from_fn;
use std::vec::Vec;

use super::{Arith, Native};
use crate::components::{Draw, wide};
use crate::encoding::{CT_LEN, F_LEN};
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

/// The extremes: all coefficients of ct at -64 modulo 128 and f' without a zero give sums up to 32768.
#[test]
fn decryption_products_are_exact() {
    fn check(arith: impl Arith) {
        let mut draw = Draw(2);
        let random: [u8; CT_LEN] = from_fn(|_| draw.below(256) as u8);
        let extreme: [u8; CT_LEN] = from_fn(|_| if draw.below(2) == 0 { 0x40 } else { 0x3f });
        let cts = [
            random,
            extreme,
            [0x40; CT_LEN],
            [0xc0; CT_LEN],
            [0x3f; CT_LEN],
            [0xff; CT_LEN],
            [0; CT_LEN],
        ];
        let fs = [
            pack_f(|_| 1),
            pack_f(|_| -1),
            pack_f(|k| if k % 2 == 0 { 1 } else { -1 }),
            pack_f(|k| if k < 256 { 1 } else { -1 }),
            pack_f(|_| 0),
            pack_f(|_| draw.below(3) as i16 - 1),
            pack_f(|_| 1 - 2 * draw.below(2) as i16),
        ];
        for ct in cts {
            for f in fs {
                let (mut v, mut scratch) = (Poly::ZERO, Poly::ZERO);
                arith.multiply_exact(&ct, &f, &mut v, &mut scratch);
                let v: Vec<i64> = v.0.iter().map(|&v| i64::from(v).rem_euclid(256)).collect();
                let ct: Vec<i64> = ct.iter().map(|&c| c.into()).collect();
                assert_eq!(v, reference::multiply(&ct, &reference::unpack_f(&f), 256));
            }
        }
    }
    on_every_backend!(check);
}

/// Codes that no key has may give any product, but no panic.
#[test]
fn invalid_codes_do_no_harm() {
    fn check(arith: impl Arith) {
        for f in [[0; F_LEN], [0xff; F_LEN], [0x92; F_LEN]] {
            for ct in [[0x40; CT_LEN], [0x3f; CT_LEN]] {
                let (mut v, mut scratch) = (Poly::ZERO, Poly::ZERO);
                arith.multiply_exact(&ct, &f, &mut v, &mut scratch);
            }
        }
    }
    on_every_backend!(check);
}

fn pack_f(mut f_prime: impl FnMut(usize) -> i16) -> [u8; F_LEN] {
    let mut bytes = [0; F_LEN];
    Poly(from_fn(|k| 2 * f_prime(k) + i16::from(k == 0))).pack_f(&mut bytes);
    bytes
}
