use hybrid_handshake::dh::{Dh, DhSecret, X25519};
use hybrid_handshake::self_check::x25519_agrees;
#[cfg(not(kemqtt_portable))]
use hybrid_handshake::self_check::{sha256_agrees, sha256_block, sha256_block_agrees};
use kem_core::SharedSecret;

use crate::draw::Draw;
use crate::meter::steady;

#[cfg(not(kemqtt_portable))]
pub(super) fn sha256() -> bool {
    let mut draw = Draw::new(4);
    let mut random = |offset: usize| {
        let mut bytes = [0; 68];
        draw.fill(&mut bytes);
        let state = core::array::from_fn(|_| draw.word() as u32);
        let block = bytes.split_at(offset).1.first_chunk();
        block.is_some_and(|block| sha256_block_agrees(&state, block))
    };
    // blocks at any address
    let random = (0..100).all(|i| random(i % 5));
    let bounds = [0, 0xff]
        .iter()
        .all(|&byte| sha256_block_agrees(&[0; 8], &[byte; 64]) && sha256_block_agrees(&[u32::MAX; 8], &[byte; 64]));
    let mut message = [0; 200];
    draw.fill(&mut message);
    let lengths = (0..=message.len()).all(|len| {
        let (head, tail) = message.split_at(len);
        sha256_agrees(head, &[]) && sha256_agrees(head, tail)
    });
    random
        && bounds
        && lengths
        && steady(
            |draw| {
                let mut block = [0; 64];
                draw.fill(&mut block);
                (core::array::from_fn(|_| draw.word() as u32), block)
            },
            |(state, block)| sha256_block(state, block),
        )
}

pub(super) fn x25519() -> bool {
    let mut draw = Draw::new(3);
    let mut bytes = || {
        let mut bytes = [0; 32];
        draw.fill(&mut bytes);
        bytes
    };
    let random = (0..8).all(|_| x25519_agrees(&bytes(), &bytes()));
    let ends = |first: u8, middle: u8, last: u8| {
        let mut u = [middle; 32];
        (u[0], u[31]) = (first, last);
        u
    };
    // 0, 1, 2, p - 1, p, p + 1, 2^255 - 1 and 2^256 - 1.
    let bounds = [
        [0; 32],
        ends(1, 0, 0),
        ends(2, 0, 0),
        ends(0xec, 0xff, 0x7f),
        ends(0xed, 0xff, 0x7f),
        ends(0xee, 0xff, 0x7f),
        ends(0xff, 0xff, 0x7f),
        [0xff; 32],
    ];
    let bounds = bounds
        .iter()
        .all(|u| x25519_agrees(&[0x55; 32], u) && x25519_agrees(u, &[0x77; 32]));
    random
        && bounds
        && steady(
            |draw| {
                let (mut scalar, mut share) = ([0; 32], [0; 32]);
                draw.fill(&mut scalar);
                draw.fill(&mut share);
                (DhSecret::from_bytes(scalar), share, SharedSecret::zeroed())
            },
            |(secret, share, ss)| {
                let _ = X25519.agree(secret, share, ss);
            },
        )
}
