use kem_core::permutation::{Ascon, Keccak, Permutation};
use kem_core::self_check::{ascon_agrees, keccak_agrees};

use crate::draw::Draw;
use crate::meter::steady;

pub(super) fn keccak() -> bool {
    let mut draw = Draw::new(1);
    let random = (0..50).all(|_| keccak_agrees(&core::array::from_fn(|_| draw.word())));
    let one_bit = (0..25).all(|i| keccak_agrees(&core::array::from_fn(|k| u64::from(k == i) << (2 * i))));
    random
        && one_bit
        && keccak_agrees(&[0; 25])
        && keccak_agrees(&[!0; 25])
        && steady(
            |draw| {
                let mut state = Keccak::ZERO;
                (0..25).for_each(|i| state.xor(i, draw.word()));
                state
            },
            Keccak::permute,
        )
}

pub(super) fn ascon() -> bool {
    let mut draw = Draw::new(2);
    let random = (0..200).all(|_| ascon_agrees(&core::array::from_fn(|_| draw.word())));
    let one_bit = (0..320).all(|i| ascon_agrees(&core::array::from_fn(|k| u64::from(k == i / 64) << (i % 64))));
    random
        && one_bit
        && ascon_agrees(&[0; 5])
        && ascon_agrees(&[!0; 5])
        && steady(
            |draw| {
                let mut state = Ascon::ZERO;
                (0..5).for_each(|i| state.xor(i, draw.word()));
                state
            },
            Ascon::permute,
        )
}
