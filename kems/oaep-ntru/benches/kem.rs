//! Every operation of the three sets.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kem_core::Bytes;
use oaep_ntru::{EncapsulationKey, N648, N1296, N2592, OaepNtru, Params, Secret};

fn kem(c: &mut Criterion) {
    set::<N648>(c, "oaep-ntru-648");
    set::<N1296>(c, "oaep-ntru-1296");
    set::<N2592>(c, "oaep-ntru-2592");
}

fn set<P: Params>(c: &mut Criterion, name: &str) {
    let mut group = c.benchmark_group(name);
    let (mut keygen, mut coins) = (P::KeygenCoins::ZERO, P::Short::ZERO);
    for (i, byte) in keygen.as_mut().iter_mut().chain(coins.as_mut()).enumerate() {
        *byte = (i * 167) as u8;
    }
    let (mut ek, mut dk, mut ct, mut ss) = (P::Ek::ZERO, P::Dk::ZERO, P::Ct::ZERO, Secret::<P>::zeroed());
    OaepNtru::<P>::generate_from(&keygen, &mut ek, &mut dk).expect("invertible");
    group.bench_function("keygen", |b| {
        b.iter(|| OaepNtru::<P>::generate_from(black_box(&keygen), &mut ek, &mut dk));
    });
    let ek = EncapsulationKey::<P>::parse(ek.as_ref()).expect("own key is canonical");
    group.bench_function("encaps", |b| {
        b.iter(|| OaepNtru::<P>::encapsulate_from(black_box(&coins), &ek, &mut ct, &mut ss));
    });
    group.bench_function("decaps", |b| {
        b.iter(|| OaepNtru::<P>::decapsulate(black_box(&dk), black_box(&ct), &mut ss));
    });
    group.finish();
}

criterion_group!(benches, kem);
criterion_main!(benches);
