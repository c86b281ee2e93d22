//! Every operation, with ML-KEM-768 of the `ml-kem` crate as a yardstick: no other NTRU+ crate exists.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use kem_core::{Bytes, Ek, Kem, SharedSecret, rand_core::Rng, testkit::KatDrbg};
use ml_kem::{
    B32, DecapsulationKey, EncapsulationKey, MlKem768, Seed,
    kem::{Decapsulate, KeyExport},
};
use ntru_plus::{NtruPlus, NtruPlus768, NtruPlus864, NtruPlus1152, P768, V2_2};

fn ours<K: Kem>(criterion: &mut Criterion, name: &str) {
    let mut rng = KatDrbg::master();
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let mut ss = SharedSecret::zeroed();
    let mut group = criterion.benchmark_group(name);

    // Seeds that are accepted: how often a set draws again is not what is measured.
    let mut coins = K::KeygenCoins::ZERO;
    while {
        rng.fill_bytes(coins.as_mut());
        K::keygen_from(&coins, &mut ek, &mut dk).is_err()
    } {}
    group.bench_function("keygen", |b| {
        b.iter(|| K::keygen_from(black_box(&coins), &mut ek, &mut dk));
    });

    let parsed = Ek::<K>::parse(ek.as_ref()).expect("own key");
    let mut coins = K::EncapsCoins::ZERO;
    rng.fill_bytes(coins.as_mut());
    group.bench_function("encaps", |b| {
        b.iter(|| K::encaps_from(black_box(&coins), &parsed, &mut ct, &mut ss));
    });
    group.bench_function("decaps", |b| b.iter(|| K::decaps(black_box(&dk), &ct, &mut ss).is_ok()));
    group.finish();
}

fn yardstick(criterion: &mut Criterion) {
    let mut rng = KatDrbg::master();
    let mut seed = Seed::default();
    rng.fill_bytes(&mut seed);
    let mut message = B32::default();
    rng.fill_bytes(&mut message);
    let mut group = criterion.benchmark_group("ml-kem ML-KEM-768");

    group.bench_function("keygen", |b| {
        b.iter(|| {
            DecapsulationKey::<MlKem768>::from_seed(black_box(seed))
                .encapsulation_key()
                .to_bytes()
        });
    });
    let dk = DecapsulationKey::<MlKem768>::from_seed(seed);
    let ek = dk.encapsulation_key().to_bytes();
    let encaps = || {
        let ek = EncapsulationKey::<MlKem768>::new(black_box(&ek)).expect("own key");
        ek.encapsulate_deterministic(black_box(&message))
    };
    group.bench_function("encaps from bytes", |b| b.iter(encaps));
    let (ct, _) = encaps();
    group.bench_function("decaps with a parsed key", |b| {
        b.iter(|| dk.decapsulate(black_box(&ct)));
    });
    group.finish();
}

fn all(criterion: &mut Criterion) {
    ours::<NtruPlus768>(criterion, "NTRU+768");
    ours::<NtruPlus864>(criterion, "NTRU+864");
    ours::<NtruPlus1152>(criterion, "NTRU+1152");
    ours::<NtruPlus<P768, V2_2>>(criterion, "NTRU+768 v2.2");
    yardstick(criterion);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1));
    targets = all
}
criterion_main!(benches);
