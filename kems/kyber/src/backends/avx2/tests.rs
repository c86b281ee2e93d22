//! What takes whole polynomials against the methods that every target has; `backends::tests` has the arithmetic. On a
//! processor without AVX2 there is nothing to check.

extern crate std;

use std::vec::Vec;

use kem_core::Avx2;
use kem_core::ct::{Compare, Emit};
use kem_core::hash::XofReader;
use proptest::prelude::*;

use super::uniform::{self, append};
use crate::backends::{Arith, Backend, Native};
use crate::convert;
use crate::poly::{N, POLY_LEN, Poly, Q};
use crate::sample::{Matrix, Noise, Orientation};

/// Canonical coefficients: all of them in 14 polynomials, and the bounds everywhere.
fn canonical_polys() -> impl Iterator<Item = Poly> {
    let bounds = [0, 1, 832, 833, 1664, 1665, 2496, 2497, Q - 1].map(|c| Poly([c; N]));
    let runs = (0..14).map(|run| Poly(core::array::from_fn(|i| (run * N + i) as i16 % Q)));
    runs.chain(bounds)
}

fn written(len: usize, write: impl Fn(&mut Emit)) -> Vec<u8> {
    let mut bytes = std::vec![0xa5; len];
    write(&mut Emit::new(&mut bytes));
    bytes
}

fn check_compress<const D: usize>(avx2: Avx2, p: &Poly) {
    let expected = written(32 * D, |sink| Native.compress::<D>(p, sink));
    assert_eq!(
        written(32 * D, |sink| avx2.compress::<D>(p, sink)),
        expected,
        "{D} bits"
    );
    let mut compare = Compare::new(&expected);
    avx2.compress::<D>(p, &mut compare);
    assert_eq!(compare.matched().unwrap_u8(), 1);
}

fn check_decompress<const D: usize>(avx2: Avx2, bytes: &[u8]) {
    let (mut ours, mut theirs) = (Poly([-1; N]), Poly::ZERO);
    avx2.decompress::<D>(&bytes[..32 * D], &mut ours);
    Native.decompress::<D>(&bytes[..32 * D], &mut theirs);
    assert_eq!(ours.0, theirs.0, "{D} bits");
}

fn check_poly(avx2: Avx2, p: &Poly) {
    check_compress::<4>(avx2, p);
    check_compress::<5>(avx2, p);
    check_compress::<10>(avx2, p);
    check_compress::<11>(avx2, p);
    let bytes = written(POLY_LEN, |sink| Native.encode(p, sink));
    assert_eq!(written(POLY_LEN, |sink| avx2.encode(p, sink)), bytes);
    let mut messages = [[0; 32]; 2];
    avx2.message_of(p, &mut messages[0]);
    Native.message_of(p, &mut messages[1]);
    assert_eq!(messages[0], messages[1]);
}

fn check_bytes(avx2: Avx2, bytes: &[u8; POLY_LEN], acc: &Poly, b: &Poly) {
    check_decompress::<4>(avx2, bytes);
    check_decompress::<5>(avx2, bytes);
    check_decompress::<10>(avx2, bytes);
    check_decompress::<11>(avx2, bytes);
    let (mut ours, mut theirs) = (acc.clone(), acc.clone());
    avx2.packed_basemul_acc(&mut ours, bytes, b);
    Native.packed_basemul_acc(&mut theirs, bytes, b);
    // The same modulo Q; what is added is bounded, not unique.
    assert!(ours.0.iter().zip(&acc.0).all(|(sum, acc)| (sum - acc).abs() < Q));
    Native.freeze(&mut ours);
    Native.freeze(&mut theirs);
    assert_eq!(ours.0, theirs.0);
    let [message, ..] = bytes.as_chunks().0 else {
        panic!("384 bytes")
    };
    let (mut ours, mut theirs) = (acc.clone(), acc.clone());
    avx2.add_message(&mut ours, message);
    Native.add_message(&mut theirs, message);
    assert_eq!(ours.0, theirs.0);
    assert_eq!(avx2.is_canonical(bytes), Native.is_canonical(bytes));
}

#[test]
fn bytes_at_the_bounds() {
    let Some(avx2) = Avx2::detect() else { return };
    for p in canonical_polys() {
        check_poly(avx2, &p);
    }
    for bytes in [[0; POLY_LEN], [0xff; POLY_LEN]] {
        for b in [Q - 1, 1 - Q] {
            check_bytes(avx2, &bytes, &Poly([3 * Q; N]), &Poly([b; N]));
        }
    }
}

#[test]
fn one_coefficient_of_q_is_seen_at_every_place() {
    let Some(avx2) = Avx2::detect() else { return };
    let mut p = Poly([Q - 1; N]);
    assert!(avx2.is_canonical(&written(POLY_LEN, |sink| Native.encode(&p, sink))));
    for i in 0..N {
        for bad in [Q, 4095] {
            p.0[i] = bad;
            assert!(
                !avx2.is_canonical(&written(POLY_LEN, |sink| Native.encode(&p, sink))),
                "{bad} at {i}"
            );
        }
        p.0[i] = Q - 1;
    }
}

