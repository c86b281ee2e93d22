//! Every operation of the four sets with either multiplication, next to PQClean's portable C in the same run.
//!
//! PQClean draws its randomness from the system inside the operation, ours takes coins: some kilobytes in one request, a few
//! microseconds in our favour.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use ntru::{Hps509, Hps677, Hps821, Hrss701, Karatsuba, Ntru, Tmvp};

macro_rules! against {
    ($set:ident, $params:ident, $c:expr) => {{
        use pqcrypto_ntru::$set::{decapsulate, encapsulate, keypair};
        ours::<Ntru<$params, Tmvp>>($c, stringify!($set), "tmvp");
        ours::<Ntru<$params, Karatsuba>>($c, stringify!($set), "karatsuba");
        let mut group = $c.benchmark_group(stringify!($set));
        let (ek, dk) = keypair();
        let (_, ct) = encapsulate(&ek);
        group.bench_function("keygen/pqclean", |b| b.iter(|| black_box(keypair())));
        group.bench_function("encaps/pqclean", |b| b.iter(|| black_box(encapsulate(&ek))));
        group.bench_function("decaps/pqclean", |b| b.iter(|| black_box(decapsulate(&ct, &dk))));
        group.finish();
    }};
}

fn ours<K: Kem>(c: &mut Criterion, set: &str, multiplication: &str) {
    let mut group = c.benchmark_group(set);
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let (mut keygen_coins, mut encaps_coins) = (K::KeygenCoins::ZERO, K::EncapsCoins::ZERO);
    for coins in [keygen_coins.as_mut(), encaps_coins.as_mut()] {
        for (i, byte) in coins.iter_mut().enumerate() {
            *byte = ((i as u32 + 1).wrapping_mul(0x9e37_79b9) >> 11) as u8;
        }
    }
    let mut ss = SharedSecret::zeroed();
    group.bench_function(format!("keygen/{multiplication}"), |b| {
        b.iter(|| K::keygen_from(black_box(&keygen_coins), black_box(&mut ek), black_box(&mut dk)));
    });
    let parsed = Ek::<K>::parse(ek.as_ref()).expect("own key");
    group.bench_function(format!("encaps/{multiplication}"), |b| {
        b.iter(|| {
            K::encaps_from(
                black_box(&encaps_coins),
                &parsed,
                black_box(&mut ct),
                black_box(&mut ss),
            );
        });
    });
    group.bench_function(format!("decaps/{multiplication}"), |b| {
        b.iter(|| K::decaps(black_box(&dk), black_box(&ct), black_box(&mut ss)).is_ok());
    });
    group.finish();
}

fn kem(c: &mut Criterion) {
    against!(ntruhps2048509, Hps509, c);
    against!(ntruhps2048677, Hps677, c);
    against!(ntruhps4096821, Hps821, c);
    against!(ntruhrss701, Hrss701, c);
}

criterion_group!(benches, kem);
criterion_main!(benches);
