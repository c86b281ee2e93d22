//! CTRU-Light next to ML-KEM-512 of the `ml-kem` crate. Every operation starts from encoded keys, as in a handshake, except
//! for ML-KEM's decapsulation, which gets its key expanded.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ctru_light::{AsconXof, CtruLight, Ek, Kem, Sha3, SharedSecret};
use ml_kem::kem::{Decapsulate, KeyExport};
use ml_kem::{DecapsulationKey512, EncapsulationKey512};

fn ours<K>(c: &mut Criterion, name: &str)
where
    K: Kem<
            EkBytes = [u8; 640],
            DkBytes = [u8; 864],
            CtBytes = [u8; 512],
            KeygenCoins = [u8; 64],
            EncapsCoins = [u8; 32],
        >,
{
    let mut group = c.benchmark_group(name);
    let (mut ek, mut dk, mut ct) = ([0; 640], [0; 864], [0; 512]);
    let mut ss = SharedSecret::zeroed();
    group.bench_function("keygen", |b| {
        b.iter(|| K::keygen_from(black_box(&[7; 64]), &mut ek, &mut dk).expect("invertible"));
    });
    group.bench_function("encaps", |b| {
        b.iter(|| {
            let ek = Ek::parse(black_box(&ek)).expect("canonical");
            K::encaps_from(black_box(&[9; 32]), &ek, &mut ct, &mut ss);
        });
    });
    group.bench_function("decaps", |b| {
        b.iter(|| K::decaps(black_box(&dk), black_box(&ct), &mut ss));
    });
}

fn ml_kem_512(c: &mut Criterion) {
    let mut group = c.benchmark_group("ml-kem-512");
    let seed = [7; 64].into();
    let dk = DecapsulationKey512::from_seed(seed);
    let ek = dk.encapsulation_key().to_bytes();
    let m = [9; 32].into();
    group.bench_function("keygen", |b| {
        b.iter(|| {
            DecapsulationKey512::from_seed(black_box(seed))
                .encapsulation_key()
                .to_bytes()
        });
    });
    group.bench_function("encaps", |b| {
        b.iter(|| {
            EncapsulationKey512::new(black_box(&ek))
                .expect("canonical")
                .encapsulate_deterministic(black_box(&m))
        });
    });
    let (ct, _) = dk.encapsulation_key().encapsulate_deterministic(&m);
    group.bench_function("decaps", |b| b.iter(|| dk.decapsulate(black_box(&ct))));
}

fn all(c: &mut Criterion) {
    ours::<CtruLight<AsconXof>>(c, "ctru-light-ascon");
    ours::<CtruLight<Sha3>>(c, "ctru-light-sha3");
    ml_kem_512(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