fn check_matrix(avx2: Avx2, rho: &[u8; 32], k: usize, orientation: Orientation) {
    let b = Poly(core::array::from_fn(|i| (31 * i % 6657) as i16 - 3328));
    let (mut ours, mut theirs) = (avx2.matrix(rho, k, orientation), Native.matrix(rho, k, orientation));
    for (i, j) in (0..k as u8).flat_map(|i| (0..k as u8).map(move |j| (i, j))) {
        let mut sums = [Poly::ZERO, Poly::ZERO];
        ours.product(&mut sums[0], [i, j], &b);
        theirs.product(&mut sums[1], [i, j], &b);
        sums.iter_mut().for_each(|sum| Native.freeze(sum));
        assert_eq!(sums[0].0, sums[1].0, "entry ({i}, {j}) of {k}");
    }
}

/// `laws` are the parameters of the nonces from 0 on.
fn check_noise(avx2: Avx2, seed: &[u8; 32], laws: &[u8]) {
    let nonces = 0..laws.len() as u8;
    let (mut ours, mut theirs) = (avx2.noise(seed, nonces.clone()), Native.noise(seed, nonces));
    for (nonce, law) in (0..).zip(laws) {
        let mut sums = [Poly([2 * Q; N]), Poly([2 * Q; N])];
        if *law == 2 {
            ours.add::<2>(nonce, &mut sums[0]);
            theirs.add::<2>(nonce, &mut sums[1]);
        } else {
            ours.add::<3>(nonce, &mut sums[0]);
            theirs.add::<3>(nonce, &mut sums[1]);
        }
        assert_eq!(sums[0].0, sums[1].0, "nonce {nonce} of {laws:?}");
    }
}

/// A stream of given bytes.
struct Bytes<'a>(&'a [u8]);

impl XofReader for Bytes<'_> {
    fn read(&mut self, out: &mut [u8]) {
        let (now, rest) = self.0.split_at(out.len());
        out.copy_from_slice(now);
        self.0 = rest;
    }
}

/// Candidates in bytes, enough good ones behind them.
fn stream_of(candidates: &[i16]) -> Vec<u8> {
    let whole: Vec<i16> = candidates.iter().copied().chain(0..).take(7 * 112).collect();
    let pairs = whole.as_chunks::<2>().0.iter();
    pairs
        .flat_map(|&[a, b]| [a as u8, (a >> 8 | b << 4) as u8, (b >> 4) as u8])
        .collect()
}

fn check_uniform(candidates: &[i16]) {
    let bytes = stream_of(candidates);
    let mut expected = [0; N];
    convert::uniform(&mut Bytes(&bytes), |first, piece| {
        expected[first..][..piece.len()].copy_from_slice(piece);
    });
    let (mut entry, mut taken) = (uniform::NONE, 0);
    for block in bytes.as_chunks().0 {
        if taken < N {
            // SAFETY: the caller asked the processor.
            taken = unsafe { append(block, &mut entry, taken) };
        }
    }
    assert!(taken >= N);
    assert_eq!(entry[..N], expected);
}

#[test]
fn rejection_at_the_bounds() {
    if Avx2::detect().is_none() {
        return;
    }
    check_uniform(&[]);
    check_uniform(&[Q; 400]);
    check_uniform(&[Q - 1; 400]);
    check_uniform(&[4095; 300]);
    // The last coefficient in every lane, with good ones behind it.
    for bad in 0..17 {
        check_uniform(&std::vec![Q; bad]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn rejection(candidates in prop::collection::vec(prop_oneof![0..4096i16, Just(Q - 1), Just(Q), Just(4095)], 0..400)) {
        if Avx2::detect().is_some() {
            check_uniform(&candidates);
        }
    }

    #[test]
    fn bytes(
        p in prop::collection::vec(0..Q, N),
        bytes in prop::collection::vec(any::<u8>(), POLY_LEN),
        acc in prop::collection::vec(-3 * Q..=3 * Q, N),
        b in prop::collection::vec(1 - Q..Q, N),
    ) {
        let poly = |c: Vec<i16>| Poly(c.try_into().expect("N coefficients"));
        if let Some(avx2) = Avx2::detect() {
            check_poly(avx2, &poly(p));
            check_bytes(avx2, &bytes.try_into().expect("384 bytes"), &poly(acc), &poly(b));
        }
    }

    #[test]
    fn streams(seed: [u8; 32]) {
        if let Some(avx2) = Avx2::detect() {
            for k in 2..5 {
                check_matrix(avx2, &seed, k, Orientation::Plain);
                check_matrix(avx2, &seed, k, Orientation::Transposed);
            }
            // Key generation and encryption of every set, and an order that no set has.
            for laws in [&[3; 4][..], &[2; 6], &[2; 8], &[3, 3, 2, 2, 2], &[2; 7], &[2; 9], &[2, 3, 2, 3, 3]] {
                check_noise(avx2, &seed, laws);
            }
        }
    }
}
