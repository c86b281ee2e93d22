//! Reductions against `i64` arithmetic: exhaustive where one operand is free, random products otherwise.

use kem_core::modular::Zq;
use proptest::prelude::*;

const R: i64 = 1 << 16;

fn congruent(a: i64, b: i64, q: i16) -> bool {
    (a - b).rem_euclid(q.into()) == 0
}

fn one_operand<const Q: i16>() {
    assert!(congruent(Zq::<Q>::R.into(), R, Q));
    assert!(congruent(Zq::<Q>::R2.into(), R * R, Q));
    assert_eq!(Zq::<Q>::QINV.wrapping_mul(Q), 1);
    for a in i16::MIN..=i16::MAX {
        let reduced = Zq::<Q>::barrett(a);
        assert!(congruent(reduced.into(), a.into(), Q), "barrett({a})");
        assert!(reduced.abs() <= (Q + 1) / 2, "barrett({a}) = {reduced}");
        assert_eq!(
            i64::from(Zq::<Q>::freeze(a)),
            i64::from(a).rem_euclid(Q.into()),
            "freeze({a})"
        );
        let lifted = Zq::<Q>::to_montgomery(a);
        assert!(
            congruent(lifted.into(), i64::from(a) * R, Q) && lifted.abs() < Q,
            "to_montgomery({a})"
        );
    }
    for a in -Q..Q {
        assert_eq!(
            i64::from(Zq::<Q>::add_q_if_negative(a)),
            i64::from(a).rem_euclid(Q.into())
        );
    }
}

fn products<const Q: i16>() {
    let bound = i32::from(Q) << 15;
    for a in [1 - bound, -1, 0, 1, bound - 1]
        .into_iter()
        .chain((1 - bound..bound).step_by(9973))
    {
        let reduced = Zq::<Q>::reduce(a);
        assert!(
            congruent(i64::from(reduced) * R, a.into(), Q) && reduced.abs() < Q,
            "reduce({a}) = {reduced}"
        );
    }
    for b in [1 - Q, -Q / 2, -1, 0, 1, 2, Q / 2, Q - 1] {
        for a in i16::MIN..=i16::MAX {
            let product = Zq::<Q>::mul(a, b);
            assert!(
                congruent(i64::from(product) * R, i64::from(a) * i64::from(b), Q),
                "mul({a}, {b})"
            );
            assert!(product.abs() < Q, "mul({a}, {b}) = {product}");
            assert_eq!(product, Zq::<Q>::reduce(i32::from(a) * i32::from(b)));
        }
    }
}

fn inverses<const Q: i16>() {
    for a in 1..Q {
        let a = Zq::<Q>::to_montgomery(a);
        let inverse = Zq::<Q>::pow(a, Q as u16 - 2);
        assert!(congruent(Zq::<Q>::mul(a, inverse).into(), R, Q), "inverse of {a}");
    }
}

macro_rules! moduli {
    ($($name:ident $q:literal)*) => {$(
        #[test]
        fn $name() {
            one_operand::<$q>();
            products::<$q>();
            inverses::<$q>();
        }
    )*};
}

moduli! { q257 257 q769 769 q3329 3329 q3457 3457 q7129 7129 q7681 7681 q10753 10753 q17497 17497 q28513 28513 }

/// The constants that the specifications print.
#[test]
fn published_constants() {
    assert_eq!((Zq::<769>::R, Zq::<769>::R2, Zq::<769>::QINV), (171, 19, -767));
    assert_eq!(
        (
            Zq::<3329>::R.rem_euclid(3329),
            Zq::<3329>::R2.rem_euclid(3329),
            Zq::<3329>::QINV
        ),
        (2285, 1353, -3327)
    );
}

proptest! {
    #[test]
    fn random_products(a: i16, b in -3328i16..3329) {
        let product = Zq::<3329>::mul(a, b);
        prop_assert!(congruent(i64::from(product) * R, i64::from(a) * i64::from(b), 3329));
    }
}
