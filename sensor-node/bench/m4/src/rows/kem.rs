//! The operations of a KEM. Keys and ciphertexts lie on the caller's stack, outside of what counts as stack.

use core::hint::black_box;

use kem_core::{Bytes, Ek, Kem, SharedSecret};

use crate::draw::Draw;
use crate::meter::{bench, measure, report};

/// Measures every operation with `RUNS` keys, and checks that both sides agree.
#[inline(never)]
pub(super) fn run<K: Kem>(name: &str) {
    for seed in 1..=RUNS {
        one_key::<K>(name, seed);
    }
}

/// Enough for a median, few enough for slow key generations.
const RUNS: u64 = 5;

#[inline(never)]
fn one_key<K: Kem>(name: &str, seed: u64) {
    let mut draw = Draw::new(seed);
    let (mut ek, mut dk, mut ct) = (
        Aligned(K::EkBytes::ZERO),
        Aligned(K::DkBytes::ZERO),
        Aligned(K::CtBytes::ZERO),
    );
    let mut keygen_coins = Aligned(K::KeygenCoins::ZERO);
    loop {
        draw.fill(keygen_coins.0.as_mut());
        let (made, cost) = measure(|| K::keygen_from(black_box(&keygen_coins.0), &mut ek.0, &mut dk.0));
        // A refused draw is no key generation; how often that happens is a property of the scheme.
        if made.is_ok() {
            report(format_args!("{name}/keygen"), cost);
            break;
        }
    }

    let parsed = bench(format_args!("{name}/check-ek"), || Ek::<K>::parse(ek.0.as_ref()));
    let Ok(parsed) = parsed else {
        panic!("{name}: our own key is refused");
    };
    let mut coins = Aligned(K::EncapsCoins::ZERO);
    draw.fill(coins.0.as_mut());
    let (mut sent, mut received) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    bench(format_args!("{name}/encaps"), || {
        K::encaps_from(black_box(&coins.0), &parsed, &mut ct.0, &mut sent);
    });
    let accepted = bench(format_args!("{name}/decaps"), || {
        K::decaps(black_box(&dk.0), &ct.0, &mut received)
    });
    assert!(
        accepted.is_ok() && sent.expose() == received.expose(),
        "{name}: the two sides disagree"
    );

    if let Some(byte) = ct.0.as_mut().first_mut() {
        *byte ^= 1;
    }
    let refused = bench(format_args!("{name}/decaps"), || {
        K::decaps(black_box(&dk.0), &ct.0, &mut received)
    });
    assert!(
        refused.is_err() || sent.expose() != received.expose(),
        "{name}: a forged ciphertext has the same secret"
    );
}

/// Where compilers and allocators put buffers.
#[repr(align(4))]
struct Aligned<T>(T);
