//! ChaCha20-Poly1305 of records, beside the crate of RustCrypto.
#![allow(missing_docs)]

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305 as Crate, KeyInit};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hybrid_handshake::aead::{Aead, ChaCha20Poly1305, Key, Nonce};

/// Text lengths: an acknowledgement, a small message, a large record.
const LENGTHS: [usize; 4] = [4, 64, 1024, 16384];
/// First byte and length of a record.
const AD: [u8; 4] = [0, 0x90, 0x80, 0x01];

fn seal_and_open(c: &mut Criterion) {
    for len in LENGTHS {
        let mut group = c.benchmark_group(format!("chacha20-poly1305/{len}"));
        group.throughput(Throughput::Bytes(len as u64));
        let mut text = vec![0x5a; len];
        let (key, nonce) = (Key::zeroed(), Nonce::zeroed());
        group.bench_function("seal", |b| {
            b.iter(|| ChaCha20Poly1305.seal(&key, &nonce, &AD, &mut text).unwrap());
        });
        group.bench_function("open", |b| {
            let tag = ChaCha20Poly1305.seal(&key, &nonce, &AD, &mut text).unwrap();
            let sealed = text.clone();
            b.iter(|| {
                text.copy_from_slice(&sealed);
                ChaCha20Poly1305.open(&key, &nonce, &AD, &mut text, &tag).unwrap();
            });
        });
        let (key, nonce) = ([0; 32], [0; 12]);
        group.bench_function("crate/seal", |b| {
            b.iter(|| {
                Crate::new(&key.into())
                    .encrypt_inout_detached(&nonce.into(), &AD, text.as_mut_slice().into())
                    .unwrap()
            });
        });
        group.bench_function("crate/open", |b| {
            let tag = Crate::new(&key.into())
                .encrypt_inout_detached(&nonce.into(), &AD, text.as_mut_slice().into())
                .unwrap();
            let sealed = text.clone();
            b.iter(|| {
                text.copy_from_slice(&sealed);
                Crate::new(&key.into())
                    .decrypt_inout_detached(&nonce.into(), &AD, text.as_mut_slice().into(), &tag)
                    .unwrap();
            });
        });
    }
}

criterion_group!(benches, seal_and_open);
criterion_main!(benches);
