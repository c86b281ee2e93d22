//! Every operation of the three sets, next to PQClean's portable C in the same run.
//!
//! PQClean draws its randomness from the system inside the operation, ours takes coins: that is one or three requests of 32
//! bytes in their favour or ours, well below a microsecond.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kem_core::{Ek, Kem, SharedSecret};
use saber::{FireSaber, LightSaber, Saber};

macro_rules! against {
    ($set:ident, $kem:ident, $c:expr) => {{
        use pqcrypto_saber::$set::{decapsulate, encapsulate, keypair};
        let mut group = $c.benchmark_group(stringify!($set));

        let (mut ek, mut dk) = ([0; $kem::EK_LEN], [0; $kem::DK_LEN]);
        let (mut ct, mut ss) = ([0; $kem::CT_LEN], SharedSecret::zeroed());
        group.bench_function("keygen", |b| {
            b.iter(|| $kem::keygen_from(black_box(&[7; 96]), black_box(&mut ek), black_box(&mut dk)));
        });
        group.bench_function("keygen/pqclean", |b| b.iter(|| black_box(keypair())));

        let (their_ek, their_dk) = keypair();
        let parsed = Ek::<$kem>::parse(&ek).expect("own key");
        group.bench_function("encaps", |b| {
            b.iter(|| $kem::encaps_from(black_box(&[7; 32]), &parsed, black_box(&mut ct), black_box(&mut ss)));
        });
        group.bench_function("encaps/pqclean", |b| b.iter(|| black_box(encapsulate(&their_ek))));

        let (_, their_ct) = encapsulate(&their_ek);
        group.bench_function("decaps", |b| {
            b.iter(|| $kem::decaps(black_box(&dk), black_box(&ct), black_box(&mut ss)));
        });
        group.bench_function("decaps/pqclean", |b| {
            b.iter(|| black_box(decapsulate(&their_ct, &their_dk)))
        });
        group.finish();
    }};
}

fn kem(c: &mut Criterion) {
    against!(lightsaber, LightSaber, c);
    against!(saber, Saber, c);
    against!(firesaber, FireSaber, c);
}

criterion_group!(benches, kem);
criterion_main!(benches);
