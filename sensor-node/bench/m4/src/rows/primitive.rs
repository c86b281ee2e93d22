//! Permutations, the SHA-256 block and the scalar multiplication.

use core::hint::black_box;

use hybrid_handshake::dh::{Dh, DhSecret, X25519};
#[cfg(not(kemqtt_portable))]
use hybrid_handshake::self_check::sha256_block;
use kem_core::SharedSecret;
use kem_core::permutation::{Ascon, Keccak, Permutation};

use crate::draw::Draw;
use crate::meter::bench;

#[inline(never)]
pub(super) fn permutations() {
    for seed in 1..=3 {
        let mut draw = Draw::new(seed);
        let (mut keccak, mut ascon) = (Keccak::ZERO, Ascon::ZERO);
        (0..Keccak::LANES).for_each(|i| keccak.xor(i, draw.word()));
        (0..Ascon::LANES).for_each(|i| ascon.xor(i, draw.word()));
        bench(format_args!("keccak-f1600/permutation"), || {
            black_box(&mut keccak).permute();
        });
        bench(format_args!("ascon-p12/permutation"), || {
            black_box(&mut ascon).permute()
        });
        bench(format_args!("ascon-p8/permutation"), || {
            black_box(&mut ascon).permute8()
        });
    }
}

#[inline(never)]
pub(super) fn sha256() {
    for seed in 1..=3 {
        let mut block = [0; 64];
        Draw::new(seed).fill(&mut block);
        let mut state = [0; 8];
        bench(format_args!("sha256/block"), || {
            sha256_block(black_box(&mut state), black_box(&block));
        });
    }
}

#[inline(never)]
pub(super) fn x25519() {
    for seed in 1..=3 {
        let mut draw = Draw::new(seed);
        let (mut scalar, mut share) = ([0; 32], [0; 32]);
        draw.fill(&mut scalar);
        draw.fill(&mut share);
        let secret = DhSecret::from_bytes(scalar);
        let mut ss = SharedSecret::zeroed();
        let agreed = bench(format_args!("x25519/scalarmult"), || {
            X25519.agree(black_box(&secret), black_box(&share), &mut ss)
        });
        assert!(agreed.is_ok(), "a random share is refused");
        let shared = bench(format_args!("x25519/keygen"), || {
            X25519.share(black_box(&secret), black_box(&mut share))
        });
        assert!(shared.is_ok());
    }
}

#[cfg(kemqtt_portable)]
fn sha256_block(state: &mut [u32; 8], block: &[u8; 64]) {
    sha2::block_api::compress256(state, core::slice::from_ref(block));
}
