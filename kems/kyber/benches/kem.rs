//! Key generation, encapsulation and decapsulation of every parameter set, next to other implementations of the same one.
//!
//! All of them run on one core. Ours and `libcrux` choose vector code for this machine, the others are portable code; so is
//! ours with `--cfg kemqtt_portable` in `RUSTFLAGS`.

use core::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use kem_core::{Bytes, Ek, Kem, SharedSecret};

fn ours<K: Kem<KeygenCoins = [u8; 64], EncapsCoins = [u8; 32]>>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let mut ss = SharedSecret::zeroed();
    group.bench_function("keygen/ours", |b| {
        b.iter(|| K::keygen_from(black_box(&[7; 64]), &mut ek, &mut dk));
    });
    group.bench_function("encaps/ours", |b| {
        b.iter(|| {
            let ek = Ek::<K>::parse(black_box(ek.as_ref())).expect("canonical");
            K::encaps_from(black_box(&[9; 32]), &ek, &mut ct, &mut ss);
        });
    });
    group.bench_function("decaps/ours", |b| {
        b.iter(|| K::decaps(black_box(&dk), black_box(&ct), &mut ss));
    });
}

macro_rules! ml_kem_peer {
    ($group:ident, $set:ident) => {
        use ml_kem::Decapsulate;
        use ml_kem::kem::KeyExport;
        type Dk = ml_kem::DecapsulationKey<ml_kem::$set>;
        let dk = Dk::from_seed([7; 64].into());
        let ek = dk.encapsulation_key().clone();
        let (ct, _) = ek.encapsulate_deterministic(&[9; 32].into());
        $group.bench_function("keygen/ml-kem", |b| b.iter(|| Dk::from_seed(black_box([7; 64].into()))));
        let ek = ek.to_bytes();
        $group.bench_function("encaps/ml-kem", |b| {
            b.iter(|| {
                let ek = ml_kem::EncapsulationKey::<ml_kem::$set>::new(black_box(&ek)).expect("canonical");
                ek.encapsulate_deterministic(black_box(&[9; 32].into()))
            });
        });
        $group.bench_function("decaps/ml-kem", |b| b.iter(|| dk.decapsulate(black_box(&ct))));
    };
}

macro_rules! libcrux_peer {
    ($group:ident, $name:literal, $($module:ident)::+) => {
        use libcrux_ml_kem::$($module)::+ as theirs;
        let keys = theirs::generate_key_pair([7; 64]);
        let (ct, _) = theirs::encapsulate(keys.public_key(), [9; 32]);
        $group.bench_function(concat!("keygen/", $name), |b| b.iter(|| theirs::generate_key_pair(black_box([7; 64]))));
        $group.bench_function(concat!("encaps/", $name), |b| {
            b.iter(|| {
                assert!(theirs::validate_public_key(black_box(keys.public_key())));
                theirs::encapsulate(black_box(keys.public_key()), black_box([9; 32]))
            });
        });
        $group.bench_function(concat!("decaps/", $name), |b| {
            b.iter(|| theirs::decapsulate(black_box(keys.private_key()), black_box(&ct)))
        });
    };
}

macro_rules! pqcrypto_peer {
    ($group:ident, $module:ident) => {
        use pqcrypto_kyber::$module as theirs;
        let (pk, sk) = theirs::keypair();
        let (_, ct) = theirs::encapsulate(&pk);
        $group.bench_function("keygen/pqcrypto", |b| b.iter(theirs::keypair));
        $group.bench_function("encaps/pqcrypto", |b| b.iter(|| theirs::encapsulate(black_box(&pk))));
        $group.bench_function("decaps/pqcrypto", |b| {
            b.iter(|| theirs::decapsulate(black_box(&ct), black_box(&sk)))
        });
    };
}

macro_rules! ml_kem {
    ($criterion:ident, $set:ident, $module:ident) => {{
        let mut group = $criterion.benchmark_group(stringify!($set));
        ours::<kyber::$set>(&mut group);
        ml_kem_peer!(group, $set);
        {
            libcrux_peer!(group, "libcrux-portable", $module::portable);
        }
        {
            libcrux_peer!(group, "libcrux", $module);
        }
        group.finish();
    }};
}

macro_rules! kyber {
    ($criterion:ident, $set:ident, $module:ident) => {{
        let mut group = $criterion.benchmark_group(stringify!($set));
        ours::<kyber::$set>(&mut group);
        pqcrypto_peer!(group, $module);
        group.finish();
    }};
}

fn all(criterion: &mut Criterion) {
    ml_kem!(criterion, MlKem512, mlkem512);
    ml_kem!(criterion, MlKem768, mlkem768);
    ml_kem!(criterion, MlKem1024, mlkem1024);
    kyber!(criterion, Kyber512, kyber512);
    kyber!(criterion, Kyber768, kyber768);
    kyber!(criterion, Kyber1024, kyber1024);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000))
        .sample_size(40)
        .without_plots();
    targets = all
}
criterion_main!(benches);
