//! Both halves of a handshake, apart, per suite. What a broker does per connection decides how many it can take.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared with the tests
#[path = "../tests/scripted/wire.rs"]
mod wire;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use hybrid_handshake::{
    broker::AwaitM1,
    client::Start,
    drbg::Drbg,
    message::M1Header,
    suite::{Mode, SuiteId},
};
use wire::{CLIENT_SEED, NOW, World, answer_m1, answer_m2, first_flight};

const SUITES: [u16; 8] = [0x0112, 0x0222, 0x0322, 0x1011, 0x1022, 0x1911, 0x0262, 0x1051];

fn halves(c: &mut Criterion) {
    for suite in SUITES
        .into_iter()
        .filter_map(SuiteId::from_code)
        .filter(|suite| wire::all_suites().any(|s| s == *suite))
    {
        for mode in [Mode::Kem, Mode::Psk] {
            let world = World::new(suite, mode);
            let (m1, ..) = first_flight(&world);
            let mut group = c.benchmark_group(format!("{suite} {mode:?}"));

            group.bench_function("client", |b| {
                let config = world.config();
                b.iter_batched(
                    || answer_m1(&world, &m1, &[1; 32]).unwrap().0,
                    |m2| {
                        let mut rng = Drbg::broker(&CLIENT_SEED);
                        let start = Start::new(world.any_suite(), &config).unwrap();
                        let (_, mut await_m2) = start.write_m1(&mut rng, &mut [0; 4000]).unwrap();
                        answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap()
                    },
                    BatchSize::SmallInput,
                );
            });

            group.bench_function("broker", |b| {
                let params = world.m2_params();
                b.iter_batched(
                    || {
                        let (m1, mut await_m2, mut rng) = first_flight(&world);
                        let (m2, _) = answer_m1(&world, &m1, &[1; 32]).unwrap();
                        (m1, answer_m2(&world, &mut await_m2, &m2, &mut rng).unwrap().0)
                    },
                    |(mut m1, mut m3)| {
                        let header = M1Header::parse(&m1).unwrap();
                        let await_m1 = AwaitM1::new(world.any_suite(), &header, params.secret).unwrap();
                        let (_, send_m2) = await_m1.read_m1(&mut m1, None, NOW).unwrap();
                        let mut rng = Drbg::broker(&[1; 32]);
                        let (_, await_m3) = send_m2.write_m2(&params, &mut rng, &mut [0; 6000]).unwrap();
                        let (_, send_m4) = await_m3.read_m3(&mut m3).unwrap();
                        send_m4.write_m4(&world.connack, &mut [0; 100]).unwrap()
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
}

criterion_group!(benches, halves);
criterion_main!(benches);
